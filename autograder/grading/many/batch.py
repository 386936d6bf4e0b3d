"""One run of ``autograder grade``: entries in; journal, reports and grades.csv out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.config import Config
from autograder.contract.seed import demand_same, read_seed
from autograder.grading.many.canary import canary, has_machine_fault, watched_over
from autograder.grading.many.journal import Journal, rows
from autograder.grading.many.pool import grade_many
from autograder.grading.many.work import Job
from autograder.grading.one.hidden_test_files import check_hidden_tests, tests_version
from autograder.intake.discover import Entry
from autograder.reporting.gradebook import write_grades
from autograder.reporting.results import GradeLine, grade_line
from autograder.reporting.schema import from_row


@dataclass(frozen=True)
class Settings:
    """How a batch is graded."""

    config: Config
    lang: str = "en"
    jobs: int = 1
    resume: bool = False
    allow_weak: bool = False
    device: str = "cpu"


def grade_batch(
    entries: Sequence[Entry], out: Path, settings: Settings, on_graded: Callable[[GradeLine], None]
) -> list[GradeLine]:
    """Grade ``entries`` into ``out`` and return one line per student, sorted; ``on_graded`` hears of each at once.

    With ``resume``, an entry whose file and tests are the same as in the journal keeps its row.
    """
    check_hidden_tests()
    seed = read_seed(settings.config.seed_file)
    students = {entry.student for entry in entries}
    lines: dict[str, GradeLine] = {}
    known: dict[str, str] = {}
    with Journal(out, settings.resume) as journal:
        if settings.resume:
            for row in rows(out):
                if row["device"] != settings.device or has_machine_fault(row):
                    continue
                if row["student"] in students and row.get("versions", {}).get("tests") == tests_version():
                    demand_same(row["versions"].get("seed", seed.sha256), seed.sha256)
                    lines[row["student"]] = grade_line(from_row(row))
                    known[row["student"]] = row["sha256"]
        job = Job(out, settings.config, settings.lang, settings.allow_weak, known, settings.device)
        jobs = 1 if settings.device == "cuda" else settings.jobs  # one submission at a time has the GPU
        try:
            for graded in _rows_of(entries, jobs, job):
                if graded:
                    journal.append(graded)
                    lines[graded["student"]] = grade_line(from_row(graded))
                    on_graded(lines[graded["student"]])
        finally:
            write_grades(out, lines.values())
    return sorted(lines.values(), key=lambda line: line.student)


def _rows_of(entries: Sequence[Entry], jobs: int, job: Job) -> Iterator[dict[str, Any] | None]:
    """Yield the rows of the run, on a GPU watched over by the reference solution."""
    if job.device != "cuda":
        yield from grade_many(entries, jobs, job)
        return
    with canary(job.device, job.allow_weak) as check:
        yield from watched_over(grade_many(entries, jobs, job), check)
