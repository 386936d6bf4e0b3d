"""Odd class downloads, written from the platforms' formats: names of files, and who should be found in them.

A listing maps paths to what they hold: 1 a solved notebook, 0 the starter, ``None`` something that is no notebook, text
as it stands. ``found`` maps each student's id (or folder name, where the platform gives no id) to a piece of the path
that should be graded; ``STOP`` says that nobody may be guessed. ``packed`` is the same for a zip of it, which may as
well be one student's.
"""

from dataclasses import dataclass

STOP = "stop"
NB = "paged_attention.ipynb"


@dataclass(frozen=True)
class Listing:
    """A download and what is in it."""

    name: str
    files: dict[str, int | str | None]
    found: dict[str, str] | str
    layout: str = "auto"
    pattern: str = ""
    packed: str = ""
