"""The files of one run: grades.csv for the course, a folder of reports for each student."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
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
class Absent:
    """Someone enrolled of whom the run holds nothing."""

    id: str
    name: str = ""
    login: str = ""
    email: str = ""


def grades_csv(lines: Iterable[SubmissionResult | GradeLine], missing: Iterable[Absent] = ()) -> bytes:
    """Return grades.csv, sorted by student; what was not graded or is held back stays empty, never 0."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    rows = [_row(line if isinstance(line, GradeLine) else grade_line(line)) for line in lines]
    rows += [_missing(person) for person in missing]
    writer.writerows(sorted(rows))
    return table.getvalue().encode("utf-8", errors="replace")


def _row(line: GradeLine) -> tuple[str, ...]:
    who = (
        line.who.id,
        line.who.login,
        line.who.name,
        line.who.email,
        line.who.received,
        "yes" if line.who.late else "",
    )
    points = [""] * (len(QUESTIONS) + len(TOTALS))
    if line.status == "graded":
        asked = (line.questions.get(name) for name in QUESTIONS)
        earned = [str(question.points) if question and question.max_points else "" for question in asked]
        totals = (line.points, line.max_points, line.pending_points)
        points = [*earned, *map(str, totals), "" if line.final is None else number(line.final)]
    return (for_csv(line.student), line.status, *points, *map(for_csv, who))


def _missing(person: Absent) -> tuple[str, ...]:
    empty = [""] * (len(QUESTIONS) + len(TOTALS))
    who = (person.id, person.login, person.name, person.email, "", "")
    return (for_csv(person.name or person.id), "missing", *empty, *map(for_csv, who))


def write_grades(out: Path, results: Iterable[SubmissionResult | GradeLine], missing: Iterable[Absent] = ()) -> None:
    """Write ``out/grades.csv``."""
    write_atomic(out / "grades.csv", grades_csv(results, missing))


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
