"""What is handed out beyond the run's own reports: bundles, and everything again under pseudonyms."""

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from autograder.classroom.anonymous import anonymous
from autograder.config import Config
from autograder.grading.many.received import received_file
from autograder.grading.many.rerender import current_results, standings_of
from autograder.outside.helpers_file import HELPERS
from autograder.reporting.bundle import make_bundle
from autograder.reporting.files import write_atomic
from autograder.reporting.gradebook import student_files, write_student
from autograder.reporting.report import render_index
from autograder.reporting.results import GradeLine, SubmissionResult, grade_line
from autograder.reporting.standing import Standing
from autograder.reporting.summary import pseudonyms, who_is_who
from autograder.reporting.words import Words

ANONYMOUS = "anonymous"
BUNDLES = "bundles"


def write_bundles(
    out: Path, lock: bytes, config: Config, words: Words, nameless: bool = False
) -> tuple[list[Path], list[str]]:
    """Write ``out/bundles/<student>.zip`` for everyone and an index for the TA.

    With ``nameless`` they go to ``out/anonymous/bundles`` under pseudonyms. Return the zips, and who gets none because
    the file that was graded is not there any more.
    """
    current = current_results(out, config)
    standings = standings_of(out, current, config)
    names = _pseudonyms(out, current) if nameless else {student: student for student in current}
    folder = out / ANONYMOUS / BUNDLES if nameless else out / BUNDLES
    folder.mkdir(parents=True, exist_ok=True)
    paths: dict[Path, GradeLine] = {}
    without = []
    for student, result in current.items():
        standing, name = standings[student], names[student]
        received = received_file(out, result)
        if received is None and result.rejected is None and not standing.held:
            without.append(student)
        if standing.held or (received is None and result.rejected is None):
            (folder / f"{name}.zip").unlink(missing_ok=True)
            continue
        if nameless:
            result = anonymous(result, name)
        files = student_files(result, words, config.feedback, standing)
        tests = result.versions.get("tests", "")
        if received and received.helpers:
            files[HELPERS] = received.helpers
        content = make_bundle(result, files, received.content if received else b"", tests, sha256(lock).hexdigest())
        paths[folder / f"{name}.zip"] = grade_line(result, standing)
        write_atomic(folder / f"{name}.zip", content)
    _write_index(folder, paths, words)
    return list(paths), without


def _write_index(folder: Path, paths: Mapping[Path, GradeLine], words: Words) -> None:
    index = [(line, sha256(path.read_bytes()).hexdigest()) for path, line in paths.items()]
    write_atomic(folder / "index.html", render_index(index, words).encode())


def take_back(out: Path, students: Iterable[str], config: Config, words: Words) -> None:
    """Take away what was handed out of these students' results before; their own reports are not touched here."""
    current = current_results(out, config)
    names = pseudonyms(current.values())
    for student in students:
        (out / BUNDLES / f"{student}.zip").unlink(missing_ok=True)
        (out / ANONYMOUS / BUNDLES / f"{names[student]}.zip").unlink(missing_ok=True)
        (out / "mail" / f"{student}.eml").unlink(missing_ok=True)
        shutil.rmtree(out / ANONYMOUS / "students" / names[student], ignore_errors=True)
    standings = standings_of(out, current, config)
    named = {student: (student, result) for student, result in current.items()}
    nameless = {names[student]: (student, anonymous(result, names[student])) for student, result in current.items()}
    for folder, people in ((out / BUNDLES, named), (out / ANONYMOUS / BUNDLES, nameless)):
        if (folder / "index.html").is_file():
            left = {folder / f"{name}.zip": grade_line(r, standings[s]) for name, (s, r) in people.items()}
            _write_index(folder, {path: line for path, line in left.items() if path.is_file()}, words)


def write_anonymous(out: Path, config: Config, words: Words) -> Path:
    """Write everyone's reports into ``out/anonymous`` under pseudonyms; ``out/pseudonyms.csv`` alone says whose."""
    current = current_results(out, config)
    names = _pseudonyms(out, current)
    standings = standings_of(out, current, config)
    for student, result in current.items():
        standing: Standing = replace(standings[student], comment="")  # a comment is written to a person
        write_student(out / ANONYMOUS, anonymous(result, names[student]), words, config.feedback, standing)
    return out / ANONYMOUS


def _pseudonyms(out: Path, current: Mapping[str, SubmissionResult]) -> dict[str, str]:
    """Name everyone, and take away what stands under pseudonyms of an earlier state of the run."""
    names = pseudonyms(current.values())
    for folder, end in ((out / ANONYMOUS / "students", ""), (out / ANONYMOUS / BUNDLES, ".zip")):
        for path in folder.glob(f"*{end}"):
            if path.name.removesuffix(end) not in names.values() and path.name != "index.html":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
    write_atomic(out / "pseudonyms.csv", who_is_who(names))
    return names
