"""Rows that come from elsewhere: a journal is a file, and OUT a folder that others may have written to."""

from collections.abc import Mapping

from autograder.outside.names import file_name
from autograder.reporting.results import WORST_FIRST, SubmissionResult, TestResult, grade_line
from autograder.reporting.schema import from_row

_MOST_POINTS = 1000


def result_of(data: object) -> SubmissionResult | None:
    """Return the result that a row holds, or None where no grader can have written it."""
    if not isinstance(data, Mapping):
        return None
    try:
        result = from_row(data)
        if not _is_possible(result):
            return None
        grade_line(result)
    except (AssertionError, AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError):
        return None
    return result


def _is_possible(result: SubmissionResult) -> bool:
    names = (result.student, result.file, result.sha256, result.device)
    return (
        all(type(name) is str for name in names)
        and file_name(result.student) == result.student
        and type(result.pending_points) is int
        and 0 <= result.pending_points <= _MOST_POINTS
        and all(isinstance(part, Mapping) for part in (result.versions, result.confinement, result.gradescope))
        and all(map(_is_possible_test, result.tests))
    )


def _is_possible_test(test: TestResult) -> bool:
    points = (test.points, test.max_points)
    return (
        all(type(name) is str for name in (test.id, test.question))
        and test.status in WORST_FIRST
        and all(type(number) is int for number in points)
        and 0 <= test.points <= test.max_points <= _MOST_POINTS
    )
