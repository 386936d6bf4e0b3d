"""What a class becomes, as facts: the same table is read back from every file of every way to grade it."""

import csv
import functools
import hashlib
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from class_of_forty import CPU, GPU, MARKS, QUESTIONS
from outcomes import (
    FACTS,
    GRADED,
    LOST,
    asked_of,
    due_rules,
    hidden_sentences,
    in_language,
    numbers,
    on_device,
    read_page,
    results,
    totals,
    words_of,
)
from ways import WAYS, Way

from autograder.config import Config
from autograder.grading.many.verify_bundle import verify_bundle
from autograder.reporting.words import Words


@pytest.fixture(scope="session")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Give the OUT of a way by its name; each is gone once per test run."""

    @functools.cache
    def made(name: str) -> Path:
        way = WAYS[name]
        return way.make(way, tmp_path_factory.mktemp("way"), FACTS)

    return made


@pytest.fixture(params=WAYS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def way(name: str) -> Way:
    return WAYS[name]


@pytest.fixture
def out(name: str, graded: Callable[[str], Path]) -> Path:
    return graded(name)


def test_the_table_holds_forty_samples_of_every_kind() -> None:
    assert len(FACTS) >= 40
    assert {status for fact in GRADED.values() for _, status in fact.questions.values()} == set(MARKS.values())
    assert len({fact.reason for fact in FACTS.values()}) >= 6


def test_everybody_is_there_once_and_nobody_else(out: Path) -> None:
    assert sorted(path.name for path in (out / "students").iterdir()) == sorted(FACTS)
    assert not list(out.glob("students/*/error.txt"))


def test_results_json_says_the_points_and_status_of_each_question(out: Path, way: Way) -> None:
    seen = {
        s: {q: (v["points"], v["max_points"], v["status"]) for q, v in results(out, s)["questions"].items()}
        for s in FACTS
    }
    assert seen == {s: asked_of(way, s) for s in FACTS}


def test_results_json_says_status_totals_and_device(out: Path, way: Way) -> None:
    devices = {"": "cpu", "counts": "cpu+fakegpu", "ready": "cpu+fakegpu"}
    for student, fact in FACTS.items():
        data = results(out, student)
        seen = (data["status"], data["points"], data["max_points"], data["pending_points"], data["device"])
        device = devices[way.gpu_part] if on_device(way, student) else "cpu"
        status = "not gradable" if fact.reason else "graded"
        assert seen == (status, *totals(way, student), device), student
        assert data.get("reason", {}).get("code", "") == fact.reason
        assert (data["schema"], data["student"]) == ("autograder-results/1", student)


def test_every_case_adds_to_its_question_and_earns_all_or_nothing(out: Path, way: Way) -> None:
    for student in GRADED:
        tests = results(out, student)["tests"]
        assert len({t["id"] for t in tests}) == len(tests)
        assert all(t["id"].startswith(t["question"] + ".") for t in tests)
        assert all(t["points"] == (t["max_points"] if t["status"] == "passed" else 0) for t in tests), student
        for q, (points, maximum, _) in asked_of(way, student).items():
            mine = [t for t in tests if t["question"] == q]
            assert (sum(t["points"] for t in mine), sum(t["max_points"] for t in mine)) == (points, maximum)


def test_rules_examples_and_sentences_are_shown_as_far_as_the_course_says(out: Path, way: Way) -> None:
    for student, fact in GRADED.items():
        tests = results(out, student)["tests"]
        lost = [t for t in tests if t["status"] in LOST]
        told = {f"{t['question']}:{t['code']}" for t in lost if "code" in t}
        asked = asked_of(way, student)
        assert told == due_rules(way, fact.broken, asked, lost), student
        assert all(bool(t["message"]) == (way.feedback != "score") for t in lost)
        waiting = [t for t in tests if t["status"] == "not attempted"]
        assert all(t["code"].startswith(("open.", "waiting")) for t in waiting), student
        assert all(in_language(t["message"], way.lang) for t in tests if t["message"]), student
        shown = {t["question"] for t in tests if "example" in t}
        failed = {q for q, (_, _, status) in asked.items() if status == "failed" and q in CPU}
        assert shown == (failed if way.feedback == "example" else set()), student


def test_notes_are_always_shown_in_the_language_of_the_course(out: Path, way: Way) -> None:
    for student, fact in GRADED.items():
        notes = results(out, student)["notes"]
        told = {note["code"] for note in notes}
        beside = {code for code in told if code.startswith("engine.")}
        assert told - beside == fact.notes, student
        if beside:
            questions = results(out, student)["questions"]
            assert (beside, questions["q2"]["status"], questions["q3"]["status"]) == (
                {"engine.same"},
                "passed",
                "passed",
            )
        assert all(in_language(note["advice"], way.lang) for note in notes if note["advice"])


def test_grades_csv_holds_one_row_per_student(out: Path, way: Way) -> None:
    with (out / "grades.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    told = ["student", "status", *QUESTIONS, "points", "max_points", "pending_points"]
    assert header[: len(told)] == told
    due = []
    for student in sorted(FACTS):
        asked = asked_of(way, student)
        cells = [str(asked[q][0]) if q in asked and asked[q][1] else "" for q in QUESTIONS]
        status = "not gradable" if FACTS[student].reason else "graded"
        points = [*cells, *map(str, totals(way, student))]
        due.append([student, status, *(["" for _ in points] if FACTS[student].reason else points)])
    assert [row[: len(told)] for row in rows] == due


def test_gradescope_json_scores_each_question_and_tells_no_more_than_the_course(
    out: Path, way: Way, graded: Callable[[str], Path]
) -> None:
    hidden = hidden_sentences(graded, way.lang)
    pending = Words(way.lang).text("page.pending_why")
    for student, fact in FACTS.items():
        data = json.loads((out / "students" / student / "gradescope.json").read_text(encoding="utf-8"))
        asked = asked_of(way, student)
        due = [(q, fact.questions.get(q, (0, ""))[0], QUESTIONS[q]) for q in CPU]
        if way.gpu_part == "counts" and asked:
            due.append(("g", fact.points(GPU), 20))
        assert [(t["name"], t["score"], t["max_score"]) for t in data["tests"]] == due, student
        assert {t["visibility"] for t in data["tests"]} == {"after_published"}
        assert in_language(data["output"], way.lang)
        if not fact.reason:
            assert not [s for s in hidden[student] if s in data["output"]], student
            assert (pending in data["output"]) == (way.gpu == "required"), student


def test_gradescope_json_explains_each_lost_case_later_unless_the_course_hides_it(
    out: Path, way: Way, graded: Callable[[str], Path]
) -> None:
    hidden = hidden_sentences(graded, way.lang)
    for student in GRADED:
        data = json.loads((out / "students" / student / "gradescope.json").read_text(encoding="utf-8"))
        later = {t["name"]: t["output"] for t in data["tests"]}
        for test in results(out, student)["tests"]:
            if test["question"] in CPU and test["status"] != "passed" and way.feedback != "score":
                assert test["message"] in later[test["question"]], test["id"]
        if way.feedback == "score":
            assert not [s for s in hidden[student] if s in "".join(later.values())], student


def test_the_report_and_the_page_show_the_same_table(out: Path, way: Way) -> None:
    for student in GRADED:
        due = [
            (words_of(way, status, points), f"{points}/{maximum}" if maximum else "")
            for points, maximum, status in asked_of(way, student).values()
        ]
        points, maximum, pending = totals(way, student)
        markdown, page = (read_page(out, student, name) for name in ("report.md", "report.html"))
        rows = re.findall(r"^\| [^|*]+ \| ([^|]+) \| ([^|]+) \|$", markdown, re.M)[1:]
        assert [(status, numbers(cell)) for status, cell in rows] == due, student
        table = page.partition("<tbody>")[2].partition("</tbody>")[0]
        cells = re.findall(r"<td>.*?</span> ([^<]*)</span></td><td class=\"number\">([^<]*)</td>", table)
        assert [(status, numbers(cell)) for status, cell in cells] == due, student
        for text in (markdown, page):
            assert f"{points}/{maximum}" in [numbers(line) for line in re.split(r"[|<>*]", text)]
            assert (Words(way.lang).text("page.pending_why") in text) == bool(pending)


def test_the_report_and_the_page_say_what_results_json_says_and_hide_what_it_hides(
    out: Path, way: Way, graded: Callable[[str], Path]
) -> None:
    hidden = hidden_sentences(graded, way.lang)
    for student, fact in FACTS.items():
        data = results(out, student)
        markdown = re.sub(r"\\([\\`*<>\[\]|])", r"\1", read_page(out, student, "report.md"))
        page = read_page(out, student, "report.html")
        said = [t["message"] for t in data["tests"] if t["message"]] + [n["message"] for n in data["notes"]]
        said += [data["reason"]["message"], data["reason"]["advice"]] if fact.reason else []
        for text in (markdown, page):
            assert [s for s in said if s not in text] == [], student
            assert way.feedback != "score" or not [s for s in hidden.get(student, ()) if s in text], student
            example = Words(way.lang).text("page.example")
            assert (example in text) == any("example" in t for t in data["tests"]), student
        assert f'<html lang="{"zh-CN" if way.lang == "zh" else "en"}">' in page


def test_a_bundle_holds_the_files_and_verifies(out: Path, way: Way) -> None:
    way.run(out.parent, "bundle", out.name)
    assert sorted(path.stem for path in (out / "bundles").glob("*.zip")) == sorted(FACTS)
    index = (out / "bundles" / "index.html").read_text(encoding="utf-8")
    for student, fact in FACTS.items():
        path = out / "bundles" / f"{student}.zip"
        assert hashlib.sha256(path.read_bytes()).hexdigest() in index
        with zipfile.ZipFile(path) as archive:
            for file in ("results.json", "report.md", "report.html", "gradescope.json"):
                assert archive.read(file) == (out / "students" / student / file).read_bytes(), (student, file)
            manifest = json.loads(archive.read("MANIFEST.json"))
            [received] = [n for n in archive.namelist() if n.startswith("submission/")]
            content = archive.read(received)
            if fact.source.is_file() and fact.source.suffix != ".zip":
                assert content == fact.source.read_bytes(), student
            assert manifest["student"] == student
            assert manifest["devices"] == results(out, student)["device"].split("+")
    for student in ("reference", "truncated", "starter-beside-the-work"):
        assert verify_bundle(out / "bundles" / f"{student}.zip", False, Config(), Words("en")) == []


def test_a_bundle_is_graded_again_to_the_same_result(graded: Callable[[str], Path]) -> None:
    way, out = WAYS["one go"], graded("one go")
    way.run(out.parent, "bundle", out.name)
    way.run(out.parent, "bundle", "--regrade", "--verify", out / "bundles" / "modulo-one.zip")
