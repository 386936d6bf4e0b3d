"""The files of one run: grades.csv for the course, a folder of reports for each student."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.contract.questions import questions
from autograder.outside.text import for_csv
from autograder.reporting.feedback import Policy, visible
from autograder.reporting.files import student_folder, write_atomic
from autograder.reporting.report import render_report
from autograder.reporting.results import GradeLine, SubmissionResult, grade_line
from autograder.reporting.schema import to_bytes, to_json
from autograder.reporting.standing import Standing, number
from autograder.reporting.words import Words

QUESTIONS = tuple(questions().by_id)
TOTALS = ("points", "max_points", "pending_points", "final")
WHO = ("id", "login", "name", "email", "received", "late")
COLUMNS = ("student", "status", *QUESTIONS, *TOTALS, *WHO)
STUDENT_FILES = ("results.json", "report.html", "report.md", "gradescope.json")


@dataclass(frozen=True, slots=True)
class Listed:
    """One person, as the class list names them or, where there is none, the download."""

    id: str
    name: str = ""
    login: str = ""
    email: str = ""


@dataclass(frozen=True)
class ClassList:
    """What a class list says about a run: ``people`` who handed in, by student, ``missing`` of whom there is nothing.

    A group is one student with several people.
    """

    people: Mapping[str, tuple[Listed, ...]] = field(default_factory=dict)
    missing: tuple[Listed, ...] = ()

    def behind(self, line: GradeLine) -> Sequence[Listed]:
        """Return everyone whose work a line is; without a class list that knows them, what the download tells."""
        who, listed = line.who, self.people.get(line.student, ())
        if len(listed) > 1:
            return listed
        [own] = listed or [Listed(who.id)]
        first = Listed(own.id, own.name or who.name, own.login or who.login, own.email or who.email)
        return [first, *(Listed("", member) for member in who.members if not listed)]


NO_LIST = ClassList()


def grades_csv(lines: Iterable[SubmissionResult | GradeLine], listed: ClassList = NO_LIST) -> bytes:
    """Return grades.csv, a row per person; what was not graded or is held back stays empty, never 0."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    known = (line if isinstance(line, GradeLine) else grade_line(line) for line in lines)
    rows = [_row(line, person) for line in known for person in listed.behind(line)]
    rows += [_missing(person) for person in listed.missing]
    writer.writerows(sorted(rows))
    return table.getvalue().encode("utf-8", errors="replace")


def _row(line: GradeLine, person: Listed) -> tuple[str, ...]:
    received, late = line.who.received, "yes" if line.who.late else ""
    who = (person.id, person.login, person.name, person.email, received, late)
    points = [""] * (len(QUESTIONS) + len(TOTALS))
    if line.status == "graded":
        asked = (line.questions.get(name) for name in QUESTIONS)
        earned = [str(question.points) if question and question.max_points else "" for question in asked]
        totals = (line.points, line.max_points, line.pending_points)
        points = [*earned, *map(str, totals), "" if line.final is None else number(line.final)]
    return (for_csv(line.student), line.status, *points, *map(for_csv, who))


def _missing(person: Listed) -> tuple[str, ...]:
    empty = [""] * (len(QUESTIONS) + len(TOTALS))
    who = (person.id, person.login, person.name, person.email, "", "")
    return (for_csv(person.name or person.id), "missing", *empty, *map(for_csv, who))


def write_grades(out: Path, lines: Iterable[GradeLine], listed: ClassList = NO_LIST) -> None:
    """Write ``out/grades.csv``."""
    write_atomic(out / "grades.csv", grades_csv(lines, listed))


def student_files(
    result: SubmissionResult, words: Words, policy: Policy, standing: Standing | None = None
) -> dict[str, bytes]:
    """Return the files of one student by name: everything in them may be shown to that student."""
    shown = visible(result, policy)
    page, text = render_report(shown, words, standing)
    return {
        "results.json": to_bytes(to_json(shown, words, standing)),
        "report.html": page.encode("utf-8", errors="replace"),
        "report.md": text.encode("utf-8", errors="replace"),
        "gradescope.json": to_bytes(shown.gradescope),
    }


def write_student(
    out: Path, result: SubmissionResult, words: Words, policy: Policy, standing: Standing | None = None
) -> None:
    """Write ``out/students/<student>/`` with results.json, report.html, report.md and gradescope.json.

    A result that is held back has none of them.
    """
    folder = student_folder(out, result.student)
    held = standing is not None and standing.held
    for name in STUDENT_FILES if held else ():
        (folder / name).unlink(missing_ok=True)
    for name, content in ({} if held else student_files(result, words, policy, standing)).items():
        write_atomic(folder / name, content)
