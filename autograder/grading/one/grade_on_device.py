"""Grading the GPU part of one submission, on a GPU for points or on the stand-in for readiness."""

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from autograder.config import Config
from autograder.contract.device_scenarios import measured
from autograder.contract.questions import questions
from autograder.findings import Finding
from autograder.grading.one.grade_one import (
    Graded,
    run_hidden_tests,
    versions_of,
)
from autograder.grading.one.gradescope import gradescope, receipt
from autograder.grading.one.hidden_test_files import hidden_test_files, otter_results
from autograder.grading.one.judge import SubmissionHandle
from autograder.intake.submission import Rejected, Submission
from autograder.outside.helpers_file import helpers_sha256
from autograder.reporting.feedback import spoken
from autograder.reporting.merge import MACHINE_FAULTS
from autograder.reporting.results import SubmissionResult, TestResult
from autograder.reporting.words import Words
from autograder.sandbox.client import Died, Server


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
    handle = SubmissionHandle(server, submission.cells, spoken(words, config.feedback), helpers=submission.helpers)
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
    timing = {"wall_s": time.perf_counter() - started, "child_cpu_s": handle.submission.cpu_s, **figures}
    return Graded(result, timing)


def _figures(handle: SubmissionHandle, device: str) -> dict[str, float]:
    """Return what the device reports about reading, never scored; nothing where reading does not work."""
    if handle.verdicts["g4.basic"].status != "passed":
        return {}
    asked = measured(device)
    try:
        trace = handle.submission.run(asked, alone=False)
    except Died:
        return {}
    scattered, whole = (seen.get("returned") for o, seen in zip(asked, trace, strict=True) if o.name == "attend")
    rates: Any = trace[-1].get("returned")
    entries = rates.get("dict", {}) if isinstance(rates, dict) else {}
    figures = {name: value for name, value in entries.items() if type(value) is int}
    return {"attention_equal": int(scattered is not None and scattered == whole), **figures}


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
