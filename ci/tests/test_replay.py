"""A request from a run with other tests is graded with those of today, and the answer says so."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from classes import solution
from reporting_samples import MIXED

from autograder.config import Config
from autograder.grading.many.journal import Journal
from autograder.grading.many.received import Received, keep_received
from autograder.grading.many.replay import replay
from autograder.grading.one import hidden_test_files
from autograder.reporting.request import block, read_block
from autograder.reporting.schema import row
from autograder.reporting.words import Words

WORDS = Words("en")


@pytest.mark.parametrize(("tests", "said"), [(hidden_test_files.tests_version(), False), ("0" * 64, True)])
def test_an_answer_says_whether_the_tests_are_those_of_the_request(tests: str, said: bool, tmp_path: Path) -> None:
    source = solution().encode()
    sha256 = hashlib.sha256(source).hexdigest()
    graded = replace(MIXED, file="ada.py", sha256=sha256, versions={"tests": tests})
    with Journal(tmp_path, resume=False) as journal:
        journal.append(row(graded))
    keep_received(tmp_path, "ada", Received("ada.py", source))
    told, same = replay(read_block(block(graded)), tmp_path, Config(), WORDS)
    assert (WORDS.text("replay.tests") in told) == said
    assert not same
    assert "q3.grows_when_full: failed, decode.late -> passed, -" in told
