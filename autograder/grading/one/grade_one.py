"""Grading one submission: Otter runs the hidden tests against the handle, and their outcome becomes a result."""

import hashlib
import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from autograder import __version__, contract, hidden_tests
from autograder.config import Config
from autograder.contract.finding import Finding
from autograder.contract.scenarios import scenarios
from autograder.grading.one.example import shortest_example
from autograder.grading.one.gradescope import NotGradable, gradescope, receipt, rejection
from autograder.grading.one.judge import SubmissionHandle
from autograder.intake.submission import Rejected, Submission
from autograder.reporting.feedback import spoken
from autograder.reporting.results import GPU_POINTS, SubmissionResult, TestResult
from autograder.reporting.words import Words
from autograder.sandbox.client import Server

CPU_FILES = ("q1_ledger", "q2_prefill", "q3_decode", "q4_reconstruction", "q5_lifecycle")


@dataclass(frozen=True)
class Graded:
    """A result and what it cost, in seconds."""

    result: SubmissionResult
    timing: dict[str, float]


@cache
def hidden_test_files(names: tuple[str, ...]) -> tuple[Any, ...]:
    """Return Otter's test files in this order; they are reused from one submission to the next."""
    from otter.nbmeta_config import NBMetadataConfig
    from otter.test_files import create_test_file

    folder = Path(hidden_tests.__file__).parent
    return tuple(create_test_file(str(folder / f"{name}.py"), NBMetadataConfig()) for name in names)


@cache
def tests_version() -> str:
    """Return one hash over the hidden tests and the contract: two results compare only when it is the same."""
    sources = [*Path(hidden_tests.__file__).parent.glob("*.py"), *Path(contract.__file__).parent.glob("*.py")]
    digest = hashlib.sha256()
    for path in sorted(sources, key=lambda p: p.name):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def versions_of(server: Server) -> dict[str, str]:
    """Return the versions of everything that a result may depend on."""
    return {
        "autograder": __version__,
        "otter": version("otter-grader"),
        **server.versions,
        "tests": tests_version(),
    }


def grade_one(server: Server, submission: Submission | Rejected, config: Config, words: Words) -> Graded:
    """Return the result of one submission; whatever the student's code does ends as outcomes of its cases."""
    known = versions_of(server)
    started = time.perf_counter()
    pending = GPU_POINTS if config.gpu == "required" else 0
    if isinstance(submission, Rejected):
        rejected = Finding(submission.code, submission.details)
        result = SubmissionResult(
            student=submission.student,
            file=submission.file,
            sha256=submission.sha256,
            device="cpu",
            rejected=rejected,
            versions=known,
            gradescope=gradescope(not_gradable(words.sentence(rejected)), rejection(rejected, words)),
        )
        return Graded(result, {"wall_s": time.perf_counter() - started})

    handle = SubmissionHandle(server, submission.cells, spoken(words, config.feedback), submission.helpers)
    try:
        tests = run_hidden_tests(handle, hidden_test_files(CPU_FILES))
        notes = (*remarks(submission), *handle.notes)
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
        notes=notes,
        pending_points=pending,
        confinement=server.layers,
        versions=known,
        gradescope=gradescope(otter_results(CPU_FILES), receipt(notes, handle.verdicts.values(), config, words)),
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


def remarks(submission: Submission) -> tuple[Finding, ...]:
    """Return what intake noticed about a file."""
    return tuple(Finding(code, details) for code, details in submission.remarks)


def not_gradable(sentence: str) -> Any:
    """Return Otter's results with every case failed for the same reason."""
    for file in hidden_test_files(CPU_FILES):
        file.run({"submission": NotGradable(sentence)})
    return otter_results(CPU_FILES)


def run_hidden_tests(handle: SubmissionHandle, files: Iterable[Any]) -> tuple[TestResult, ...]:
    """Return the outcome of every case, as Otter runs them."""
    tests = []
    for file in files:
        file.run({"submission": handle})
        for outcome in file.test_case_results:
            case, points = outcome.test_case.name, int(outcome.test_case.points)
            verdict = handle.verdict(case)
            earned = points if outcome.passed else 0
            tests.append(TestResult(case, case.partition(".")[0], verdict.status, earned, points, verdict.finding))
    return tuple(tests)


def otter_results(names: tuple[str, ...]) -> Any:
    """Return Otter's own results of the last submission."""
    from otter.test_files import GradingResults

    return GradingResults(list(hidden_test_files(names)))
