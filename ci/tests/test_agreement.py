"""Points come from Otter and statuses from the verdicts: a result in which they disagree is never given out."""

from types import SimpleNamespace

import pytest

from autograder.findings import Finding
from autograder.grading.one.grade_one import run_hidden_tests
from autograder.grading.one.verdict import Verdict

PASSED, FAILED = Verdict("passed"), Verdict("failed", Finding("decode.late"))


def results(passed: bool, verdict: Verdict) -> list[tuple[str, int]]:
    """Return status and points where Otter says that a case of three points passed, or not, and the verdict is this."""
    case = SimpleNamespace(name="q3.grows_when_full", points=3)
    file = SimpleNamespace(run=lambda _: None, test_case_results=[SimpleNamespace(test_case=case, passed=passed)])
    handle = SimpleNamespace(verdicts={"q3.grows_when_full": verdict})
    return [(test.status, test.points) for test in run_hidden_tests(handle, [file])]


def test_where_both_agree_the_points_follow() -> None:
    assert results(True, PASSED) == [("passed", 3)]
    assert results(False, FAILED) == [("failed", 0)]


@pytest.mark.parametrize(("passed", "verdict"), [(True, FAILED), (False, PASSED)])
def test_where_they_disagree_there_is_no_result(passed: bool, verdict: Verdict) -> None:
    with pytest.raises(AssertionError, match=r"q3\.grows_when_full disagree"):
        results(passed, verdict)
