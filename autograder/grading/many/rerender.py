"""What derives from journals: reports rendered again, runs merged into one, bundles."""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path, PurePosixPath

from autograder.config import Config
from autograder.contract.seed import demand_same
from autograder.findings import Finding
from autograder.grading.many.journal import NAME, Journal, JournalError, rows
from autograder.intake.disk import read_file
from autograder.intake.submission import Refusal
from autograder.outside.names import file_name
from autograder.reporting.bundle import make_bundle
from autograder.reporting.files import student_folder, write_atomic
from autograder.reporting.gradebook import student_files, write_grades, write_student
from autograder.reporting.merge import merge_all
from autograder.reporting.report import render_index
from autograder.reporting.results import GradeLine, SubmissionResult, grade_line
from autograder.reporting.schema import from_row, row
from autograder.reporting.words import Words

RECEIVED = "received"
MOST_RECEIVED = 8


def results(out: Path) -> dict[str, SubmissionResult]:
    """Return the last result of every student in ``out``, sorted; raise JournalError where nothing was graded."""
    found = _latest(out)
    if not found:
        raise JournalError(f"{out / NAME} holds no results; grade into {out} first.")
    return found


def _latest(out: Path) -> dict[str, SubmissionResult]:
    """Return what :func:`results` does, nothing for a shard that had no students; raise JournalError without one."""
    if not (out / NAME).is_file():
        raise JournalError(f"{out / NAME} does not exist; grade into {out} first.")
    latest = {r["student"]: r for r in rows(out)}
    return {student: from_row(latest[student]) for student in sorted(latest)}


def render(out: Path, config: Config, words: Words) -> list[GradeLine]:
    """Write every report and grades.csv of ``out`` again, from its journal."""
    lines = []
    for result in results(out).values():
        write_student(out, result, words, config.feedback)
        lines.append(grade_line(result))
    write_grades(out, lines)
    return lines


def merge_runs(runs: Sequence[Path], out: Path, config: Config, words: Words) -> tuple[list[GradeLine], list[Finding]]:
    """Merge runs (shards, CPU and GPU) into ``out``; return its lines and what did not belong together."""
    merged: Iterable[SubmissionResult] = ()
    problems: list[Finding] = []
    latest = [_latest(run) for run in runs]
    _demand_one_seed(result for run in latest for result in run.values())
    for run in latest:
        merged, found = merge_all(merged, run.values())
        problems += found
    with Journal(out, resume=False) as journal:
        for result in merged:
            journal.append(row(result))
            keep_received(
                out, result.student, result.file, next(filter(None, (_received(r, result) for r in runs)), b"")
            )
    return render(out, config, words), problems


def _demand_one_seed(results: Iterable[SubmissionResult]) -> None:
    """Raise SeedError where two results come from different seeds; a device's part depends on none."""
    seeds = [seed for result in results if (seed := result.versions.get("seed"))]
    for seed in seeds:
        demand_same(seeds[0], seed)


def write_bundles(out: Path, lock: bytes, config: Config, words: Words) -> list[Path]:
    """Write ``out/bundles/<student>.zip`` for everyone and an index for the TA; return the zips."""
    folder = out / "bundles"
    folder.mkdir(exist_ok=True)
    index: list[tuple[GradeLine, str]] = []
    paths = []
    for student, result in results(out).items():
        files: Mapping[str, bytes] = student_files(result, words, config.feedback)
        tests = result.versions.get("tests", "")
        content = make_bundle(result, files, _received(out, result), tests, sha256(lock).hexdigest())
        paths.append(folder / f"{student}.zip")
        write_atomic(paths[-1], content)
        index.append((grade_line(result), sha256(content).hexdigest()))
    write_atomic(folder / "index.html", render_index(index, words).encode())
    return paths


def keep_received(out: Path, student: str, file: str, content: bytes) -> None:
    """Keep the graded file as it was handed in, and no other, under a name fit for any system."""
    folder = student_folder(out, student, RECEIVED)
    name = file_name(PurePosixPath(file).name)
    for other in folder.iterdir():
        if other.name != name and not other.is_dir():
            other.unlink()
    write_atomic(folder / name, content)


def _received(out: Path, result: SubmissionResult) -> bytes:
    """Return the file that the result is about, empty where it is not there any more: no other stands in for it."""
    folder = out / "students" / result.student / RECEIVED
    try:
        contents = [read_file(path) for path in sorted(folder.iterdir())[:MOST_RECEIVED]]
    except (OSError, Refusal):
        return b""
    return next((c for c in contents if not result.sha256 or sha256(c).hexdigest() == result.sha256), b"")
