"""Ready for a GPU? The lesson says of a read what the graded report says of it."""

import pytest
from device_reads import RIGHT, WRONG
from lesson_student import Define, filled_in, in_the_master

from autograder.findings import Finding
from autograder.reporting.words import Words


@pytest.mark.parametrize("way", RIGHT)
def test_a_read_that_the_grader_passes_is_ready(define: Define, way: str) -> None:
    assert define(in_the_master(*RIGHT[way])).lesson.readiness().status == "passed"


@pytest.mark.parametrize("way", WRONG)
def test_a_read_that_loses_g4_is_not_ready_in_the_words_of_the_report(define: Define, way: str) -> None:
    line, body, code = WRONG[way]
    outcome = define(in_the_master(line, body)).lesson.readiness()
    words = Words("en")
    assert outcome.status == "failed"
    assert outcome.words.startswith(f"not ready: {words.sentence(Finding(code))}")
    assert outcome.words.endswith(words.advice(Finding(code)))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_lesson_has_the_reports_words_for_every_fault_of_a_device(define: Define, lang: str) -> None:
    student = define(filled_in(lang, {}))
    for code in {code for _, _, code in WRONG.values()}:
        told = Words(lang).sentence(Finding(code)), Words(lang).advice(Finding(code))
        assert student.lesson.device_fault(code.removeprefix("device.")) == told


def test_the_line_that_leaves_the_device_is_named(define: Define) -> None:
    line, body, _ = WRONG["item"]
    assert "In line 12: cat_blocks[0, 0].item()" in define(in_the_master(line, body)).lesson.readiness().words


def test_a_passed_check_of_todo_4_warns_of_what_costs_points_on_a_gpu(
    define: Define, capsys: pytest.CaptureFixture[str]
) -> None:
    line, body, _ = WRONG["cpu"]
    define(in_the_master(line, body)).lesson.grader.check("q4")
    said = capsys.readouterr().out
    assert "✓ q4" in said
    assert "✗ GPU: not ready" in said
