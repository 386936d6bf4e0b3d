"""Every sample submission, the master and the released starters end as expected, all graded in one batch."""

from pathlib import Path

import pytest
from expected import SAMPLES, expectations

from autograder.config import Config
from autograder.contract.questions import questions
from autograder.grading.many.batch import Settings, grade_batch
from autograder.intake.discover import discover
from autograder.reporting.results import GradeLine

ROOT = Path(__file__).resolve().parents[2]
MASTER = ROOT / "solutions" / "paged_attention.py"
FOLDERS = ("honest", "partial", "alternative", "odd", "kernel")
JOBS = 2

Lines = dict[Path, GradeLine]


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
    if want.rejected:
        assert line.rejected is not None
        assert (line.status, line.rejected.code) == ("not gradable", want.rejected)
        return
    assert {name: (question.points, question.status) for name, question in line.questions.items()} == want.questions
    assert (line.status, line.points) == ("graded", want.points)


@pytest.mark.parametrize("sample", EXPECTED, ids=sample_name)
def test_what_is_expected_of_a_sample_adds_up(sample: Path) -> None:
    want, table = EXPECTED[sample], questions()
    assert set(want.lost) <= {*table.cases, *table.of("cpu")}
    assert not (want.rejected and want.lost)
    if not want.rejected:
        told = want.questions
        assert all((points == table[q].points) == (status == "passed") for q, (points, status) in told.items()), told


def test_every_sample_is_expected(lines: Lines) -> None:
    assert set(EXPECTED) == {path for path in lines if SAMPLES in path.parents}


def test_the_master_earns_all_points(lines: Lines) -> None:
    line, parts = lines[MASTER], questions().parts
    assert (line.points, line.max_points, line.pending_points) == (parts["cpu"], parts["cpu"], parts["gpu"])


@pytest.mark.parametrize("starter", STARTERS, ids=sample_name)
def test_an_untouched_starter_is_not_attempted(lines: Lines, starter: Path) -> None:
    line = lines[starter]
    assert line.points == 0
    assert [line.questions[name].status for name in questions().of("cpu")] == ["not attempted"] * 5


@pytest.mark.parametrize(("folder", "at_least"), [("honest", 5), ("partial", 8), ("alternative", 27)])
def test_there_are_enough_samples_of_each_kind(folder: str, at_least: int) -> None:
    assert len(expectations(folder)) >= at_least
