"""Grading one submission: Otter runs the hidden tests against the handle, and their outcome becomes a result."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from typing import Any

from autograder import __version__
from autograder.config import Config
from autograder.contract.questions import question_of, questions
from autograder.contract.seed import read_seed
from autograder.grading.one.beside_engine import beside_engine
from autograder.grading.one.example import shortest_example
from autograder.grading.one.gradescope import NotGradable, gradescope, receipt, rejection
from autograder.grading.one.hidden_test_files import hidden_test_files, otter_results, tests_version
from autograder.grading.one.judge import SubmissionHandle
from autograder.grading.one.stories import judged_stories
from autograder.intake.submission import Rejected, Submission
from autograder.outside.helpers_file import helpers_sha256
from autograder.reporting.feedback import spoken
from autograder.reporting.results import SubmissionResult, TestResult
from autograder.reporting.words import Words
from autograder.sandbox.client import Server


@dataclass(frozen=True)
class Graded:
    """A result and what it cost, in seconds."""

    result: SubmissionResult
    timing: dict[str, float]


def versions_of(server: Server) -> dict[str, str]:
    """Return the versions of everything that a result may depend on."""
    return {
        "autograder": __version__,
        "otter": _otter_version(),
        **server.versions,
        "tests": tests_version(),
    }


@cache
def _otter_version() -> str:
    return version("otter-grader")


def grade_one(server: Server, submission: Submission | Rejected, config: Config, words: Words) -> Graded:
    """Return the result of one submission; whatever the student's code does ends as outcomes of its cases."""
    seed = read_seed(config.seed_file)
    known = {**versions_of(server), "seed": seed.sha256}
    started = time.perf_counter()
    pending = questions().parts["gpu"] if config.gpu == "required" else 0
    if isinstance(submission, Rejected):
        result = SubmissionResult(
            student=submission.student,
            file=submission.file,
            sha256=submission.sha256,
            device="cpu",
            rejected=submission.finding,
            versions=known,
            gradescope=gradescope(
                not_gradable(words.sentence(submission.finding)), rejection(submission.finding, words)
            ),
        )
        return Graded(result, {"wall_s": time.perf_counter() - started})

    handle = SubmissionHandle(server, submission.cells, spoken(words, config.feedback), seed, submission.helpers)
    try:
        tests = run_hidden_tests(handle, hidden_test_files("cpu"))
        examples = judged_stories(submission.cells)
        notes = (*submission.remarks, *handle.notes, *([examples] if examples else ()))
        beside = beside_engine(handle.submission, tests)
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
        notes=(*notes, *beside),
        pending_points=pending,
        confinement=server.layers,
        versions=known,
        helpers=helpers_sha256(submission.helpers),
        gradescope=gradescope(otter_results("cpu"), receipt(notes, handle.verdicts.values(), config, words)),
    )
    return Graded(result, {"wall_s": time.perf_counter() - started, "child_cpu_s": handle.submission.cpu_s})


def _with_examples(handle: SubmissionHandle, tests: tuple[TestResult, ...]) -> tuple[TestResult, ...]:
    """Add the shortest failing example to the first failed case of every question."""
    failed: dict[str, list[TestResult]] = {}
    for test in tests:
        if test.status == "failed":
            failed.setdefault(test.question, []).append(test)
    examples = {
        cases[0].id: shortest_example(handle.submission, [form for case in cases for form in handle.to_show(case.id)])
        for cases in failed.values()
    }
    return tuple(replace(test, example=examples.get(test.id)) for test in tests)


def not_gradable(sentence: str) -> Any:
    """Return Otter's results with every case failed for the same reason."""
    for file in hidden_test_files("cpu"):
        file.run({"submission": NotGradable(sentence)})
    return otter_results("cpu")


def run_hidden_tests(handle: SubmissionHandle, files: Iterable[Any]) -> tuple[TestResult, ...]:
    """Return the outcome of every case, as Otter runs them."""
    tests = []
    for file in files:
        file.run({"submission": handle})
        for outcome in file.test_case_results:
            case, points = outcome.test_case.name, int(outcome.test_case.points)
            verdict = handle.verdicts[case]
            assert outcome.passed == (verdict.status == "passed"), f"Otter and the verdict on {case} disagree"
            earned = points if outcome.passed else 0
            tests.append(TestResult(case, question_of(case), verdict.status, earned, points, verdict.finding))
    return tuple(tests)
