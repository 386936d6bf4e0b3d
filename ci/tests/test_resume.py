"""``--resume`` keeps a row only where grading again could not change it, and grades everything else."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from classes import solution
from reporting_samples import FULL

from autograder.config import Config
from autograder.findings import Finding
from autograder.grading.many.batch import Settings, grade_batch, settle
from autograder.grading.many.journal import Journal, JournalError, rows
from autograder.grading.one import hidden_test_files
from autograder.identity import Identity
from autograder.intake.discover import discover
from autograder.intake.names import folded
from autograder.reporting.results import GradeLine, SubmissionResult, TestResult
from autograder.reporting.schema import row

Change = Callable[[SubmissionResult], SubmissionResult]

TELLTALE = (TestResult("q1.per_token", "q1", "passed", 3, 3),)
"""What no grading gives: a row with these tests was kept."""

KEPT: dict[str, list[Change]] = {
    "same": [lambda r: r],
    "same-last": [lambda r: replace(r, sha256="0" * 64), lambda r: r],
}
GRADED: dict[str, list[Change]] = {
    "another-file": [lambda r: replace(r, sha256="0" * 64)],
    "another-file-last": [lambda r: r, lambda r: replace(r, sha256="0" * 64)],
    "other-tests": [lambda r: replace(r, versions={**r.versions, "tests": "0" * 64})],
    "no-versions": [lambda r: replace(r, versions={})],
    "given-up": [lambda r: replace(r, sha256="", versions={}, tests=(), rejected=Finding("grading.given_up"))],
    "machine-fault": [lambda r: replace(r, notes=(Finding("device.fault"),))],
    "no-row": [],
}


@pytest.fixture(scope="module")
def resumed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[GradeLine], list[str]]:
    """Resume one run in which every student has a row of another kind; give OUT, its lines and who was graded."""
    work = tmp_path_factory.mktemp("resume")
    source = solution().encode()
    known = replace(
        FULL,
        sha256=hashlib.sha256(source).hexdigest(),
        tests=TELLTALE,
        versions={**FULL.versions, "tests": hidden_test_files.tests_version()},
    )
    (work / "class").mkdir()
    for student in (*KEPT, *GRADED):
        (work / "class" / f"{student}.py").write_bytes(source)
    authors = {entry.student: entry.who for entry in discover([work / "class"])}
    with Journal(work / "out", resume=False) as journal:
        for student, changes in {**KEPT, **GRADED}.items():
            for change in changes:
                journal.append(row(change(replace(known, student=student, who=authors[student]))))
        journal.append(row(replace(known, student="left-the-course")))
    failure = work / "out" / "students" / "no-row" / "error.txt"
    failure.parent.mkdir(parents=True)
    failure.write_text("of an earlier attempt", encoding="utf-8")
    told: list[str] = []
    settings = Settings(Config(), jobs=1, resume=True, allow_weak=True)
    lines = grade_batch(discover([work / "class"]), work / "out", settings, lambda line: told.append(line.student))
    return work / "out", lines, told


def test_everyone_of_the_class_and_whoever_out_holds_has_one_line(
    resumed: tuple[Path, list[GradeLine], list[str]],
) -> None:
    assert [line.student for line in resumed[1]] == sorted([*KEPT, *GRADED, "left-the-course"])


@pytest.mark.parametrize("student", KEPT)
def test_a_row_of_the_same_file_tests_and_device_is_kept(
    resumed: tuple[Path, list[GradeLine], list[str]], student: str
) -> None:
    assert [line.points for line in resumed[1] if line.student == student] == [3]
    assert student not in resumed[2]


@pytest.mark.parametrize("student", GRADED)
def test_every_other_row_gives_way_to_a_new_grading(
    resumed: tuple[Path, list[GradeLine], list[str]], student: str
) -> None:
    assert [line.points for line in resumed[1] if line.student == student] == [80]
    assert resumed[2].count(student) == 1


def test_rows_are_added_and_none_is_taken_away(resumed: tuple[Path, list[GradeLine], list[str]]) -> None:
    students = [r["student"] for r in rows(resumed[0])]
    before = [student for student, changes in {**KEPT, **GRADED}.items() for _ in changes]
    assert students == [*before, "left-the-course", *resumed[2]]


def test_grades_csv_follows_the_lines(resumed: tuple[Path, list[GradeLine], list[str]]) -> None:
    grades = (resumed[0] / "grades.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert [(line.split(",")[0], line.split(",")[11]) for line in grades] == [
        (line.student, str(line.points)) for line in resumed[1]
    ]


def test_the_word_of_an_earlier_failure_goes_once_grading_succeeds(
    resumed: tuple[Path, list[GradeLine], list[str]],
) -> None:
    assert not list(resumed[0].rglob("error.txt"))


def test_folders_differ_by_more_than_case_however_their_students_came_together(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(solution(), encoding="utf-8")
    [entry] = discover([tmp_path / "x.py"])
    people = [("ann", "1"), ("Ann", "2"), ("ANN", "3"), ("e\u0301", "4"), ("\u00e9", "5")]
    entries = [replace(entry, student=name, who=Identity("canvas", id)) for name, id in people]
    for known in range(len(entries)):
        earlier = [replace(FULL, student=e.student, who=e.who) for e in entries[:known][:1]]
        settled = settle(entries, earlier)
        assert [e.who for e in settled] == [e.who for e in entries]
        assert len({folded(e.student) for e in settled}) == len(entries)


@pytest.mark.parametrize("device", ["fakegpu", "cuda", "cpu+cuda"])
def test_a_run_with_results_of_another_device_is_refused_and_stays_as_it_is(tmp_path: Path, device: str) -> None:
    (tmp_path / "ada.py").write_text(solution(), encoding="utf-8")
    with Journal(tmp_path / "out", resume=False) as journal:
        journal.append(row(replace(FULL, device=device)))
    before = (tmp_path / "out" / "journal.jsonl").read_bytes()
    settings = Settings(Config(), jobs=1, resume=True, allow_weak=True)
    with pytest.raises(JournalError, match="merge"):
        grade_batch(discover([tmp_path / "ada.py"]), tmp_path / "out", settings, lambda line: None)
    assert (tmp_path / "out" / "journal.jsonl").read_bytes() == before
