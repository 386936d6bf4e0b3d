"""The class page: everyone enrolled once, figures checked by hand, nothing from outside."""

import csv
import io
import re
from dataclasses import replace

import pytest
from reporting_samples import FULL, MIXED, REJECTED

from autograder.findings import Finding
from autograder.identity import Identity
from autograder.reporting.class_page import render_class
from autograder.reporting.gradebook import NO_LIST, ClassList, Listed, grades_csv
from autograder.reporting.results import TestResult, grade_line
from autograder.reporting.standing import Request, Standing
from autograder.reporting.statistics import statistics
from autograder.reporting.words import Words

CLASS = {
    name: replace(sample, student=name, who=Identity("canvas", str(number), name=name))
    for number, (name, sample) in enumerate((("ada", FULL), ("bo", MIXED), ("cy", REJECTED), ("<b>dee</b>", FULL)))
}


def page(lang="en", size=None):
    results = size or CLASS
    lines = [grade_line(result) for result in results.values()]
    return render_class(results, lines, ClassList({}, (Listed("77", "Eve Absent"),)), {"ada"}, Words(lang))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_everyone_enrolled_has_one_row_with_links_only_to_what_exists(lang):
    html = page(lang)
    assert len(re.findall(r"<tr data-s=", html)) == len(CLASS) + 1
    assert html.count('href="students/') == len(CLASS)
    assert re.findall(r'href="bundles/([^"]*)"', html) == ["ada.zip"]
    assert "Eve Absent" in html
    assert "unknown" not in html.lower()


@pytest.mark.parametrize(
    ("listed", "shown"),
    [
        (NO_LIST, ["Ada", "Bo", "Cy"]),
        (ClassList({"team": (Listed("7", "Lovelace, Ada"), Listed("8", "Bo, Cy"))}), ["Bo, Cy", "Lovelace, Ada"]),
    ],
    ids=["as the download names them", "as the class list does"],
)
def test_those_who_share_a_submission_have_a_row_each(listed, shown):
    team = replace(FULL, student="team", who=Identity("moodle", "5", name="Ada", members=("Cy", "Bo")))
    html = render_class({"team": team}, [grade_line(team)], listed, set(), Words("en"))
    rows = re.findall(r"<tr data-s=.*?</tr>", html, re.DOTALL)
    assert [next(name for name in shown if name in row) for row in rows] == shown
    assert all("students/team" in row for row in rows)
    grades = list(csv.DictReader(io.StringIO(grades_csv([team], listed).decode(), newline="")))
    assert sorted(row["name"] for row in grades) == shown
    assert {(row["student"], row["points"]) for row in grades} == {("team", str(team.points))}


def test_requests_show_with_their_states_and_only_where_there_are_any():
    asked = Standing(80, 80, requests=(Request("q3.basic", "open"), Request("q1.basic", "granted")))
    lines = [grade_line(result, asked if name == "bo" else None) for name, result in CLASS.items()]
    html = render_class(CLASS, lines, NO_LIST, set(), Words("en"))
    assert "Requests for another look: open 1, granted 1" in html
    [bo] = [row for row in re.findall(r"<tr data-s=.*?</tr>", html, re.DOTALL) if ">bo<" in row]
    assert "q3.basic: open; q1.basic: granted" in bo
    assert html.count("q3.basic: open") == 1
    assert "Requests" not in page()


def test_a_list_fills_in_what_a_download_does_not_tell_of_one_person():
    ada = replace(FULL, student="ada", who=Identity("", name="ada.ipynb", email="ada@x.edu"))
    listed = ClassList({"ada": (Listed("7", "Ada Lovelace", "al1"),)})
    [row] = csv.DictReader(io.StringIO(grades_csv([ada], listed).decode(), newline=""))
    assert [row[key] for key in ("student", "id", "login", "name", "email")] == [
        "ada", "7", "al1", "Ada Lovelace", "ada@x.edu",
    ]  # fmt: skip


def test_rows_stand_in_the_order_of_names_whatever_the_ids_say():
    names = ["Zoë", "Ann", "Mia"]
    run = {n: replace(FULL, student=n, who=Identity("canvas", str(i), name=n)) for i, n in enumerate(names)}
    html = render_class(
        run, [grade_line(r) for r in run.values()], ClassList({}, (Listed("0", "Lea"),)), set(), Words("en")
    )
    rows = re.findall(r"<tr data-s=.*?</tr>", html, re.DOTALL)
    assert [next(name for name in (*names, "Lea") if name in row) for row in rows] == ["Ann", "Lea", "Mia", "Zoë"]


def test_a_name_is_text_and_nothing_is_loaded_from_outside():
    html = page()
    assert "<b>dee</b>" not in html
    assert "&lt;b&gt;dee" in html
    assert not re.findall(r'(?:src|href)="(?!students/|bundles/|#)', html)
    assert "default-src 'none'" in html


def test_three_thousand_students_fit_into_three_megabytes():
    many = {f"student-{n}": replace(MIXED, student=f"student-{n}") for n in range(3000)}
    assert len(page(size=many).encode()) < 3_000_000


def case(points: int, name: str = "q1.a", status: str = "failed") -> TestResult:
    finding = None if points else Finding("ledger.wrong" if status == "failed" else "open.todo")
    return TestResult(name, "q1", "passed" if points else status, points, 2, finding)


def test_facility_correlation_and_untouched_are_what_one_counts_by_hand():
    rows = [(2, 2), (2, 2), (0, 0), (0, 2)]
    results = [replace(FULL, tests=(case(a, "q1.a"), case(b, "q1.b"))) for a, b in rows]
    results.append(replace(FULL, tests=(case(0, "q1.a", "not attempted"), case(0, "q1.b", "not attempted"))))
    figures = statistics(results)
    first, second = figures.cases
    assert (first.facility, second.facility) == (0.4, 0.6)
    assert first.untouched == second.untouched == 0.2
    assert first.correlation == pytest.approx(0.6667, abs=1e-3)
    assert figures.median == 2
    assert sum(figures.histogram) == 5
    assert figures.rules == (("ledger.wrong", 2),)


def test_a_case_that_all_pass_has_no_correlation():
    figures = statistics([replace(FULL, tests=(case(2, "q1.a"), case(n, "q1.b"))) for n in (0, 2)])
    assert figures.cases[0].correlation is None
