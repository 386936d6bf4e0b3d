"""results.json, the journal's row, feedback policies and grades.csv."""

import csv
import io
import json
from dataclasses import replace
from importlib.resources import files

import jsonschema
import pytest
from reporting_samples import EVERY_KIND, FULL, MIXED, REJECTED

from autograder.identity import Identity
from autograder.reporting.feedback import POLICIES, visible
from autograder.reporting.files import write_atomic
from autograder.reporting.gradebook import COLUMNS, ClassList, Listed, grades_csv, write_student
from autograder.reporting.results import grade_line
from autograder.reporting.schema import from_row, row, to_bytes, to_json
from autograder.reporting.words import LANGUAGES, Words

SCHEMA = json.loads((files("autograder.reporting") / "results.schema.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("sample", EVERY_KIND.values(), ids=EVERY_KIND)
def test_results_json_follows_its_schema(sample, lang, policy):
    jsonschema.validate(to_json(visible(sample, policy), Words(lang)), SCHEMA)


def test_a_question_shows_the_worst_of_its_cases_and_a_fault_before_a_death():
    worst_first = ("failed", "could not run", "not attempted", "passed")
    for start in range(len(worst_first)):
        cases = [replace(FULL.tests[0], id=f"q1.{status}", status=status) for status in worst_first[start:]]
        for tests in (cases, cases[::-1]):
            assert replace(FULL, tests=tuple(tests)).questions["q1"].status == worst_first[start]


def test_pending_points_are_not_lost_points():
    data = to_json(FULL, Words("en"))
    assert (data["points"], data["max_points"], data["pending_points"]) == (80, 80, 20)


def test_a_file_that_cannot_be_graded_says_why():
    assert to_json(REJECTED, Words("en"))["reason"]["code"] == "intake.truncated"


@pytest.mark.parametrize("sample", EVERY_KIND.values(), ids=EVERY_KIND)
def test_a_row_that_went_through_json_gives_the_same_files(sample):
    again = from_row(json.loads(json.dumps(row(sample))))
    assert again == sample
    assert to_bytes(to_json(again, Words("zh"))) == to_bytes(to_json(sample, Words("zh")))


def test_a_lone_surrogate_can_be_written():
    assert json.loads(to_bytes({"name": "\ud800"}))["name"] == "?"


def test_scores_alone_say_nothing_about_hidden_tests():
    shown = visible(MIXED, "score")
    assert [test.finding for test in shown.tests if test.status in ("failed", "could not run")] == [None, None, None]
    assert [test.finding.code for test in shown.tests if test.status == "not attempted"] == ["open.todo"]
    assert shown.points == MIXED.points


def test_hints_name_the_rule_but_show_no_example():
    shown = visible(MIXED, "hint")
    assert [test.example for test in shown.tests] == [None] * len(MIXED.tests)
    assert [test.finding for test in shown.tests] == [test.finding for test in MIXED.tests]


def test_grades_are_sorted_and_leave_ungraded_questions_empty():
    table = grades_csv([replace(MIXED, student="zoë"), grade_line(replace(FULL, student="李雷")), FULL]).decode()
    header, *lines = csv.reader(io.StringIO(table))
    assert header == list(COLUMNS)
    assert [line[0] for line in lines] == ["ada", "zoë", "李雷"]
    assert lines[0][2:15] == ["15", "20", "20", "15", "10", "", "", "", "", "80", "80", "20", "80"]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1"])
def test_a_name_is_never_a_formula(name):
    who = Identity("canvas", name, name, name, name, received=name)
    table = grades_csv(
        [replace(FULL, student=name, who=who)], ClassList({}, (Listed(name, name, name, name),))
    ).decode()
    graded, missing = list(csv.reader(io.StringIO(table)))[1:]
    assert [graded[0], *graded[-6:-1]] == [f"'{name}"] * 6
    assert [missing[0], *missing[-6:-2]] == [f"'{name}"] * 5


def test_grades_do_not_depend_on_the_order_of_results():
    results = [replace(FULL, student=name) for name in "cab"]
    assert grades_csv(results) == grades_csv(reversed(results))


def test_a_student_gets_four_files_and_no_leftovers(tmp_path):
    write_student(tmp_path, MIXED, Words("en"), "hint")
    folder = tmp_path / "students" / "ada"
    names = {path.name for path in folder.iterdir()}
    assert names == {"results.json", "report.html", "report.md", "gradescope.json"}
    first = (folder / "results.json").read_bytes()
    write_student(tmp_path, MIXED, Words("en"), "hint")
    assert (folder / "results.json").read_bytes() == first


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    target = tmp_path / "folder"
    target.mkdir()
    with pytest.raises(OSError, match="folder"):
        write_atomic(target, b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
