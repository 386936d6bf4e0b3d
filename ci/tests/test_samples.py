"""Every sample submission, the master and the released starters end as expected, all graded in one batch."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from autograder.config import Config
from autograder.contract.questions import questions
from autograder.grading.many.batch import Settings, grade_batch
from autograder.intake.discover import discover
from autograder.reporting.results import GradeLine

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "solutions" / "submissions"
MASTER = ROOT / "solutions" / "paged_attention.py"
FOLDERS = ("honest", "partial", "alternative", "odd", "kernel")
JOBS = 2

Lines = dict[Path, GradeLine]


def expectations(folder: str) -> dict[str, dict[str, Any]]:
    path = SAMPLES / folder / "expected.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


EXPECTED = {SAMPLES / folder / name: want for folder in FOLDERS for name, want in expectations(folder).items()}
STARTERS = sorted(path for path in (ROOT / "assignment").glob("*.*.*") if path.suffix in (".ipynb", ".py"))


def sample_name(path: Path) -> str:
    return str(path.relative_to(ROOT)).removeprefix("solutions/submissions/")


@pytest.fixture(scope="session")
def lines(tmp_path_factory: pytest.TempPathFactory) -> Lines:
    entries = discover([*(SAMPLES / folder for folder in FOLDERS), MASTER, *STARTERS])
    settings = Settings(Config(), jobs=JOBS, allow_weak=True)
    graded = grade_batch(entries, tmp_path_factory.mktemp("samples"), settings, lambda line: None)
    place = {entry.student: entry.path / entry.parts[0] if entry.parts else entry.path for entry in entries}
    return {place[line.student]: line for line in graded}


@pytest.mark.parametrize("sample", EXPECTED, ids=sample_name)
def test_a_sample_is_graded_as_expected(lines: Lines, sample: Path) -> None:
    line, want = lines[sample], EXPECTED[sample]
    if "rejected" in want:
        assert line.rejected is not None
        assert (line.status, line.rejected.code) == ("not gradable", want["rejected"])
        return
    got = {name: question.points for name, question in line.questions.items()}
    statuses = {name: line.questions[name].status for name in want.get("status", {})}
    assert (line.status, line.points) == ("graded", want["points"]), got
    assert got == want.get("questions", got)
    assert statuses == want.get("status", {})


def test_every_sample_is_expected(lines: Lines) -> None:
    assert set(EXPECTED) == {path for path in lines if SAMPLES in path.parents}


def test_the_master_earns_all_points(lines: Lines) -> None:
    line = lines[MASTER]
    assert (line.points, line.max_points, line.pending_points) == (80, 80, 20)


@pytest.mark.parametrize("starter", STARTERS, ids=sample_name)
def test_an_untouched_starter_is_not_attempted(lines: Lines, starter: Path) -> None:
    line = lines[starter]
    assert line.points == 0
    assert [line.questions[name].status for name in questions().of("cpu")] == ["not attempted"] * 5


@pytest.mark.parametrize(("folder", "at_least"), [("honest", 5), ("partial", 8), ("alternative", 27)])
def test_there_are_enough_samples_of_each_kind(folder: str, at_least: int) -> None:
    assert len(expectations(folder)) >= at_least
