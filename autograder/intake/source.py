"""The files that belong to one student, on disk or inside an archive, behind one type."""

from collections.abc import Callable
from dataclasses import dataclass

MEGABYTE = 1_000_000
MAX_FILE = 80 * MEGABYTE

_SUFFIXES = {
    ".ipynb": "notebook",
    ".ipynb.txt": "notebook",  # what some browsers make of a download
    ".ipynb.json": "notebook",
    ".py": "script",
    ".py.txt": "script",
    ".md": "markdown",
    ".rmd": "markdown",
    ".qmd": "markdown",
    ".zip": "zip",
}
_IGNORED_STEMS = {"", "readme", "license"}
_IGNORED = {"__macosx", "__pycache__", "thumbs.db", "desktop.ini", "node_modules", "site-packages"}


@dataclass(frozen=True)
class Source:
    """One file: ``name`` is relative with ``/``, ``problem`` the code of why it must not be read, if any."""

    name: str
    load: Callable[[], bytes]
    problem: str = ""


def kind(name: str) -> str:
    """``notebook``, ``script``, ``markdown`` or ``zip`` by the end of the name, else the empty string."""
    return next((value for suffix, value in _SUFFIXES.items() if name.lower().endswith(suffix)), "")


def stem(name: str) -> str:
    """The last part of a name without its suffix; a name that is all suffix stays whole."""
    base = name.rpartition("/")[2]
    known = max((s for s in _SUFFIXES if base.lower().endswith(s)), key=len, default="")
    if known:
        return base[: -len(known)] or base
    return base.rpartition(".")[0] or base


def ignored(name: str) -> bool:
    """Whether operating systems, editors or the course leave such a file behind beside the work itself."""
    lowered = name.lower()
    return lowered.partition(".")[0] in _IGNORED_STEMS or lowered in _IGNORED
