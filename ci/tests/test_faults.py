"""Whatever breaks under a batch, nothing graded is lost or doubled, and ``--resume`` finishes it."""

import ast
import json
import os
import resource
import signal
import subprocess
from pathlib import Path

import pytest
from classes import make_class
from commands import autograder, complaints, start_autograder
from environments import playable
from kills import LEVELS, children, is_alive, kill, levels, wait_until

from autograder.config import Config
from autograder.grading.many.batch import Settings, grade_batch
from autograder.grading.many.journal import rows
from autograder.intake.discover import discover
from autograder.reporting.results import GradeLine

ROOT = Path(__file__).resolve().parents[2]
CLASS_SIZE = 10
as_root = pytest.mark.skipif(not playable(), reason="needs root that may mount and change its user")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_class(tmp_path_factory.mktemp("course") / "class", CLASS_SIZE)


@pytest.fixture(scope="module")
def expected(course: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    autograder("grade", course, "-o", out)
    return (out / "grades.csv").read_bytes()


def assert_finished(out: Path, expected: bytes) -> None:
    assert (out / "grades.csv").read_bytes() == expected
    students = [row["student"] for row in rows(out)]
    assert len(students) == len(set(students)) == CLASS_SIZE


@pytest.mark.parametrize(("level", "what"), [(1, "worker"), (2, "fork-server"), (-1, "child")])
def test_a_batch_goes_on_when_a_part_of_it_is_killed(
    course: Path, expected: bytes, tmp_path: Path, level: int, what: str
) -> None:
    out = tmp_path / "out"
    grader = start_autograder("grade", course, "-o", out, "--jobs", 1)
    wait_until(lambda: list(rows(out)) and len(levels(grader.pid)) > LEVELS.index("fork-server") + 1)
    kill(levels(grader.pid)[level][0])
    assert grader.wait(120) == 0, f"killing a {what} ended the run"
    assert_finished(out, expected)


def test_nothing_of_a_killed_grader_lives_on(course: Path, tmp_path: Path) -> None:
    grader = start_autograder("grade", course, "-o", tmp_path / "out", "--jobs", 1)
    wait_until(lambda: list(rows(tmp_path / "out")))
    below = [pid for level in levels(grader.pid)[1:] for pid in level]
    kill(grader.pid)
    grader.wait()
    wait_until(lambda: not [pid for pid in below if is_alive(pid)], seconds=5)


@as_root
def test_a_full_disk_stops_the_run_in_one_sentence_and_resume_finishes_it(
    course: Path, expected: bytes, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", out], check=True)
    try:
        full = autograder("grade", course, "-o", out, "--jobs", 1)
        assert full.returncode == 2
        [sentence] = complaints(full.stderr)
        assert "no space left" in sentence.lower()
        for line in (out / "journal.jsonl").read_bytes().splitlines(keepends=True):
            assert line.endswith(b"\n"), "half a row was left"
            json.loads(line)
        subprocess.run(["mount", "-o", "remount,size=16m", out], check=True)
        assert autograder("grade", course, "-o", out, "--resume").returncode == 0
        assert_finished(out, expected)
    finally:
        subprocess.run(["umount", out], check=True)


@as_root
def test_an_output_folder_that_cannot_be_written_is_one_sentence(course: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", out], check=True)
    try:
        refused = autograder("grade", course, "-o", out)
    finally:
        subprocess.run(["umount", out], check=True)
    [sentence] = complaints(refused.stderr)
    assert refused.returncode == 2
    assert "cannot be written" in sentence


def test_an_error_with_one_students_files_costs_that_row_and_nothing_else(
    course: Path, expected: bytes, tmp_path: Path
) -> None:
    out, (_, unlucky, *_) = tmp_path / "out", sorted(line.split(b",")[0].decode() for line in expected.splitlines()[1:])
    (out / "students").mkdir(parents=True)
    (out / "students" / unlucky).symlink_to(tmp_path)
    grader = autograder("grade", course, "-o", out)
    assert grader.returncode == 1
    assert [row["student"] for row in rows(out) if row["rejected"]] == [unlucky]
    assert next(row for row in rows(out) if row["rejected"])["rejected"]["code"] == "grading.failed"
    (out / "students" / unlucky).unlink()
    assert autograder("grade", course, "-o", out, "--resume").returncode == 0
    assert (out / "grades.csv").read_bytes() == expected


def test_a_second_grader_is_refused_while_the_first_goes_on(course: Path, expected: bytes, tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = start_autograder("grade", course, "-o", out, "--jobs", 1)
    wait_until(lambda: list(rows(out)))
    second = autograder("grade", course, "-o", out, "--resume")
    [sentence] = complaints(second.stderr)
    assert second.returncode == 2
    assert "Another grader" in sentence
    assert first.wait(120) == 0
    assert_finished(out, expected)


@pytest.mark.parametrize("line", [b'{"student": "torn', b'{"student":\n', b"\xff\x00\n", b"[]\n", b"9" * 5000 + b"\n"])
def test_a_torn_or_foreign_line_of_the_journal_costs_nothing_else(
    course: Path, expected: bytes, tmp_path: Path, line: bytes
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    with (out / "journal.jsonl").open("wb") as journal:
        journal.write(line)
    grader = autograder("grade", course, "-o", out, "--resume")
    said = complaints(grader.stderr)
    if line.endswith(b"\n"):
        assert [sentence.partition(" (")[0] for sentence in said] == [f"{out}/journal.jsonl line 1 cannot be used"]
    else:
        assert said == []  # what a killed grader had begun to write
    assert_finished(out, expected)


def test_a_worker_that_runs_out_of_memory_is_replaced(course: Path, expected: bytes, tmp_path: Path) -> None:
    out = tmp_path / "out"
    grader = start_autograder("grade", course, "-o", out, "--jobs", 1)
    wait_until(lambda: list(rows(out)))
    worker = levels(grader.pid)[1][0]
    resource.prlimit(worker, resource.RLIMIT_AS, (1 << 20, 1 << 20))
    assert grader.wait(120) == 0
    assert_finished(out, expected)


def test_no_limit_or_deadline_hangs_on_the_wall_clock() -> None:
    """A clock set back or forward changes nothing, because nobody asks for the time of day."""
    writes_its_day = ROOT / "autograder" / "serving" / "check.py"  # beside what it measured, for whoever reads it
    for file in {*(ROOT / "autograder").rglob("*.py")} - {writes_its_day}:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                asked = (node.value.id, node.attr)
                assert asked not in {("time", "time"), ("datetime", "now"), ("date", "today"), ("time", "ctime")}, file


def test_a_worker_that_is_stuck_is_replaced(course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing ends a stopped process but somebody who waits for it no longer; its entry is given up, by its name."""
    monkeypatch.setattr("autograder.grading.many.worker.START_S", 20.0)
    monkeypatch.setattr("autograder.grading.many.worker.MOST_WALL_S", 8.0)
    entries = discover([course])[:3]
    not_of_this_run = children(os.getpid())
    stopped: set[int] = set()
    seen: list[str] = []

    def stop_the_worker(line: GradeLine) -> None:
        seen.append(line.student)
        if not stopped:
            stopped.update(children(os.getpid()) - not_of_this_run)
            for pid in stopped:
                os.kill(pid, signal.SIGSTOP)

    settings = Settings(Config(), jobs=1, allow_weak=True)
    lines = grade_batch(entries, tmp_path / "out", settings, stop_the_worker)
    assert stopped
    assert sorted(seen) == [line.student for line in lines] == [entry.student for entry in entries]
    assert sorted(line.status for line in lines) == ["graded", "graded", "not gradable"]
    assert not [pid for pid in stopped if is_alive(pid)]
