"""What derives from journals: reports rendered again, runs merged into one, bundles."""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from autograder.config import Config
from autograder.findings import Finding
from autograder.grading.many.journal import NAME, Journal, JournalError, rows
from autograder.reporting.bundle import make_bundle
from autograder.reporting.files import write_atomic
from autograder.reporting.gradebook import student_files, write_grades, write_student
from autograder.reporting.merge import merge_all
from autograder.reporting.report import render_index
from autograder.reporting.results import GradeLine, SubmissionResult, grade_line
from autograder.reporting.schema import from_row, row
from autograder.reporting.words import Words

RECEIVED = "received"


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
    for run in runs:
        merged, found = merge_all(merged, _latest(run).values())
        problems += found
    with Journal(out, resume=False) as journal:
        for result in merged:
            journal.append(row(result))
            received = next((p for run in runs if (p := run / "students" / result.student / RECEIVED).is_dir()), None)
            if received:
                shutil.copytree(received, out / "students" / result.student / RECEIVED, dirs_exist_ok=True)
    return render(out, config, words), problems


def write_bundles(out: Path, lock: bytes, config: Config, words: Words) -> list[Path]:
    """Write ``out/bundles/<student>.zip`` for everyone and an index for the TA; return the zips."""
    folder = out / "bundles"
    folder.mkdir(exist_ok=True)
    index: list[tuple[GradeLine, str]] = []
    paths = []
    for student, result in results(out).items():
        files: Mapping[str, bytes] = student_files(result, words, config.feedback)
        tests = result.versions.get("tests", "")
        content = make_bundle(result, files, _received(out, student), tests, sha256(lock).hexdigest())
        paths.append(folder / f"{student}.zip")
        write_atomic(paths[-1], content)
        index.append((grade_line(result), sha256(content).hexdigest()))
    write_atomic(folder / "index.html", render_index(index, words).encode())
    return paths


def _received(out: Path, student: str) -> bytes:
    kept = sorted((out / "students" / student / RECEIVED).glob("*"))
    return kept[0].read_bytes() if kept else b""
