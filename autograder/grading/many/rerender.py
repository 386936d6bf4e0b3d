"""What derives from journals: reports rendered again, and runs merged into one."""

import multiprocessing
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from autograder.classroom.enrolled import Enrolled, enrolled, keep_list
from autograder.classroom.records import Records, kept_beside, read_records_of
from autograder.classroom.stand import stand, undated
from autograder.config import Config
from autograder.contract.seed import demand_same
from autograder.findings import Finding
from autograder.grading.many.journal import NAME, Journal, JournalError, Recorded, recorded
from autograder.grading.many.received import Received, keep_received, received_file
from autograder.reporting.class_page import render_class
from autograder.reporting.feedback import Policy
from autograder.reporting.files import write_atomic
from autograder.reporting.gradebook import write_grades, write_student
from autograder.reporting.merge import merge_all
from autograder.reporting.results import GradeLine, SubmissionResult, grade_line, under_policy
from autograder.reporting.run_file import NAME as RUN_FILE
from autograder.reporting.run_file import run_file
from autograder.reporting.schema import row
from autograder.reporting.standing import Standing
from autograder.reporting.words import Words
from autograder.system import can_fork, usable_cores

CLASS_PAGE = "class.html"
FEW = 200


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
    out: Path, config: Config, words: Words, roster: Path | None = None, found: Recorded | None = None
) -> tuple[list[GradeLine], tuple[str, ...]]:
    """Write every report, grades.csv and the class page of ``out`` again; return its lines and what to complain about.

    What TAs keep beside the run, and the class list, are read and checked before anything is written; a class list
    that was given stays with the run. ``found`` is what the journal holds, where that is known.
    """
    found = found or usable(out)
    if not found.results and not found.problems:
        raise JournalError(f"{out / NAME} holds no results; grade into {out} first.")
    current = _under_present_policy(found.results, config)
    enrolment, records, standings = _settled(out, roster, current, config)
    keep_list(out, roster)
    _write_reports(out, current, standings, config, words)
    lines = _write_class(out, current, standings, enrolment, words, len(found.problems))
    return lines, (*found.problems, *enrolment.problems, *undated(current.values(), records, config))


def _write_class(
    out: Path,
    results: Mapping[str, SubmissionResult],
    standings: Mapping[str, Standing],
    enrolment: Enrolled,
    words: Words,
    unusable: int,
) -> list[GradeLine]:
    lines = [grade_line(result, standings[student]) for student, result in results.items()]
    write_grades(out, lines, enrolment.listed)
    bundled = {path.stem for path in (out / "bundles").glob("*.zip")}
    page = render_class(results, lines, enrolment.listed, bundled, words)
    write_atomic(out / CLASS_PAGE, page.encode("utf-8", "replace"))
    write_atomic(out / RUN_FILE, run_file(results.values(), lines, enrolment.listed, unusable))
    return lines


def _write_reports(
    out: Path,
    results: Mapping[str, SubmissionResult],
    standings: Mapping[str, Standing],
    config: Config,
    words: Words,
) -> None:
    """Write everyone's reports, of many students on all cores."""
    jobs = usable_cores() if len(results) > FEW and can_fork() else 1
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


def refresh(out: Path, config: Config, words: Words, roster: Path | None = None) -> tuple[str, ...]:
    """Bring grades.csv, the class page, and the reports that TAs or a late rule change up to date after grading.

    Return what was wrong with the journal, who is not on the class list, and whose time is not known.
    """
    found = usable(out)
    current = _under_present_policy(found.results, config)
    enrolment, records, standings = _settled(out, roster, current, config)
    keep_list(out, roster)
    _write_class(out, current, standings, enrolment, words, len(found.problems))
    plain = Standing(0, 0)
    touched = {s: r for s, r in current.items() if replace(standings[s], points=0, final=0) != plain}
    _write_reports(out, touched, standings, config, words)
    return (*found.problems, *enrolment.problems, *undated(current.values(), records, config))


def put_back(out: Path, kept: Sequence[SubmissionResult], config: Config, words: Words) -> None:
    """Write results over those of the same students in ``out``, and only those students' reports."""
    with Journal(out, resume=True) as journal:
        for result in kept:
            journal.append(row(result))
    render_some(out, [result.student for result in kept], config, words)


def render_some(out: Path, students: Iterable[str], config: Config, words: Words) -> None:
    """Write the reports of these students again, grades.csv and the class page."""
    found = usable(out)
    current = _under_present_policy(found.results, config)
    enrolment, _, standings = _settled(out, None, current, config)
    _write_reports(out, {student: current[student] for student in students}, standings, config, words)
    _write_class(out, current, standings, enrolment, words, len(found.problems))


def current_results(out: Path, config: Config) -> dict[str, SubmissionResult]:
    """Return what :func:`results` does, as the course's present word on the GPU part has it."""
    return _under_present_policy(results(out), config)


def _under_present_policy(results: Mapping[str, SubmissionResult], config: Config) -> dict[str, SubmissionResult]:
    return {student: under_policy(result, config.gpu) for student, result in results.items()}


def standings_of(out: Path, results: Mapping[str, SubmissionResult], config: Config) -> dict[str, Standing]:
    """Return how everyone stands, after what lies beside the run in ``out``."""
    return _settled(out, None, results, config)[2]


def _settled(
    out: Path, roster: Path | None, results: Mapping[str, SubmissionResult], config: Config
) -> tuple[Enrolled, Records, dict[str, Standing]]:
    """Return who is enrolled, what lies beside the run, and how everyone stands after it; nothing is written."""
    enrolment = enrolled(out, roster, results)
    records = read_records_of(out, results, enrolment.listed)
    return enrolment, records, {student: stand(result, records, config) for student, result in results.items()}


def merge_runs(runs: Sequence[Path], out: Path, config: Config, words: Words) -> tuple[list[GradeLine], list[Finding]]:
    """Merge runs (shards, CPU and GPU) into ``out``; return its lines and what did not belong together."""
    for run in runs:
        if out.exists() and run.samefile(out):
            raise JournalError(f"{out} is one of the runs to merge and would be overwritten; give another -o.")
    merged: Iterable[SubmissionResult] = ()
    problems: list[Finding] = []
    read = [usable(run) for run in runs]
    if torn := next((problem for own in read for problem in own.problems), None):
        raise JournalError(torn)
    _demand_one_seed(result for own in read for result in own.results.values())
    for own in read:
        merged, found = merge_all(merged, own.results.values())
        problems += found
    if two := next((problem for problem in problems if problem.code == "merge.attempts"), None):
        raise JournalError(words.sentence(two))
    merged = list(merged)
    shared = next((name for name, count in Counter(result.student for result in merged).items() if count > 1), None)
    if shared:
        raise JournalError(f"Two students are called '{shared}' in these runs; grade them into one OUT with --resume.")
    beside = kept_beside(runs)
    with Journal(out, resume=False) as journal:
        for name, content in beside.items():
            (out / name).parent.mkdir(exist_ok=True)
            write_atomic(out / name, content)
        for result in merged:
            journal.append(row(result))
            received = next(filter(None, (received_file(run, result) for run in runs)), Received("", b""))
            keep_received(out, result.student, replace(received, name=result.file))
    return render(out, config, words)[0], problems


def _demand_one_seed(results: Iterable[SubmissionResult]) -> None:
    """Raise SeedError where two results come from different seeds; a device's part depends on none."""
    seeds = [seed for result in results if (seed := result.versions.get("seed"))]
    for seed in seeds:
        demand_same(seeds[0], seed)
