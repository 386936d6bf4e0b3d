"""Grading the GPU part of one submission, on a GPU for points or on the stand-in for readiness."""

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from autograder.config import Config
from autograder.contract.device_scenarios import many_calls, measured
from autograder.contract.questions import questions
from autograder.contract.seed import read_seed
from autograder.findings import Finding
from autograder.grading.one.grade_one import (
    Graded,
    run_hidden_tests,
    versions_of,
)
from autograder.grading.one.gradescope import gradescope, receipt
from autograder.grading.one.hidden_test_files import hidden_test_files, otter_results
from autograder.grading.one.judge import SubmissionHandle
from autograder.grading.one.loaded_submission import LoadedSubmission
from autograder.intake.submission import Rejected, Submission
from autograder.outside.helpers_file import helpers_sha256
from autograder.reporting.feedback import spoken
from autograder.reporting.merge import MACHINE_FAULTS
from autograder.reporting.results import SubmissionResult, TestResult
from autograder.reporting.words import Words
from autograder.sandbox.client import Died, Server, driver_mib


def grade_on_device(server: Server, submission: Submission | Rejected, config: Config, words: Words) -> Graded:
    """Return the result of the GPU part alone, with figures from the device beside it in the timing."""
    known, started = versions_of(server), time.perf_counter()
    if isinstance(submission, Rejected):
        result = SubmissionResult(
            submission.student,
            submission.file,
            submission.sha256,
            server.device,
            rejected=submission.finding,
            versions=known,
        )
        return Graded(result, {"wall_s": time.perf_counter() - started})
    seed = read_seed(config.seed_file).for_file(submission.sha256)
    handle = SubmissionHandle(server, submission.cells, spoken(words, config.feedback), seed, submission.helpers)
    try:
        tests = run_hidden_tests(handle, hidden_test_files("gpu"))
        figures = _figures(handle, server.device)
    finally:
        handle.close()
    counts = server.device != "fakegpu" or config.readiness_counts
    tests, faults = _without_machine_faults(tests)
    tests = tests if counts else _without_points(tests)
    notes = (*submission.remarks, *handle.notes, *faults)
    said = receipt(notes, handle.verdicts.values(), config, words)
    result = SubmissionResult(
        student=submission.student,
        file=submission.file,
        sha256=submission.sha256,
        device=server.device,
        tests=tests,
        notes=notes,
        pending_points=questions().parts["gpu"] - sum(t.max_points for t in tests) if config.gpu == "required" else 0,
        confinement=server.layers,
        versions=known,
        helpers=helpers_sha256(submission.helpers),
        gradescope=gradescope(otter_results("gpu"), said) if counts and not faults else {},
    )
    tasks = handle.submission.tasks_added
    counted = {} if tasks is None else {"tasks_added": tasks}
    timing = {"wall_s": time.perf_counter() - started, "child_cpu_s": handle.submission.cpu_s, **figures, **counted}
    return Graded(result, timing)


def _figures(handle: SubmissionHandle, device: str) -> dict[str, float]:
    """Return what the device reports about reading, never scored; nothing where reading does not work."""
    if handle.verdicts["g4.basic"].status != "passed":
        return {}
    asked, submission = measured(device), handle.submission
    try:
        trace = submission.run(asked, alone=False)
        memory = _memory_from_outside(submission, device)
    except Died:
        return {}
    scattered, whole = (seen.get("returned") for o, seen in zip(asked, trace, strict=True) if o.name == "attend")
    rates: Any = trace[-1].get("returned")
    entries = rates.get("dict", {}) if isinstance(rates, dict) else {}
    figures = {name: value for name, value in entries.items() if type(value) is int}
    return {"attention_equal": int(scattered is not None and scattered == whole), **figures, **memory}


def _memory_from_outside(submission: LoadedSubmission, device: str) -> dict[str, int]:
    """Return what the driver counts for the process after many calls, and how much more that is than after half.

    By then torch has what it keeps for itself, so that honest code takes nothing more; nothing where nobody can say.
    """
    held: list[int | None] = []
    for _ in range(2):
        if submission.pid is None or driver_mib(submission.pid) is None:
            return {}
        submission.run(many_calls(device), alone=False)
        held.append(driver_mib(submission.pid))
    first, second = held
    return {} if first is None or second is None else {"driver_mib": second, "driver_mib_grown": second - first}


def _without_points(tests: Iterable[TestResult]) -> tuple[TestResult, ...]:
    return tuple(replace(test, points=0, max_points=0) for test in tests)


def _without_machine_faults(tests: Iterable[TestResult]) -> tuple[tuple[TestResult, ...], tuple[Finding, ...]]:
    """Leave out what the machine kept from being judged, and say so once: these points stay pending."""
    kept, faults = [], {}
    for test in tests:
        if test.finding and test.finding.code in MACHINE_FAULTS:
            faults[test.finding.code] = test.finding
        else:
            kept.append(test)
    return tuple(kept), tuple(faults.values())
