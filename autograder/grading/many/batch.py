"""One run of ``autograder grade``: entries in; journal, reports and grades.csv out."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from autograder.config import Config
from autograder.contract.seed import demand_same, read_seed
from autograder.grading.many.canary import canary, has_machine_fault, watched_over
from autograder.grading.many.journal import Journal, JournalError, Recorded, recorded
from autograder.grading.many.pool import grade_many
from autograder.grading.many.work import Job, Known
from autograder.grading.one.hidden_test_files import check_hidden_tests, tests_version
from autograder.intake.discover import Entry
from autograder.intake.names import folded
from autograder.reporting.gradebook import write_grades
from autograder.reporting.results import GradeLine, SubmissionResult, grade_line
from autograder.reporting.schema import from_row, row


@dataclass(frozen=True)
class Settings:
    """How a batch is graded."""

    config: Config
    lang: str = "en"
    jobs: int = 1
    resume: bool = False
    allow_weak: bool = False
    device: str = "cpu"
    cluster: str = ""


def grade_batch(
    entries: Sequence[Entry], out: Path, settings: Settings, on_graded: Callable[[GradeLine], None]
) -> list[GradeLine]:
    """Grade ``entries`` into ``out``; return a line for everyone in it, sorted.

    With ``resume``, everyone in the journal keeps a row: an entry whose file, author and tests are the same is not
    graded again, and who is not among the entries stays as they are. ``on_graded`` hears of each at once.
    """
    check_hidden_tests()
    seed = read_seed(settings.config.seed_file)
    with Journal(out, settings.resume) as journal:
        earlier = recorded(out) if settings.resume else Recorded({})
        _refuse_other_device(earlier, settings.device, out)
        lines = {student: grade_line(result) for student, result in earlier.results.items()}
        known: dict[str, Known] = {}
        for student, result in earlier.results.items():
            if result.versions.get("tests") == tests_version() and not has_machine_fault(row(result)):
                demand_same(result.versions.get("seed", seed.sha256), seed.sha256)
                known[student] = (result.handed_in, result.who)
        job = Job(out, settings.config, settings.lang, settings.allow_weak, known, settings.device)
        try:
            for graded in _rows_of(settle(entries, earlier.results.values()), settings, job):
                if graded:
                    journal.append(graded)
                    lines[graded["student"]] = grade_line(from_row(graded))
                    on_graded(lines[graded["student"]])
        finally:
            write_grades(out, lines.values())
    return sorted(lines.values(), key=lambda line: line.student)


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


def _rows_of(entries: Sequence[Entry], settings: Settings, job: Job) -> Iterator[dict[str, Any] | None]:
    """Yield the rows of the run, from here or from a cluster, on a GPU watched over by the reference solution."""
    if settings.cluster:
        from autograder.grading.cluster.run import grade_on_cluster

        yield from grade_on_cluster(entries, settings.cluster, job)
    elif job.device != "cuda":
        yield from grade_many(entries, settings.jobs, job)
    else:
        with canary(job.device, job.allow_weak) as check:
            yield from watched_over(grade_many(entries, 1, job), check)  # one submission at a time has the GPU
