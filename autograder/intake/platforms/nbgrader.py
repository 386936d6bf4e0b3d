"""nbgrader's course folder: ``submitted/<login>/<assignment>/`` with a ``timestamp.txt``."""

import re

from autograder.identity import Identity
from autograder.intake.choose import expected_name
from autograder.intake.listing import Child, Listing, join
from autograder.intake.platforms.piece import Piece, Reading
from autograder.intake.submission import Refusal
from autograder.outside.names import printable

FOLDER = "submitted"
_TIME = "timestamp.txt"


def read(listing: Listing, base: str) -> Reading | None:
    """Explain ``base`` as a course folder, or as its ``submitted`` folder where every assignment has its time."""
    children = listing.children(base)
    if any(child.name == FOLDER and child.is_folder for child in children):
        base = join(base, FOLDER)
        children = listing.children(base)
    elif not children or not all(child.is_folder and _stamped(listing, join(base, child.name)) for child in children):
        return None
    pieces = [_piece(listing, join(base, child.name), child) for child in children if child.is_folder]
    return Reading("nbgrader", pieces, [child.name for child in children if not child.is_folder]) if pieces else None


def _stamped(listing: Listing, student: str) -> bool:
    inner = [child for child in listing.children(student) if child.is_folder]
    return bool(inner) and all(listing.holds(join(join(student, child.name), _TIME)) for child in inner)


def _piece(listing: Listing, student: str, child: Child) -> Piece:
    """Of several assignments the one that is called as this one is, else all: contents will tell."""
    own = [c.name for c in listing.children(student) if c.is_folder]
    ours = [name for name in own if expected_name(name)]
    only = ours if len(ours) == 1 else own if len(own) == 1 else []
    place = join(student, only[0]) if only else student
    login = printable(child.name)
    return Piece(Identity("nbgrader", login, login, received=_received(listing, place) if only else ""), place)


def _received(listing: Listing, place: str) -> str:
    try:
        text = listing.load(join(place, _TIME)).decode("utf-8", "replace").strip()
    except (Refusal, OSError):
        return ""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)? ?(UTC|Z|[+-]\d\d:?\d\d)?", text)
    return f"{match[1]}T{match[2]}{'+00:00' if match[3] in ('UTC', 'Z') else match[3] or ''}" if match else ""
