"""One run of ``autograder grade``: entries in; journal, reports and grades.csv out."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from autograder.config import Config
from autograder.grading.many.journal import Journal, JournalError, Recorded, recorded
from autograder.grading.many.pool import grade_many
from autograder.grading.many.worker import Job
from autograder.grading.one.hidden_test_files import check_hidden_tests, tests_version
from autograder.intake.discover import Entry
from autograder.intake.names import folded
from autograder.reporting.gradebook import write_grades
from autograder.reporting.results import GradeLine, SubmissionResult, grade_line
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
) -> tuple[list[GradeLine], tuple[str, ...]]:
    """Grade ``entries`` into ``out``; return a line for everyone in it, sorted, and its journal's faults.

    With ``resume``, everyone in the journal keeps a row: an entry whose file, author and tests are the same is not
    graded again, and who is not among the entries stays as they are. ``on_graded`` hears of each at once.
    """
    check_hidden_tests()
    with Journal(out, settings.resume) as journal:
        earlier = recorded(out) if settings.resume else Recorded({})
        _refuse_other_device(earlier, settings.device, out)
        lines = {student: grade_line(result) for student, result in earlier.results.items()}
        known = {
            student: (result.sha256, result.who)
            for student, result in earlier.results.items()
            if result.versions.get("tests") == tests_version()
        }
        job = Job(out, settings.config, settings.lang, settings.allow_weak, known, settings.device)
        jobs = 1 if settings.device == "cuda" else settings.jobs  # one submission at a time has the GPU
        try:
            for graded in grade_many(settle(entries, earlier.results.values()), jobs, job):
                if graded is not None:
                    journal.append(graded)
                    lines[graded["student"]] = grade_line(from_row(graded))
                    on_graded(lines[graded["student"]])
        finally:
            write_grades(out, lines.values())
    return sorted(lines.values(), key=lambda line: line.student), earlier.problems


def settle(entries: Sequence[Entry], earlier: Collection[SubmissionResult]) -> list[Entry]:
    """Give every entry the folder its author has in the run already, and nobody a folder that is another's."""
    own = {result.who.key: result.student for result in earlier if result.who.key}
    taken = {folded(result.student): result.who.key for result in earlier}
    settled = []
    for entry in entries:
        name = own.get(entry.who.key, entry.student)
        tries = (name if number == 1 else f"{name}-{number}" for number in count(1))
        free = next(n for n in tries if taken.get(folded(n), entry.who.key) == entry.who.key)
        taken[folded(free)] = entry.who.key
        settled.append(replace(entry, student=free))
    return settled


def _refuse_other_device(earlier: Recorded, device: str, out: Path) -> None:
    others = sorted({result.device for result in earlier.results.values()} - {device})
    if others:
        raise JournalError(
            f"{out} holds results of {others[0]}, and {device} would take their place; grade into another -o and merge."
        )
