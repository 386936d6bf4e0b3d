"""How much of a result a student may see."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, get_args

from autograder.findings import Finding
from autograder.reporting.results import SubmissionResult, TestResult
from autograder.reporting.words import Words

Policy = Literal["score", "hint", "example"]
POLICIES: tuple[Policy, ...] = get_args(Policy)


def visible(result: SubmissionResult, policy: Policy) -> SubmissionResult:
    """Return ``result`` without what ``policy`` hides.

    ``score`` shows points and states only, ``hint`` adds the broken rule in words, ``example`` the shortest failing
    example as well. Which TODO is still open, why a file could not be graded and the notes about its cells say nothing
    about the hidden tests and are always shown.
    """
    if policy == "example":
        return result
    return replace(result, tests=tuple(_visible(test, policy) for test in result.tests))


def _visible(test: TestResult, policy: Policy) -> TestResult:
    shown = policy == "hint" or test.status == "not attempted"
    if test.example is None and (shown or test.finding is None):
        return test
    return replace(test, example=None, finding=test.finding if shown else None)


def spoken(words: Words, policy: Policy) -> Callable[[Finding], str]:
    """Return how a finding is put into Otter's messages: as its sentence, or not at all where ``policy`` hides it."""
    return words.sentence if policy != "score" else lambda finding: ""
