"""Rows that come from elsewhere: a journal is a file, and OUT a folder that others may have written to."""

from autograder.outside.names import file_name
from autograder.reporting.results import WORST_FIRST, SubmissionResult, TestResult

_MOST_POINTS = 1000


def is_possible(result: SubmissionResult) -> bool:
    """Tell whether a grader can have written such a result."""
    names = (result.student, result.file, result.sha256, result.helpers, result.device)
    return (
        all(type(name) is str for name in names)
        and file_name(result.student) == result.student
        and type(result.pending_points) is int
        and 0 <= result.pending_points <= _MOST_POINTS
        and all(map(_is_possible_test, result.tests))
    )


def _is_possible_test(test: TestResult) -> bool:
    return (
        type(test.id) is type(test.question) is str
        and test.status in WORST_FIRST
        and type(test.points) is type(test.max_points) is int
        and 0 <= test.points <= test.max_points <= _MOST_POINTS
    )
