"""What rendering a run again cannot do, because the results were made under other settings."""

from collections.abc import Collection

from autograder.config import Config
from autograder.findings import Finding
from autograder.grading.one.hidden_test_files import tests_version
from autograder.reporting.results import SubmissionResult


def needs_a_new_run(results: Collection[SubmissionResult], config: Config) -> list[Finding]:
    """Return, one finding each, what the course's present settings ask for and these results do not have."""
    graded = [result for result in results if result.rejected is None and "cpu" in result.device.split("+")]
    other_tests = [result for result in graded if result.versions.get("tests") not in (None, tests_version())]
    failed = [[test for test in result.tests if test.status == "failed"] for result in graded]
    unshown = [tests for tests in failed if tests and not any(test.example for test in tests)]
    found = []
    if other_tests:
        found.append(Finding("outdated.tests", {"count": len(other_tests)}))
    if config.feedback == "example" and unshown:
        found.append(Finding("outdated.examples", {"count": len(unshown)}))
    return found
