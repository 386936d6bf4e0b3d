"""What a class tells about itself and about the cases: spread, difficulty, how well a case parts strong from weak."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import median

from autograder.reporting.results import SubmissionResult, TestResult

BINS = 10


@dataclass(frozen=True, slots=True)
class CaseStatistics:
    """One case over the class, in shares of 1.

    ``facility`` is the share of its points that was earned, ``correlation`` that of the case with all other cases
    (None where either does not vary), ``untouched`` the share that did not attempt it.
    """

    id: str
    facility: float
    correlation: float | None
    untouched: float


@dataclass(frozen=True)
class ClassStatistics:
    """A class in figures; ``histogram`` counts totals in tenths of what could be earned."""

    count: int
    median: float | None
    histogram: tuple[int, ...]
    cases: tuple[CaseStatistics, ...]
    rules: tuple[tuple[str, int], ...]


def statistics(results: Collection[SubmissionResult]) -> ClassStatistics:
    """Return the figures of all graded results."""
    graded = [result for result in results if result.rejected is None and result.max_points]
    histogram = [0] * BINS
    for result in graded:
        histogram[min(BINS - 1, BINS * result.points // result.max_points)] += 1
    middle = median(result.points for result in graded) if graded else None
    return ClassStatistics(len(graded), middle, tuple(histogram), tuple(_cases(graded)), tuple(_rules(graded)))


def broken_rules(result: SubmissionResult) -> list[str]:
    """Return the codes of what went wrong in a result, each once, in order of appearance; an open TODO is none."""
    return list(dict.fromkeys(t.finding.code for t in result.tests if t.finding and t.status != "not attempted"))


def _rules(results: Sequence[SubmissionResult]) -> list[tuple[str, int]]:
    return Counter(code for result in results for code in broken_rules(result)).most_common()


def _cases(results: Sequence[SubmissionResult]) -> list[CaseStatistics]:
    seen: dict[str, list[tuple[TestResult, int]]] = defaultdict(list)
    for result in results:
        for test in result.tests:
            if test.max_points:
                seen[test.id].append((test, result.points))
    return [_case(name, outcomes) for name, outcomes in seen.items()]


def _case(name: str, outcomes: Sequence[tuple[TestResult, int]]) -> CaseStatistics:
    count = len(outcomes)
    own = [test.points for test, _ in outcomes]
    rest = [total - test.points for test, total in outcomes]
    facility = sum(own) / sum(test.max_points for test, _ in outcomes)
    untouched = sum(test.status == "not attempted" for test, _ in outcomes) / count
    return CaseStatistics(name, facility, _correlation(own, rest), untouched)


def _correlation(xs: Sequence[int], ys: Sequence[int]) -> float | None:
    n = len(xs)
    sx, sy = sum(xs), sum(ys)
    vx = n * sum(x * x for x in xs) - sx * sx
    vy = n * sum(y * y for y in ys) - sy * sy
    if not vx or not vy:
        return None
    return (n * sum(x * y for x, y in zip(xs, ys, strict=True)) - sx * sy) / sqrt(vx * vy)
