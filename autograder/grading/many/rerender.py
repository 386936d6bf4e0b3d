"""What derives from journals: reports rendered again, runs merged into one, bundles."""

import multiprocessing
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path

from autograder.classroom.match import match
from autograder.classroom.records import read_records_of
from autograder.classroom.roster import read_roster
from autograder.classroom.stand import stand
from autograder.config import Config
from autograder.findings import Finding
from autograder.grading.many.cores import usable_cores
from autograder.grading.many.journal import NAME, Journal, JournalError, Recorded, recorded
from autograder.reporting.bundle import make_bundle
from autograder.reporting.class_page import render_class
from autograder.reporting.feedback import Policy
from autograder.reporting.files import write_atomic
from autograder.reporting.gradebook import (
    Absent,
    keep_received,
    received_file,
    student_files,
    write_grades,
    write_student,
)
from autograder.reporting.merge import merge_all
from autograder.reporting.report import render_index
from autograder.reporting.results import GradeLine, SubmissionResult, grade_line, under_policy
from autograder.reporting.schema import row
from autograder.reporting.standing import Standing
from autograder.reporting.words import Words

CLASS_PAGE = "class.html"
ROSTER = "roster.csv"
FEW = 200


@dataclass(frozen=True)
class _Enrolled:
    absent: tuple[Absent, ...] = ()
    problems: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)


def results(out: Path) -> dict[str, SubmissionResult]:
    """Return the last result of every student in ``out``, sorted; raise JournalError where nothing was graded."""
    found = usable(out).results
    if not found:
        raise JournalError(f"{out / NAME} holds no results; grade into {out} first.")
    return found


def usable(out: Path) -> Recorded:
    """Return what ``out``'s journal holds, which may be nothing for a shard without students."""
    if not (out / NAME).is_file():
        raise JournalError(f"{out / NAME} does not exist; grade into {out} first.")
    return recorded(out)


def render(
    out: Path, config: Config, words: Words, roster: Path | None = None
) -> tuple[list[GradeLine], tuple[str, ...]]:
    """Write every report, grades.csv and the class page of ``out`` again; return its lines and what to complain about.

    What TAs keep beside the run, and the class list, are read and checked before anything is written; a class list
    that was given stays with the run.
    """
    found = usable(out)
    if not found.results and not found.problems:
        raise JournalError(f"{out / NAME} holds no results; grade into {out} first.")
    current = {student: under_policy(result, config.gpu) for student, result in found.results.items()}
    standings = standings_of(out, current, config)
    enrolled = _enrolled(out, roster, current)
    _write_reports(out, current, standings, config, words)
    lines = _write_class(out, current, standings, enrolled, words)
    return lines, (*found.problems, *enrolled.problems)


def _write_class(
    out: Path,
    results: Mapping[str, SubmissionResult],
    standings: Mapping[str, Standing],
    enrolled: _Enrolled,
    words: Words,
) -> list[GradeLine]:
    lines = [grade_line(result, standings[student]) for student, result in results.items()]
    write_grades(out, lines, enrolled.absent)
    bundled = {path.stem for path in (out / "bundles").glob("*.zip")}
    page = render_class(results, lines, enrolled.absent, bundled, words, enrolled.names)
    write_atomic(out / CLASS_PAGE, page.encode("utf-8", "replace"))
    return lines


def _write_reports(
    out: Path,
    results: Mapping[str, SubmissionResult],
    standings: Mapping[str, Standing],
    config: Config,
    words: Words,
) -> None:
    """Write everyone's reports, of many students on all cores."""
    jobs = usable_cores() if len(results) > FEW else 1
    write = partial(_write_some, out, words.lang, config.feedback)
    pairs = [(result, standings[student]) for student, result in results.items()]
    if jobs == 1:
        write(pairs)
        return
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        pool.map(write, [pairs[start::jobs] for start in range(jobs)])


def _write_some(out: Path, lang: str, policy: Policy, pairs: Sequence[tuple[SubmissionResult, Standing]]) -> None:
    words = Words(lang)
    for result, standing in pairs:
        write_student(out, result, words, policy, standing)


def _enrolled(out: Path, given: Path | None, results: Mapping[str, SubmissionResult]) -> _Enrolled:
    path = given or out / ROSTER
    if not path.is_file():
        return _Enrolled()
    roster = read_roster(path)
    matches = match(((student, result.who) for student, result in results.items()), roster)
    if given and given.resolve() != (out / ROSTER).resolve():
        write_atomic(out / ROSTER, given.read_bytes())
    problems = [f"'{student}' is nobody's on the class list." for student in matches.strangers]
    for student, people in matches.ambiguous:
        problems.append(f"'{student}' could be {' or '.join(person.label for person in people[:3])} on the class list.")
    unsure = {person.row for _, people in matches.ambiguous for person in people}
    absent = [Absent(p.ids[0], p.name, p.login, p.email) for p in matches.missing if p.row not in unsure]
    by_row = {person.row: person.name for person in roster.people}
    names = {student: by_row[row] for row, student in matches.pairs.items()}
    return _Enrolled(tuple(absent), tuple(problems), names)


