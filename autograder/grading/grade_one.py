"""Grading one submission: Otter runs the hidden tests against the handle, and their outcome becomes a result."""

import hashlib
import time
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from autograder import __version__, contract, hidden_tests
from autograder.config import Config
from autograder.contract.finding import Finding
from autograder.contract.scenarios import scenarios
from autograder.grading.example import shortest_example
from autograder.grading.handle import SubmissionHandle
from autograder.intake.submission import Rejected, Submission
from autograder.reporting.feedback import spoken
from autograder.reporting.results import GPU_POINTS, SubmissionResult, TestResult
from autograder.reporting.words import Words
from autograder.sandbox.client import ForkServer

CPU_FILES = ("q1_ledger", "q2_prefill", "q3_decode", "q4_reconstruction", "q5_lifecycle")


@dataclass(frozen=True)
class Graded:
    """A result and what it cost, in seconds."""

    result: SubmissionResult
    timing: dict[str, float]


@cache
def hidden_test_files() -> tuple[Any, ...]:
    """Return Otter's test files for q1 to q5, in order; they are reused from one submission to the next."""
    from otter.nbmeta_config import NBMetadataConfig
    from otter.test_files import create_test_file

    folder = Path(hidden_tests.__file__).parent
    return tuple(create_test_file(str(folder / f"{name}.py"), NBMetadataConfig()) for name in CPU_FILES)


@cache
def tests_version() -> str:
    """Return one hash over the hidden tests and the contract: two results compare only when it is the same."""
    sources = [*Path(hidden_tests.__file__).parent.glob("*.py"), *Path(contract.__file__).parent.glob("*.py")]
    digest = hashlib.sha256()
    for path in sorted(sources, key=lambda p: p.name):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _versions(server: ForkServer) -> dict[str, str]:
    return {
        "autograder": __version__,
        "otter": version("otter-grader"),
        "python": server.versions["python"],
        "torch": server.versions["torch"],
        "tests": tests_version(),
    }


def grade_one(server: ForkServer, submission: Submission | Rejected, config: Config, words: Words) -> Graded:
    """Return the result of one submission; whatever the student's code does ends as outcomes of its cases."""
    known = _versions(server)
    started = time.perf_counter()
    pending = GPU_POINTS if config.gpu == "required" else 0
    if isinstance(submission, Rejected):
        rejected = Finding(submission.code, submission.details)
        result = SubmissionResult(
            submission.student, submission.file, submission.sha256, "cpu", rejected=rejected, versions=known
        )
        return Graded(result, {"wall_s": time.perf_counter() - started})

    handle = SubmissionHandle(server, submission.cells, spoken(words, config.feedback))
    try:
        tests, gradescope = _run_hidden_tests(handle)
        if config.feedback == "example":
            tests = _with_examples(handle, tests)
    finally:
        handle.close()
    result = SubmissionResult(
        student=submission.student,
        file=submission.file,
        sha256=submission.sha256,
        device="cpu",
        tests=tests,
        notes=(*(Finding(code, details) for code, details in submission.remarks), *handle.notes),
        pending_points=pending,
        confinement=server.layers,
        versions=known,
        gradescope=gradescope,
    )
    return Graded(result, {"wall_s": time.perf_counter() - started, "child_cpu_s": handle.submission.cpu_s})


def _with_examples(handle: SubmissionHandle, tests: tuple[TestResult, ...]) -> tuple[TestResult, ...]:
    """Add the shortest failing example to the first failed case of every question."""
    failed: dict[str, list[TestResult]] = {}
    for test in tests:
        if test.status == "failed":
            failed.setdefault(test.question, []).append(test)
    examples = {
        cases[0].id: shortest_example(handle.submission, [scenarios()[case.id] for case in cases])
        for cases in failed.values()
    }
    return tuple(replace(test, example=examples.get(test.id)) for test in tests)


def _run_hidden_tests(handle: SubmissionHandle) -> tuple[tuple[TestResult, ...], dict[str, Any]]:
    from otter.run.run_autograder.autograder_config import AutograderConfig
    from otter.test_files import GradingResults

    tests = []
    for file in hidden_test_files():
        file.run({"submission": handle})
        for outcome in file.test_case_results:
            case, points = outcome.test_case.name, int(outcome.test_case.points)
            verdict = handle.verdict(case)
            earned = points if outcome.passed else 0
            tests.append(TestResult(case, file.name, verdict.status, earned, points, verdict.finding))
    gradescope = GradingResults(list(hidden_test_files())).to_gradescope_dict(AutograderConfig())
    return tuple(tests), dict(gradescope)
