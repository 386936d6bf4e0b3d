"""The files of one run: grades.csv for the course, a folder of reports for each student."""

import csv
import io
from collections.abc import Iterable
from pathlib import Path

from autograder.contract.questions import questions
from autograder.outside.text import for_csv
from autograder.reporting.feedback import Policy, visible
from autograder.reporting.files import student_folder, write_atomic
from autograder.reporting.report import render_html, render_markdown
from autograder.reporting.results import GradeLine, SubmissionResult
from autograder.reporting.schema import to_bytes, to_json
from autograder.reporting.words import Words

COLUMNS = (
    "student",
    "status",
    *questions().by_id,
    "points",
    "max_points",
    "pending_points",
)


def grades_csv(results: Iterable[SubmissionResult | GradeLine]) -> bytes:
    """Return grades.csv, sorted by student; a question that was not graded stays empty."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(COLUMNS)
    for result in sorted(results, key=lambda r: r.student):
        questions = result.questions
        points = [questions[q].points if q in questions and questions[q].max_points else "" for q in COLUMNS[2:-3]]
        totals = (result.points, result.max_points, result.pending_points)
        writer.writerow([for_csv(result.student), result.status, *points, *totals])
    return table.getvalue().encode("utf-8", errors="replace")


def write_grades(out: Path, results: Iterable[SubmissionResult | GradeLine]) -> None:
    """Write ``out/grades.csv``."""
    write_atomic(out / "grades.csv", grades_csv(results))


def student_files(result: SubmissionResult, words: Words, policy: Policy) -> dict[str, bytes]:
    """Return the files of one student by name: everything in them may be shown to that student."""
    shown = visible(result, policy)
    return {
        "results.json": to_bytes(to_json(shown, words)),
        "report.html": render_html(shown, words).encode("utf-8", errors="replace"),
        "report.md": render_markdown(shown, words).encode("utf-8", errors="replace"),
        "gradescope.json": to_bytes(shown.gradescope),
    }


def write_student(out: Path, result: SubmissionResult, words: Words, policy: Policy) -> None:
    """Write ``out/students/<student>/`` with results.json, report.html, report.md and gradescope.json."""
    folder = student_folder(out, result.student)
    for name, content in student_files(result, words, policy).items():
        write_atomic(folder / name, content)
