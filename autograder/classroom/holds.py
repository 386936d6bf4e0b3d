"""Holding a result back, and releasing it: the rows of OUT/holds.csv."""

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path

from autograder.classroom.enrolled import enrolled
from autograder.classroom.records import HOLDS, Students
from autograder.outside.text import for_csv
from autograder.reporting.files import write_atomic
from autograder.reporting.results import SubmissionResult
from autograder.tables import SheetError, read_records

FILE = "holds.csv"
_COLUMNS = (*HOLDS.needed, *HOLDS.allowed)


def hold(out: Path, results: Mapping[str, SubmissionResult], names: Iterable[str], reason: str, by: str) -> list[str]:
    """Add a row for everyone named; return who they are in the run. Whoever is held already gets the new reason."""
    path = out / FILE
    students, found = _named(path, results, names)
    kept = [row for row in _rows(path) if students.called(row["id"], path) not in found]
    _write(path, [*kept, *({"id": student, "reason": reason, "by": by} for student in found)])
    return found


def release(out: Path, results: Mapping[str, SubmissionResult], names: Iterable[str]) -> list[str]:
    """Take away the rows of everyone named; raise :class:`SheetError` where one of them is not held."""
    path = out / FILE
    students, found = _named(path, results, names)
    rows = {students.called(row["id"], path): row for row in _rows(path)}
    if free := [student for student in found if student not in rows]:
        raise SheetError(f"'{free[0]}' is not held back in {path}; nothing was changed.")
    _write(path, [row for student, row in rows.items() if student not in found])
    return found


def _named(path: Path, results: Mapping[str, SubmissionResult], names: Iterable[str]) -> tuple[Students, list[str]]:
    """Return the students of a run, and which of them these names mean, each once."""
    students = Students(results, enrolled(path.parent, None, results).listed)
    return students, list(dict.fromkeys(students.called(name, path) for name in names))


def _rows(path: Path) -> list[Mapping[str, str]]:
    return read_records(path, HOLDS) if path.is_file() else []


def _write(path: Path, rows: Iterable[Mapping[str, str]]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_COLUMNS, *([for_csv(row.get(name, "")) for name in _COLUMNS] for row in rows)])
    write_atomic(path, text.getvalue().encode("utf-8-sig"))
