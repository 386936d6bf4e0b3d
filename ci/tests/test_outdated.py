"""What rendering again cannot do is said once, and only where it is so."""

from dataclasses import replace

import pytest
from reporting_samples import EXAMPLE, FULL, GPU, MIXED, REJECTED

from autograder.config import Config
from autograder.grading.many.outdated import needs_a_new_run
from autograder.grading.one import hidden_test_files

NOW = {"tests": hidden_test_files.tests_version()}
BARE = replace(MIXED, versions=NOW, tests=tuple(replace(test, example=None) for test in MIXED.tests))
SHOWN = replace(BARE, tests=MIXED.tests)
"""One failed case with an example and one without, as grading leaves them: the first of a question alone has one."""


@pytest.mark.parametrize(
    ("results", "feedback", "found"),
    [
        ([SHOWN, replace(FULL, versions=NOW)], "example", []),
        ([BARE], "hint", []),
        ([BARE, SHOWN, BARE], "example", [("outdated.examples", 2)]),
        ([FULL, replace(FULL, versions=NOW), replace(FULL, versions={})], "hint", [("outdated.tests", 1)]),
        ([REJECTED, GPU], "example", []),
        ([replace(BARE, versions={"tests": "t1"})], "example", [("outdated.tests", 1), ("outdated.examples", 1)]),
    ],
)
def test_only_what_the_settings_ask_for_and_the_results_lack_is_named(results, feedback, found):
    named = needs_a_new_run(results, Config(feedback=feedback))
    assert [(finding.code, finding.details["count"]) for finding in named] == found
    assert EXAMPLE in [test.example for test in SHOWN.tests]
