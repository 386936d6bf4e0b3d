"""The result of one submission, and its shape in results.json (schema ``autograder-results/1``)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, Literal

from autograder.contract.questions import questions
from autograder.findings import Finding
from autograder.identity import NOBODY, Identity
from autograder.reporting.standing import Request, Standing

SCHEMA = "autograder-results/1"

Status = Literal["passed", "failed", "not attempted", "could not run"]
WORST_FIRST: tuple[Status, ...] = ("failed", "could not run", "not attempted", "passed")


@dataclass(frozen=True)
class TestResult:
    """One hidden test case: ``points`` are what it earned of ``max_points``."""

    __test__ = False

    id: str
    question: str
    status: Status
    points: int
    max_points: int
    finding: Finding | None = None
    example: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """The cases of one question, added up."""

    points: int
    max_points: int
    status: Status


@dataclass(frozen=True)
class SubmissionResult:
    """Everything known about one graded or not gradable submission; times are kept elsewhere.

    ``helpers`` is the SHA-256 of the modules handed in beside the file, empty where there were none.
    """

    student: str
    file: str
    sha256: str
    device: str
    tests: tuple[TestResult, ...] = ()
    rejected: Finding | None = None
    notes: tuple[Finding, ...] = ()
    pending_points: int = 0
    confinement: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    gradescope: Mapping[str, Any] = field(default_factory=dict)
    who: Identity = NOBODY
    helpers: str = ""

    @property
    def handed_in(self) -> tuple[str, str]:
        """What a submission is known by: the hash of its file and that of what lay beside it."""
        return self.sha256, self.helpers

    @property
    def status(self) -> str:
        """``graded`` or ``not gradable``."""
        return "graded" if self.rejected is None else "not gradable"

    @cached_property
    def points(self) -> int:
        """Points earned so far."""
        return sum(test.points for test in self.tests)

    @cached_property
    def max_points(self) -> int:
        """Points that could be earned in the parts graded so far."""
        return sum(test.max_points for test in self.tests)

    @cached_property
    def questions(self) -> dict[str, QuestionResult]:
        """Every question that was graded, in order of appearance."""
        asked: dict[str, list[TestResult]] = {}
        for test in self.tests:
            asked.setdefault(test.question, []).append(test)
        return {name: _add_up(tests) for name, tests in asked.items()}


def under_policy(result: SubmissionResult, gpu: str) -> SubmissionResult:
    """Return ``result`` as the course's present word on the GPU part has it, whatever it was when it was graded."""
    if result.rejected or "cpu" not in result.device.split("+"):
        return result
    if gpu == "off":
        cpu = tuple(test for test in result.tests if test.question not in questions().of("gpu"))
        return replace(result, tests=cpu, pending_points=0)
    graded = sum(test.max_points for test in result.tests if test.question in questions().of("gpu"))
    pending = max(0, questions().parts["gpu"] - graded) if gpu == "required" else 0
    return result if pending == result.pending_points else replace(result, pending_points=pending)


def _add_up(tests: list[TestResult]) -> QuestionResult:
    seen = {test.status for test in tests}
    worst: Status = next((s for s in WORST_FIRST if s in seen), "passed")
    return _question_result(sum(t.points for t in tests), sum(t.max_points for t in tests), worst)


@cache
def _question_result(points: int, max_points: int, status: Status) -> QuestionResult:
    """Return the one object for these values: a class of thousands has few different ones."""
    return QuestionResult(points, max_points, status)


@dataclass(frozen=True, slots=True)
class GradeLine:
    """A result reduced to its row of grades.csv; ``final`` is the grade as it stands, None while it is held back."""

    student: str
    file: str
    status: str
    points: int
    max_points: int
    pending_points: int
    questions: Mapping[str, QuestionResult]
    rejected: Finding | None
    who: Identity = NOBODY
    final: float | None = None
    requests: tuple[Request, ...] = ()


def grade_line(result: SubmissionResult, standing: Standing | None = None) -> GradeLine:
    """Return the part of ``result`` that a class list needs."""
    held = standing is not None and bool(standing.held)
    final = None if held or result.rejected else standing.final if standing else float(result.points)
    return GradeLine(
        result.student,
        result.file,
        "held" if held else result.status,
        result.points,
        result.max_points,
        result.pending_points,
        result.questions,
        result.rejected,
        result.who,
        final,
        standing.requests if standing else (),
    )
