"""A class becomes grades: the same bytes whatever the order, the number of workers or the interruptions."""

import json
import os
import signal
import time
from pathlib import Path

import pytest
from classes import make_class, solution
from commands import autograder, start_autograder

from autograder.grading.many.journal import Journal, JournalError, rows
from autograder.reporting.gradebook import COLUMNS
from autograder.reporting.words import Words

CLASS_SIZE = 24


def snapshot(out: Path) -> dict[str, bytes]:
    """Return everything in OUT that results consist of."""
    files = [out / "grades.csv", *sorted((out / "students").rglob("*"))]
    return {str(f.relative_to(out)): f.read_bytes() for f in files if f.is_file() and f.name != "timing.json"}


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return make_class(tmp_path_factory.mktemp("course") / "class", CLASS_SIZE)


@pytest.fixture(scope="module")
def undisturbed(course, tmp_path_factory):
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    done = autograder("grade", course, "-o", out, "--jobs", 1)
    assert (done.returncode, done.stderr) == (0, Words("en").text("progress.public_seed.text") + "\n")
    return snapshot(out)


def test_every_student_gets_a_row_and_a_report(course, undisturbed):
    grades = undisturbed["grades.csv"].decode().splitlines()
    assert grades[0] == ",".join(COLUMNS)
    assert len(grades) == CLASS_SIZE + 1
    assert grades[1] == "student-000,graded,15,20,20,15,10,,,,,80,80,20,80,,,student-000,,,"
    for student in ("student-000", "student-001", "student-002", "student-003"):
        for name in ("results.json", "report.html", "report.md", "gradescope.json"):
            assert f"students/{student}/{name}" in undisturbed


def test_two_workers_give_the_same_bytes_as_one(course, undisturbed, tmp_path):
    autograder("grade", course, "-o", tmp_path / "out", "--jobs", 2)
    assert snapshot(tmp_path / "out") == undisturbed


@pytest.mark.parametrize("after", [1, 9])
def test_a_killed_run_finishes_with_resume_as_if_nothing_had_happened(course, undisturbed, tmp_path, after):
    out = tmp_path / "out"
    grader = start_autograder("grade", course, "-o", out, "--jobs", 2)
    while len(list(rows(out))) < after:
        assert grader.poll() is None
        time.sleep(0.01)
    os.killpg(grader.pid, signal.SIGKILL)
    grader.wait()
    graded_before = {row["student"] for row in rows(out)}
    with (out / "journal.jsonl").open("ab") as journal:
        journal.write(b'{"student": "torn')
    assert autograder("grade", course, "-o", out, "--resume").returncode == 0
    assert snapshot(out) == undisturbed
    again = [row["student"] for row in rows(out)]
    assert len(again) == len(set(again)) == CLASS_SIZE
    assert graded_before <= set(again[: len(graded_before)])


def test_resume_grades_a_file_that_changed_since(tmp_path):
    course = make_class(tmp_path / "class", 2)
    autograder("grade", course, "-o", tmp_path / "out")
    (course / "student-001.py").write_text(solution(), encoding="utf-8")
    autograder("grade", course, "-o", tmp_path / "out", "--resume")
    assert b"student-001,graded,15,20,20,15,10,,,,,80,80,20" in (tmp_path / "out" / "grades.csv").read_bytes()


def test_grading_again_keeps_the_earlier_journal(tmp_path):
    course = make_class(tmp_path / "class", 1)
    for _ in range(2):
        autograder("grade", course, "-o", tmp_path / "out")
    assert (tmp_path / "out" / "journal.1.jsonl").read_bytes() == (tmp_path / "out" / "journal.jsonl").read_bytes()


def test_a_second_grader_on_the_same_folder_is_refused(tmp_path):
    with Journal(tmp_path, resume=False), pytest.raises(JournalError, match="Another grader"):
        Journal(tmp_path, resume=True)


def test_what_cannot_be_graded_is_named_and_the_rest_is_graded(tmp_path):
    course = make_class(tmp_path / "class", 1)
    (course / "torn.ipynb").write_text('{"cells": [', encoding="utf-8")
    done = autograder("grade", course, "-o", tmp_path / "out")
    assert done.returncode == 1
    assert "torn:" in done.stdout
    result = json.loads((tmp_path / "out" / "students" / "torn" / "results.json").read_text(encoding="utf-8"))
    assert result["status"] == "not gradable"
    assert result["reason"]["message"]
    assert b"student-000,graded" in (tmp_path / "out" / "grades.csv").read_bytes()


def test_chinese_reports_carry_the_same_points(course, undisturbed, tmp_path):
    autograder("grade", course, "-o", tmp_path / "out", "--lang", "zh")
    chinese = snapshot(tmp_path / "out")
    assert chinese["grades.csv"] == undisturbed["grades.csv"]
    assert 'lang="zh' in chinese["students/student-001/report.html"].decode()


def test_reports_can_be_rendered_again_from_the_journal_alone(course, undisturbed, tmp_path):
    out = tmp_path / "out"
    autograder("grade", course, "-o", out)
    (out / "grades.csv").unlink()
    (out / "students" / "student-001" / "report.html").unlink()
    assert autograder("report", out).returncode == 0
    assert snapshot(out) == undisturbed
