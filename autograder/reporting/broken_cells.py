"""Cells that are no Python, which a report names first: their sentence, the line, and a caret below the place."""

from collections.abc import Iterable
from dataclasses import dataclass
from unicodedata import east_asian_width

from autograder.findings import Finding
from autograder.outside.text import for_terminal
from autograder.reporting.words import Words

NO_PYTHON = frozenset({"cell.syntax", "cell.newer"})
"""Notes about cells of which nothing ran, so that they explain whatever is missing below."""


@dataclass(frozen=True)
class BrokenCell:
    """What is said of one cell; ``line`` and ``caret`` are empty where the place is not known."""

    sentence: str
    advice: str
    line: str
    caret: str


def broken_cells(notes: Iterable[Finding], words: Words) -> tuple[BrokenCell, ...]:
    """Return the cells among these notes that are no Python, in their order."""
    return tuple(
        BrokenCell(words.sentence(note), words.advice(note), *_place(note)) for note in notes if note.code in NO_PYTHON
    )


def _place(note: Finding) -> tuple[str, str]:
    code, column = str(note.details.get("code", "")), note.details.get("column", 1)
    if not code.strip() or not isinstance(column, int):
        return "", ""
    line = for_terminal(code.replace("\t", " "))
    before = sum(2 if east_asian_width(char) in "WF" else 1 for char in line[: column - 1])
    return line, " " * before + "^"
