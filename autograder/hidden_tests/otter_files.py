"""Otter's test files, made from the table of questions: one function per case, whose line a failure message shows."""

from collections.abc import Iterator
from pathlib import Path

from autograder.contract.questions import Questions

FOLDER = Path(__file__).parent
_FILE = '''"""{about} Made from the table of questions."""

from otter.test_files import test_case

from autograder.contract.checkable import Checkable

OK_FORMAT = False

name = "{name}"
points = {points}
'''
_CASE = """

@test_case(name="{id}", points={points}, hidden=True)
def test_{function}(submission: Checkable) -> None:
    submission.check("{id}")
"""


def otter_files(table: Questions) -> dict[str, bytes]:
    """Return every Otter test file by its name; the same table gives the same bytes."""
    return {f"{name}.py": _text(table, name).encode() for part in table.parts for name in table.files(part)}


def stale(table: Questions) -> Iterator[str]:
    """Yield the names of files in this folder that are not what the table says."""
    for name, content in otter_files(table).items():
        path = FOLDER / name
        if not path.is_file() or path.read_bytes() != content:
            yield name


def _text(table: Questions, name: str) -> str:
    held = [question for question in table if question.file == name]
    cases = [case for question in held for case in question.cases]
    head = _FILE.format(
        about=held[0].about if len(held) == 1 else f"Questions {', '.join(question.id for question in held)}.",
        name=name.partition("_")[0],
        points=sum(case.points for case in cases),
    )
    return head + "".join(
        _CASE.format(id=case.id, points=case.points, function=case.id.replace(".", "_")) for case in cases
    )
