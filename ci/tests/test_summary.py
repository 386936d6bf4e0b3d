"""What CI shows of a run: pseudonyms that a class list does not undo, and JUnit XML that any reader takes."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from reporting_samples import EVERY_KIND, FULL, MIXED, REJECTED

from autograder.findings import Finding
from autograder.reporting.junit import junit
from autograder.reporting.results import grade_line
from autograder.reporting.summary import pseudonyms, render_summary, who_is_who
from autograder.reporting.words import LANGUAGES, Words

RUN = [replace(FULL, student="ada"), replace(MIXED, student="bob", sha256="cd" * 32), replace(REJECTED, student="eve")]


def test_pseudonyms_are_distinct_and_the_same_for_the_same_run():
    assert len(set(pseudonyms(RUN).values())) == len(RUN)
    assert pseudonyms(RUN) == pseudonyms(list(reversed(RUN)))


def test_a_pseudonym_changes_with_any_submission_of_the_run():
    other = [*RUN[:-1], replace(RUN[-1], sha256="ef" * 32)]
    assert pseudonyms(RUN)["ada"] != pseudonyms(other)["ada"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_summary_has_a_row_per_student_and_no_name(lang):
    names = pseudonyms(RUN)
    summary = render_summary([grade_line(result) for result in RUN], names, Words(lang))
    rows = [line for line in summary.splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == sorted(names.values())
    assert {len(line.split("|")) for line in summary.splitlines() if line.startswith("|")} == {15}
    assert not [name for name in names if f" {name} " in summary]


def test_the_staffs_list_holds_everyone():
    names = pseudonyms(RUN)
    lines = who_is_who(names).decode().splitlines()
    assert lines[0] == "pseudonym,student"
    assert set(lines[1:]) == {f"{pseudonym},{student}" for student, pseudonym in names.items()}


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_junit_has_one_case_per_test_and_counts_them(kind):
    result = EVERY_KIND[kind]
    suite = ElementTree.fromstring(junit(result, Words("en")))
    assert int(suite.get("tests")) == len(suite) == max(1, len(result.tests))
    for attribute, status in (("failures", "failed"), ("errors", "could not run"), ("skipped", "not attempted")):
        expected = sum(test.status == status for test in result.tests)
        assert int(suite.get(attribute)) == expected + (attribute == "errors" and result.rejected is not None)


def test_junit_survives_what_xml_cannot_hold():
    hostile = Finding("merge.contradiction", {"case": "\x00\x1b]0;\ud800\ufffe<&>"})
    result = replace(MIXED, tests=(replace(MIXED.tests[1], finding=hostile),))
    [failure] = ElementTree.fromstring(junit(result, Words("en"))).iter("failure")
    assert "<&>" in failure.get("message")
