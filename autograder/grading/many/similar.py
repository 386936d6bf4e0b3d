"""What students wrote themselves, in the folder form that JPlag and Dolos take: TODO bodies without the starter."""

import ast
import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.errors import GraderError
from autograder.grading.many.received import RECEIVED, received_file
from autograder.grading.many.rerender import results
from autograder.intake.discover import discover
from autograder.intake.read import read
from autograder.intake.submission import Submission
from autograder.outside.text import for_csv
from autograder.reporting.files import write_atomic

OPEN = re.compile(r"^\s*raise NotImplementedError\b", re.MULTILINE)


class StarterError(GraderError):
    """The starter cannot be used; the text says what to give instead."""


def write_bodies(out: Path, starter: Path, folder: Path) -> int:
    """Write ``folder/<student>/todos.py`` for everyone whose file can be read, and ``info.csv``; return how many."""
    given = {name: text for name, text in functions(_cells(starter)).items() if OPEN.search(text)}
    if not given:
        raise StarterError(f"{starter} has no open TODO; give the notebook or script that students started from.")
    folder.mkdir(parents=True, exist_ok=True)
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(("filename", "label"))
    count = 0
    for student, result in results(out).items():
        received = received_file(out, result)
        if result.rejected or received is None:
            continue
        place = folder / student / "todos.py"
        place.parent.mkdir(exist_ok=True)
        own = functions(_cells(out / "students" / student / RECEIVED / received.name))
        write_atomic(place, own_lines(own, given).encode("utf-8", "replace"))
        writer.writerow((f"{student}/todos.py", for_csv(student)))
        count += 1
    write_atomic(folder / "info.csv", table.getvalue().encode("utf-8", "replace"))
    return count


def functions(cells: Sequence[str]) -> dict[str, str]:
    """Return the source of every function in the cells by name; of several with one name the last."""
    found: dict[str, str] = {}
    for cell in cells:
        try:
            tree = ast.parse(cell)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                found[node.name] = ast.get_source_segment(cell, node) or ""
    return found


def own_lines(own: Mapping[str, str], given: Mapping[str, str]) -> str:
    """Return what the student's TODO functions have beyond the starter's, line by line under each function's head."""
    parts = []
    for name, text in given.items():
        starter = {line.strip() for line in text.splitlines()}
        lines = own.get(name, "").splitlines()
        new = (line for line in lines[1:] if line.strip() and line.strip() not in starter)
        parts += [f"def {name}():", *new, "    pass", ""]
    return "\n".join(parts)


def _cells(path: Path) -> tuple[str, ...]:
    submission = read(discover([path], "one")[0])
    return submission.cells if isinstance(submission, Submission) else ()
