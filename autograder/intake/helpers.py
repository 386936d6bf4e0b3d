"""Modules handed in beside a notebook: which files are such, and their texts for the notebook to import."""

import re
from collections.abc import Iterable, Sequence

from autograder.findings import Finding
from autograder.intake.choose import Draft
from autograder.intake.source import MEGABYTE, Source, kind
from autograder.intake.submission import Refusal
from autograder.intake.text import decode
from autograder.outside.names import shown

MAX_FILES = 50
OF_THE_COURSE = "paged_lesson.py"
"""Comes with the notebook; while grading, a stand-in takes its place."""
_NAMED = 5
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import\b|import[ \t]+([^#\n]+)|%run[ \t]+(?:-\w+[ \t]+)*(\S+))", re.M
)


def without_helpers(drafts: Sequence[Draft]) -> tuple[list[Draft], tuple[Finding, ...]]:
    """Drop the scripts that another draft imports, unless that would leave none, with a remark that names them."""
    imported = {id(draft): set(_imported(draft.cells)) for draft in drafts}
    helpers = [
        draft
        for draft in drafts
        if kind(draft.name) == "script"
        and any(_module(draft.name, other.name) in imported[id(other)] for other in drafts if other is not draft)
    ]
    left = [draft for draft in drafts if draft not in helpers]
    if not helpers or not left:
        return list(drafts), ()
    names = sorted(shown(draft.name) for draft in helpers if not draft.name.endswith(OF_THE_COURSE))
    listed = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
    return left, (Finding("intake.helpers", {"files": listed}),) if names else ()


def helper_texts(chosen: str, sources: Iterable[Source]) -> dict[str, str]:
    """Return the texts of the other scripts in the notebook's folder and below it, by their path from there."""
    folder = chosen.rpartition("/")[0]
    texts: dict[str, str] = {}
    size = 0
    for source in sources:
        beside = _beside(source.name, folder)
        if kind(source.name) != "script" or source.name == chosen or beside is None or len(texts) == MAX_FILES:
            continue
        try:
            text = decode(source.load())[0]
        except Refusal:
            continue
        size += len(text)
        if size <= MEGABYTE:
            texts[beside] = text
    return texts


def _imported(cells: Iterable[str]) -> Iterable[str]:
    for cell in cells:
        for origin, names, run in _IMPORT.findall(cell):
            for name in (origin, *names.split(","), run.removesuffix(".py")):
                yield name.strip().partition(" ")[0].partition(".")[0]


def _module(name: str, importer: str) -> str | None:
    """Return the first part of what ``importer`` would call this script, None where it cannot reach it."""
    beside = _beside(name, importer.rpartition("/")[0])
    return beside.removesuffix(".py").partition("/")[0] if beside else None


def _beside(name: str, folder: str) -> str | None:
    prefix = f"{folder}/" if folder else ""
    return name[len(prefix) :] if name.startswith(prefix) else None
