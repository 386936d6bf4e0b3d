"""The file a platform exported comes back filled in, and the platform's own rules read it, ids and all."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest
from downloads import CLASS, Download, downloads, lay_out
from gradebooks import gradebook, groups, importer, write_csv
from reporting_samples import FULL, REJECTED

from autograder.classroom.export import Terms, export
from autograder.classroom.match import match
from autograder.classroom.roster import read_roster
from autograder.intake.discover import discover
from autograder.reporting.standing import Standing
from autograder.tables import SheetError, read_table

HANDED_IN = 120
NAMESAKES = (0, 1, 2, 10, 11)  # the same words in another order or case may be another person
DOWNLOADS = [download for download in downloads(HANDED_IN) if download.book]


def points_of(n: int) -> int:
    return n % 81


def graded(root: Path, download: Download):
    """Return a result for everyone in a download, with points that tell them apart, how they stand, and whose it is."""
    entries = discover([lay_out(download, root, packed=False)])
    results = {e.student: replace(FULL, student=e.student, who=e.who, pending_points=0) for e in entries}
    tags = {e.student: download.members[e.who.id] for e in entries}
    return results, {student: Standing(80, points_of(members[0])) for student, members in tags.items()}, tags


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("download", DOWNLOADS, ids=lambda download: download.name)
def test_a_class_of_150_with_namesakes_gets_its_points_under_the_platforms_ids(download, encoding, tmp_path):
    results, standings, whose = graded(tmp_path, download)
    header, rows = gradebook(download.book)
    path = write_csv(tmp_path / "book.csv", header, rows, encoding)
    terms, listed = Terms(), None
    if download.book == "brightspace":  # its names alone do not tell two of one name apart
        with pytest.raises(SheetError, match="--match"):
            export(results, standings, path, terms)
        hands = [[student, str(2000 + members[0])] for student, members in whose.items() if members[0] in NAMESAKES]
        terms = Terms(settled=write_csv(tmp_path / "match.csv", ["student", "id"], hands))
    if download.name == "canvas, groups":
        listed = read_roster(write_csv(tmp_path / "groups.csv", *groups()))
    filled = export(results, standings, path, terms, listed)
    marks = importer(download.book, filled.content, encoding)
    expected = {s.n: "" for s in CLASS}
    expected |= {n: str(points_of(members[0])) for members in download.members.values() for n in members}
    assert marks == expected
    assert filled.matches.strangers == []
    assert len(filled.matches.missing) == len(CLASS) - HANDED_IN
    again = list(csv.reader(io.StringIO(filled.content.decode(encoding), newline="")))
    assert again[0] == header
    assert len(again) == len(rows) + 1


def test_namesakes_are_never_matched_by_name_alone(tmp_path):
    path = write_csv(
        tmp_path / "r.csv", ["id", "name"], [["1", "Wei Zhang"], ["2", "Zhang Wei"], ["3", "Ann Lee"]], "gb18030"
    )
    people = {s: replace(FULL.who, name=s) for s in ("Wei Zhang", "Ann Lee", "Bo Bo")}
    found = match(people.items(), read_roster(path))
    assert found.pairs == {2: "Ann Lee"}
    assert [student for student, _ in found.ambiguous] == ["Wei Zhang"]
    assert found.strangers == ["Bo Bo"]
    two = match({"a": people["Ann Lee"], "b": people["Ann Lee"]}.items(), read_roster(path))
    assert two.pairs == {}
    settled = write_csv(tmp_path / "m.csv", ["student", "id"], [["Wei Zhang", "2"]], "utf-8")
    assert match(people.items(), read_roster(path), settled).pairs == {1: "Wei Zhang", 2: "Ann Lee"}


def test_a_list_of_a_tas_own_is_matched_by_the_platforms_ids_unless_names_contradict_them(tmp_path):
    path = write_csv(tmp_path / "r.csv", ["id", "name"], [["41", "Ann Lee"], ["42", "Bo Li"], ["43", ""]])
    people = {
        n: replace(FULL.who, platform="canvas", id=n, name="Ann Lee" if n == "41" else "Cy") for n in ("41", "42", "43")
    }
    found = match(people.items(), read_roster(path))
    assert (found.pairs, found.strangers) == ({0: "41", 2: "43"}, ["42"])


def test_a_teams_number_that_is_also_a_participants_does_not_count_for_that_participant(tmp_path):
    header, rows = gradebook("moodle, teams")
    roster = read_roster(write_csv(tmp_path / "r.csv", header, rows))
    team = replace(FULL.who, platform="moodle", id="7003", name="Team 20")
    assert sorted(match([("Team 20-7003", team)], roster).pairs) == [20, 21]


@pytest.mark.parametrize(
    ("header", "row", "platform", "ids"),
    [
        ("Student,ID,SIS User ID,SIS Login ID,Section,A (1)", "x,4,s4,u4,S,", "canvas", ("4", "s4")),
        ("name,canvas_user_id,user_id,login_id,sections,group_name", "x,4,s4,u4,S,Group 1", "canvas", ("4", "s4")),
        ("First Name,Last Name,SID,Email,Sections", "x,y,2,x@x.edu,", "gradescope", ("2", "x@x.edu")),
        ("OrgDefinedId,Username,A Points Grade,End-of-Line Indicator", "#2,#u2,,#", "brightspace", ("2", "u2")),
        ("Last Name,First Name,Username,Student ID", "y,x,u2,2", "blackboard", ("u2", "2")),
        ("identifier,github_username,github_id,name", "2,x-gh,9,x", "github", ("x-gh", "2")),
        ("username,first_name,last_name,email,section,github_id", "x-gh,x,y,x@x.edu,1,9", "classroom50", ("x-gh",)),
        ("assignment,student_id,last_name,first_name,score", "pa,u2,y,x,", "nbgrader", ("u2",)),
        ("Teilnehmer,Name,Status,Bewertung,Maximum", "Teilnehmer 7,x y,-,,80", "moodle", ("7",)),
        ("ID,Name,Login,Email", "2,x,u2,x@x.edu", "plain", ("2", "u2", "x@x.edu")),
        ("ID,Name,Status,Bewertung,Maximum", "Teilnehmer/in7,x y,-,,80", "moodle", ("7",)),
        ("姓氏,名字,用户名,学生 ID,PA [总分: 80 得分] |409586", "y,x,u2,2,", "blackboard", ("u2", "2")),
        ("学号,姓名,邮箱", "2,x,x@x.edu", "plain", ("2", "x@x.edu")),
        ("Vorname,Nachname,Matrikelnummer,E-Mail-Adresse", "x,y,2,x@x.edu", "plain", ("2", "x@x.edu")),
        ("First name,Surname,Email address", "x,y,x@x.edu", "plain", ("x@x.edu",)),
    ],
)  # fmt: skip
def test_the_kind_of_a_class_list_is_known_by_its_headings(header, row, platform, ids, tmp_path):
    roster = read_roster(write_csv(tmp_path / "r.csv", header.split(","), [row.split(",")]))
    assert (roster.platform, roster.people[0].ids) == (platform, ids)


def test_a_title_above_the_headings_is_passed_over_and_stays(tmp_path):
    path = write_csv(tmp_path / "r.csv", ["Autumn 2026, class list", ""], [["", "x"], ["id", "name"], ["7", "Ann"]])
    roster = read_roster(path)
    assert [(person.ids, person.name) for person in roster.people] == [(("7",), "Ann")]
    assert roster.table.with_rows(roster.table.header, roster.table.rows) == path.read_bytes()


def test_of_several_assignments_of_nbgraders_the_one_that_is_named_is_filled(tmp_path):
    header = "assignment,student_id,last_name,first_name,raw_score,score,max_score".split(",")
    rows = [[name, user, "y", "x", "3", "3", "5"] for name in ("ps1", "pa") for user in ("0012", "0013")]
    path = write_csv(tmp_path / "book.csv", header, rows)
    who = replace(FULL.who, platform="nbgrader", id="0013", login="0013", name="")
    results = {"0013": replace(FULL, student="0013", who=who, pending_points=0)}
    with pytest.raises(SheetError, match="name one with --column"):
        export(results, {"0013": Standing(70, 70)}, path, Terms())
    filled = export(results, {"0013": Standing(70, 70)}, path, Terms(column="pa"))
    scores = [row[5] for row in csv.reader(io.StringIO(filled.content.decode(), newline=""))]
    assert scores == ["score", "3", "3", "3", "70"]
    assert len(read_roster(path).people) == 2


@pytest.mark.parametrize(
    ("header", "rows", "said"),
    [
        (["a", "b"], [["1", "2"]], "no class list known"),
        (["a", "b"], [["Sid", "Vicious"], ["1", "2"]], "no class list known"),
        (["id", "name"], [["1", "x"], ["1", "y"]], "has the id '1' 2 times"),
        (["id", "name"], [], "lists nobody"),
        (["id", "name"], [["1", "x"]], "without a column for points"),
        (["Student", "ID", "Section", "A (1)", "B (2)"], [["x, y", "1", "", "", ""]], "name one with --column"),
    ],
)
def test_a_list_of_no_use_is_one_sentence(header, rows, said, tmp_path):
    path = write_csv(tmp_path / "book.csv", header, rows, "utf-8")
    with pytest.raises(SheetError, match=said):
        export({}, {}, path, Terms())


def test_points_that_are_not_there_are_refused_until_the_course_says_what_they_are_worth(tmp_path):
    header, rows = gradebook("canvas")
    path = write_csv(tmp_path / "book.csv", header, rows, "utf-8")
    who = replace(FULL.who, platform="canvas", id="4000")
    for result, said, terms in (
        (replace(FULL, who=who), "--pending", {"pending": "skip"}),
        (replace(REJECTED, who=who, pending_points=0), "--ungradable", {"ungradable": "skip"}),
    ):
        standings = {result.student: Standing(80, 80)}
        with pytest.raises(SheetError, match=said):
            export({result.student: result}, standings, path, Terms())
        export({result.student: result}, standings, path, Terms(**terms))


def test_another_total_is_converted_only_on_request(tmp_path):
    header, rows = gradebook("canvas")
    rows[0][-1] = "100"
    path = write_csv(tmp_path / "book.csv", header, rows, "utf-8")
    result = replace(FULL, who=replace(FULL.who, platform="canvas", id="4000"), pending_points=0)
    with pytest.raises(SheetError, match="--scale"):
        export({"ada": result}, {"ada": Standing(80, 40)}, path, Terms())
    for scale, final, mark in ((True, 40, "50"), (False, 40, "40"), (True, 40.2, "50.25"), (False, 40.25, "40.25")):
        content = export({"ada": result}, {"ada": Standing(80, final)}, path, Terms(scale=scale)).content
        assert importer("canvas", content)[0] == mark


@pytest.mark.parametrize("text", ["Müller,Zoë", "张伟,李娜", "García,José"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030", "cp1252"])
def test_a_list_is_read_in_the_encodings_that_spreadsheets_write(text, encoding, tmp_path):
    try:
        content = f"id,name\r\n1,{text.partition(',')[0]}\r\n".encode(encoding)
    except UnicodeEncodeError:
        return
    if encoding == "gb18030" and not text.startswith("张"):
        return
    (tmp_path / "r.csv").write_bytes(content)
    assert read_table(tmp_path / "r.csv").rows == (("1", text.partition(",")[0]),)
