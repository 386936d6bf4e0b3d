"""How much of a result a student may see."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal, get_args

from autograder.findings import Finding
from autograder.reporting.results import SubmissionResult, TestResult
from autograder.reporting.words import Words

Policy = Literal["score", "hint", "example"]
POLICIES: tuple[Policy, ...] = get_args(Policy)
MOST_TOLD = 3
"""Different broken rules that hints name in one question; a student who mends them is told the next ones."""
WITHHELD = Finding("withheld")
UNJUDGED = ("open.", "waiting")


class Hints:
    """What hints say of one submission, case by case: a few rules of each question, and one word for all others.

    A submission that fails as it likes could else carry the hidden cases out in its findings within a few pushes.
    """

    def __init__(self) -> None:
        self._told: dict[str, list[Finding]] = {}

    def told(self, question: str, finding: Finding) -> Finding:
        """Return the finding of a case of this question, or the word that there is one more.

        A case that was not judged names the TODO that it waits for, whatever else is told.
        """
        if finding.code.startswith(UNJUDGED):
            return finding
        told = self._told.setdefault(question, [])
        if finding not in told and len(told) < MOST_TOLD:
            told.append(finding)
        return finding if finding in told else WITHHELD


def visible(result: SubmissionResult, policy: Policy) -> SubmissionResult:
    """Return ``result`` without what ``policy`` hides.

    ``score`` shows points and states only, ``hint`` adds the broken rule in words, a few of each question,
    ``example`` all of them and the shortest failing example. Which TODO is still open, why a file could not be graded
    and the notes about its cells say nothing about the hidden tests and are always shown.
    """
    if policy == "example":
        return result
    hints = Hints() if policy == "hint" else None
    return replace(result, tests=tuple(_visible(test, hints) for test in result.tests))


def _visible(test: TestResult, hints: Hints | None) -> TestResult:
    finding = test.finding
    if finding and test.status != "not attempted":
        finding = hints.told(test.question, finding) if hints else None
    return test if finding is test.finding and test.example is None else replace(test, example=None, finding=finding)


def spoken(words: Words, policy: Policy) -> Callable[[str, Finding], str]:
    """Return how a submission's findings, each with its question, are put into Otter's messages.

    As a sentence, or not at all where ``policy`` hides it.
    """
    if policy == "score":
        return lambda question, finding: ""
    hints = Hints()
    return lambda q, finding: words.sentence(finding if policy == "example" else hints.told(q, finding))