def refresh(out: Path, config: Config, words: Words) -> None:
    """Bring grades.csv, the class page, and the reports that TAs or a late rule change up to date after grading."""
    current = {student: under_policy(result, config.gpu) for student, result in usable(out).results.items()}
    standings = standings_of(out, current, config)
    _write_class(out, current, standings, _enrolled(out, None, current), words)
    plain = Standing(0, 0)
    touched = {s: r for s, r in current.items() if replace(standings[s], points=0, final=0) != plain}
    _write_reports(out, touched, standings, config, words)


def put_back(out: Path, kept: Sequence[SubmissionResult], config: Config, words: Words) -> None:
    """Write results over those of the same students in ``out``, and only those students' reports."""
    with Journal(out, resume=True) as journal:
        for result in kept:
            journal.append(row(result))
    current = current_results(out, config)
    standings = standings_of(out, current, config)
    _write_reports(out, {result.student: current[result.student] for result in kept}, standings, config, words)
    _write_class(out, current, standings, _enrolled(out, None, current), words)


def current_results(out: Path, config: Config) -> dict[str, SubmissionResult]:
    """Return what :func:`results` does, as the course's present word on the GPU part has it."""
    return {student: under_policy(result, config.gpu) for student, result in results(out).items()}


def standings_of(out: Path, results: Mapping[str, SubmissionResult], config: Config) -> dict[str, Standing]:
    """Return how everyone stands, after what lies beside the run in ``out``."""
    records = read_records_of(out, results)
    return {student: stand(result, records, config) for student, result in results.items()}


def merge_runs(runs: Sequence[Path], out: Path, config: Config, words: Words) -> tuple[list[GradeLine], list[Finding]]:
    """Merge runs (shards, CPU and GPU) into ``out``; return its lines and what did not belong together."""
    for run in runs:
        if out.exists() and run.samefile(out):
            raise JournalError(f"{out} is one of the runs to merge and would be overwritten; give another -o.")
    merged: Iterable[SubmissionResult] = ()
    problems: list[Finding] = []
    for run in runs:
        own = usable(run)
        if own.problems:
            raise JournalError(own.problems[0])
        merged, found = merge_all(merged, own.results.values())
        problems += found
    if two := next((problem for problem in problems if problem.code == "merge.attempts"), None):
        raise JournalError(words.sentence(two))
    merged = list(merged)
    shared = next((name for name, count in Counter(result.student for result in merged).items() if count > 1), None)
    if shared:
        raise JournalError(f"Two students are called '{shared}' in these runs; grade them into one OUT with --resume.")
    with Journal(out, resume=False) as journal:
        for result in merged:
            journal.append(row(result))
            folders = (run / "students" / result.student for run in runs)
            received = next((kept for folder in folders if (kept := received_file(folder, result.sha256))), None)
            if received:
                keep_received(out / "students" / result.student, *received)
    return render(out, config, words)[0], problems


def write_bundles(out: Path, lock: bytes, config: Config, words: Words) -> tuple[list[Path], list[str]]:
    """Write ``out/bundles/<student>.zip`` for everyone and an index for the TA.

    Return the zips, and the students who get none because the file that was graded is not there any more.
    """
    folder = out / "bundles"
    folder.mkdir(exist_ok=True)
    index: list[tuple[GradeLine, str]] = []
    paths, without = [], []
    current = current_results(out, config)
    standings = standings_of(out, current, config)
    for student, result in current.items():
        standing = standings[student]
        if standing.held:
            (folder / f"{student}.zip").unlink(missing_ok=True)
            continue
        received = received_file(out / "students" / student, result.sha256)
        if received is None and result.rejected is None:
            without.append(student)
            (folder / f"{student}.zip").unlink(missing_ok=True)
            continue
        files: Mapping[str, bytes] = student_files(result, words, config.feedback, standing)
        tests = result.versions.get("tests", "")
        content = make_bundle(result, files, received[1] if received else None, tests, sha256(lock).hexdigest())
        paths.append(folder / f"{student}.zip")
        write_atomic(paths[-1], content)
        index.append((grade_line(result, standing), sha256(content).hexdigest()))
    write_atomic(folder / "index.html", render_index(index, words).encode())
    return paths, without
