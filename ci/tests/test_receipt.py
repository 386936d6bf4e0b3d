"""What a student is told at once, before grades are published: what was noticed, what is open, what is pending."""

import pytest

from autograder.config import CHOICES, Config
from autograder.findings import Finding
from autograder.grading.one.gradescope import receipt
from autograder.grading.one.verdict import Verdict
from autograder.reporting.words import LANGUAGES, Words

OPEN, FAULT = Finding("open.todo", {"todo": 4}), Finding("decode.late")


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("gpu", CHOICES["gpu"])
def test_points_are_pending_only_where_the_gpu_part_has_to_come(gpu: str, lang: str) -> None:
    words = Words(lang)
    assert (words.text("page.pending_why") in receipt((), (), Config(gpu=gpu), words)) == (gpu == "required")


def test_an_open_todo_and_a_note_are_told_once_and_no_hidden_case() -> None:
    words, note = Words("en"), Finding("intake.surrogates")
    verdicts = [Verdict("not attempted", OPEN), Verdict("not attempted", OPEN), Verdict("failed", FAULT)]
    told = receipt((note,), verdicts, Config(), words)
    assert [told.count(words.sentence(finding)) for finding in (note, OPEN, FAULT)] == [1, 1, 0]
