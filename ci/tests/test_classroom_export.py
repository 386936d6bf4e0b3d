"""The file a platform exported comes back filled in, and the platform's own rules read it, ids and all."""

import csv
import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from reporting_samples import FULL, REJECTED

from autograder.classroom.export import Terms, export
from autograder.classroom.match import match
from autograder.classroom.roster import read_roster
from autograder.intake.discover import discover
from autograder.reporting.standing import Standing
from autograder.tables import SheetError, read_table

SIZE = 150
NAMES = [("Wei", "Zhang"), ("Wei", "Zhang"), ("José", "García"), ("Jose", "Garcia"), ("Ji_ho", "Kim"), ("Mai", "Đặng")]


@dataclass(frozen=True)
class Student:
    n: int

    @property
    def first(self) -> str:
        return NAMES[self.n][0] if self.n < len(NAMES) else f"First{self.n}"

    @property
    def last(self) -> str:
        return NAMES[self.n][1] if self.n < len(NAMES) else f"Last{self.n}"

    @property
    def login(self) -> str:
        return f"user{self.n}"

    @property
    def full(self) -> str:
        return f"{self.first} {self.last}"


CLASS = [Student(n) for n in range(SIZE)]
HANDED_IN = CLASS[:120]


def canvas_name(s: Student) -> str:
    return "".join(c for c in f"{s.last}, {s.first}".lower() if c.isalnum() or c == "_")


def gradescope_list() -> str:
    entries = (
        f"submission_{s.n}:\n  :submitters:\n"
        f"  - :name: {s.full}\n    :sid: '{2000 + s.n}'\n    :email: {s.login}@x.edu\n"
        for s in HANDED_IN
    )
    return "---\n" + "".join(entries)


NB = "paged_attention.ipynb"
DOWNLOADS: dict[str, Callable[[], dict[str, str]]] = {
    "canvas": lambda: {f"{canvas_name(s)}_{4000 + s.n}_{90000 + s.n}_{NB}": "{}" for s in HANDED_IN},
    "moodle": lambda: {f"{s.full.replace('_', ' ')}_{7000 + s.n}_assignsubmission_file/{NB}": "{}" for s in HANDED_IN},
    "gradescope": lambda: {
        **{f"submission_{s.n}/{NB}": "{}" for s in HANDED_IN},
        "submission_metadata.yml": gradescope_list(),
    },
    "blackboard": lambda: {
        f"a_b_{s.login}_attempt_2026-11-01-12-00-00{end}": text
        for s in HANDED_IN
        for end, text in ((f"_{NB}", "{}"), (".txt", f"Name: {s.full} ({s.login})\nAssignment: a_b\n"))
    },
    "nbgrader": lambda: {f"submitted/{s.login}/pa/{NB}": "{}" for s in HANDED_IN},
}


def gradebook(platform: str) -> tuple[list[str], list[list[str]]]:
    match platform:
        case "canvas":
            header = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Paged Attention (123456)"]
            rows = [[f"{s.last}, {s.first}", str(4000 + s.n), str(2000 + s.n), s.login, "S 1", ""] for s in CLASS]
            return header, [["    Points Possible", "", "", "", "", "80"], *rows]
        case "moodle":
            header = [
                "编号",
                "全名",
                "邮箱",
                "状态",
                "成绩",
                "最高分",
                "可否修改",
                "最后修改（提交）",
                "最后修改（成绩）",
                "评语",
            ]
            rows = [
                [f"参与者{7000 + s.n}", s.full, f"{s.login}@x.edu", "已提交", "", "80.00", "是", "-", ""] for s in CLASS
            ]
            return header, rows
        case "gradescope":
            header = "First Name,Last Name,SID,Email,Sections,Total Score,Max Points,Status".split(",")
            return header, [
                [s.first, s.last, str(2000 + s.n), f"{s.login}@x.edu", "", "", "", "Missing"] for s in CLASS
            ]
        case "blackboard":
            header = ["Last Name", "First Name", "Username", "Paged Attention [Total Pts: 80 Score] |409586"]
            return header, [[s.last, s.first, s.login, ""] for s in CLASS]
        case _:
            header = "assignment,student_id,last_name,first_name,email,raw_score,score,max_score".split(",")
            return header, [["pa", s.login, s.last, s.first, "", "", "", ""] for s in CLASS]


def importer(platform: str, content: bytes, encoding: str) -> dict[str, str]:
    """Return the marks by the student's number, read as the platform's own importer reads ids and columns."""
    header, *rows = csv.reader(io.StringIO(content.decode(encoding), newline=""))
    match platform:
        case "canvas":
            assert "Student" in header[0]
            assert "ID" in header[1]
            assert rows.pop(0)[0].strip() == "Points Possible"
            at, base, ident = header.index("Section") + 1, 4000, 1
            assert header[at].endswith(" (123456)")
        case "moodle":
            at, base, ident = header.index("成绩"), 7000, 0
            rows = [[row[0].removeprefix("参与者"), *row[1:]] for row in rows]
        case "gradescope":
            assert {"SID", "Email"} <= set(header)
            at, base, ident = header.index("Total Score"), 2000, header.index("SID")
        case "blackboard":
            at, base, ident = 3, 0, header.index("Username")
            assert header[3].endswith("|409586")
        case _:
            at, base, ident = header.index("score"), 0, header.index("student_id")
    return {str(int(row[ident].removeprefix("user")) - base): row[at] for row in rows}


def points_of(n: int) -> int:
    return n % 81


def graded(root: Path, platform: str):
    """Return a result for everyone in the platform's download, with points that tell them apart, and how they stand."""
    folder = root / "download"
    for name, text in DOWNLOADS[platform]().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    entries = discover([folder])
    digits = {e.student: int("".join(c for c in (e.who.login or e.who.id) if c.isdigit())) for e in entries}
    base = {"canvas": 4000, "moodle": 7000}.get(platform, 0)
    results = {e.student: replace(FULL, student=e.student, who=e.who, pending_points=0) for e in entries}
    return results, {student: Standing(80, points_of(number - base)) for student, number in digits.items()}


def write_csv(path: Path, header: list[str], rows: list[list[str]], encoding: str) -> Path:
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    path.write_bytes(text.getvalue().encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("platform", DOWNLOADS)
def test_a_class_of_150_with_namesakes_gets_its_points_under_the_platforms_ids(platform, encoding, tmp_path):
    results, standings = graded(tmp_path, platform)
    header, rows = gradebook(platform)
    path = write_csv(tmp_path / "book.csv", header, rows, encoding)
    filled = export(results, standings, path, Terms())
    marks = importer(platform, filled.content, encoding)
    expected = {str(s.n): str(points_of(s.n)) if s in HANDED_IN else "" for s in CLASS}
    assert marks == expected
    assert filled.matches.strangers == []
    assert len(filled.matches.missing) == SIZE - len(HANDED_IN)
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


@pytest.mark.parametrize(
    ("header", "rows", "said"),
    [
        (["a", "b"], [["1", "2"]], "no class list known"),
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
    for scale, mark in ((True, "50"), (False, "40")):
        content = export({"ada": result}, {"ada": Standing(80, 40)}, path, Terms(scale=scale)).content
        assert importer("canvas", content, "utf-8")["0"] == mark


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
