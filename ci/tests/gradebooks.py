"""The file that each platform exports for a class of 150, and what the platform's importer reads from it again."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

from downloads import CLASS, Student

COLUMNS = {
    "canvas": ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Paged Attention (123456)"],
    "moodle": "编号,全名,邮箱,状态,成绩,最高分,可否修改,最后修改（提交）,最后修改（成绩）,评语".split(","),
    "moodle, teams": "Identifier,Full name,Status,Group,Grade,Maximum Grade,Grade can be changed,Last modified "
    "(submission),Last modified (grade),Feedback comments".split(","),
    "gradescope": "First Name,Last Name,SID,Email,Sections,Total Score,Max Points,Status".split(","),
    "blackboard": ["Last Name", "First Name", "Username", "Paged Attention [Total Pts: 80 Score] |409586"],
    "brightspace": ["OrgDefinedId", "Username", "Last Name", "First Name",
                    "Paged Attention Points Grade <Numeric MaxPoints:80>", "End-of-Line Indicator"],
    "nbgrader": "assignment,student_id,last_name,first_name,email,raw_score,score,max_score".split(","),
}  # fmt: skip
_ROWS: dict[str, Callable[[Student], list[str]]] = {
    "canvas": lambda s: [f"{s.last}, {s.first}", f"{4000 + s.n}", f"{2000 + s.n}", s.login, "S 1", ""],
    "moodle": lambda s: [f"参与者{7000 + s.n}", s.full, f"{s.login}@x.edu", "已提交", "", "80.00", "是", "-", "", ""],
    "moodle, teams": lambda s: [f"Participant {7000 + s.n}", s.full, "Submitted", f"Team {s.n // 2 * 2}", "", "80.00",
                                "Yes", "-", "-", ""],
    "gradescope": lambda s: [s.first, s.last, f"{2000 + s.n}", f"{s.login}@x.edu", "", "", "", "Missing"],
    "blackboard": lambda s: [s.last, s.first, s.login, ""],
    "brightspace": lambda s: [f"#{2000 + s.n}", f"#{s.login}", s.last, s.first, "", "#"],
    "nbgrader": lambda s: ["pa", s.login, s.last, s.first, "", "", "", ""],
}  # fmt: skip


def gradebook(book: str) -> tuple[list[str], list[list[str]]]:
    """Return the headings and rows of a platform's export, nothing graded yet."""
    rows = [_ROWS[book](student) for student in CLASS]
    return COLUMNS[book], [["    Points Possible", "", "", "", "", "80"], *rows] if book == "canvas" else rows


def write_csv(path: Path, header: list[str], rows: list[list[str]], encoding: str = "utf-8") -> Path:
    """Write a table; return its path."""
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    path.write_bytes(text.getvalue().encode(encoding))
    return path


def groups() -> tuple[list[str], list[list[str]]]:
    """Return Canvas's list of a group set."""
    header = "name,canvas_user_id,user_id,login_id,sections,group_name,canvas_group_id,group_id".split(",")
    return header, [
        [s.full, f"{4000 + s.n}", f"{2000 + s.n}", s.login, "S 1", f"Group {s.n // 2 * 2}", f"{9000 + s.n // 2}", ""]
        for s in CLASS
    ]


def importer(book: str, content: bytes, encoding: str = "utf-8") -> dict[int, str]:
    """Return the marks by the student's number, read as the platform's own importer finds ids and columns."""
    header, *rows = csv.reader(io.StringIO(content.decode(encoding), newline=""))
    match book:
        case "canvas":  # gradebook_importer.rb
            assert "Student" in header[0]
            assert "ID" in header[1]
            assert rows.pop(0)[0].strip() == "Points Possible"
            at, base, ident = header.index("Section") + 1, 4000, 1
            assert header[at].endswith(" (123456)")
        case "moodle" | "moodle, teams":  # importgradeslib.php, in the site's language
            last_modified = {"moodle": "最后修改（成绩）", "moodle, teams": "Last modified (grade)"}[book]
            assert last_modified in header
            at, base, ident = header.index("成绩" if book == "moodle" else "Grade"), 7000, 0
            rows = [[row[0].removeprefix("参与者").removeprefix("Participant "), *row[1:]] for row in rows]
        case "gradescope":
            assert {"SID", "Email"} <= set(header)
            at, base, ident = header.index("Total Score"), 2000, header.index("SID")
        case "blackboard":
            at, base, ident = 3, 0, header.index("Username")
            assert header[3].endswith("|409586")
        case "brightspace":
            [at] = [n for n, heading in enumerate(header) if " Points Grade" in heading]
            assert header[-1] == "End-of-Line Indicator"
            assert {row[-1] for row in rows} == {"#"}
            base, ident = 2000, header.index("OrgDefinedId")
            rows = [[row[0].removeprefix("#"), *row[1:]] for row in rows]
        case _:
            at, base, ident = header.index("score"), 0, header.index("student_id")
    return {int(row[ident].removeprefix("user")) - base: row[at] for row in rows}
