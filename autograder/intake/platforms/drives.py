"""Names, no ids: Teams' ``Submitted files/<Name>/<Assignment>/Version N/``, Google Classroom's ``<Name> - <file>``."""

import re

from autograder.identity import Identity
from autograder.intake.listing import Listing, join
from autograder.intake.platforms.piece import Piece, Reading
from autograder.intake.source import kind, stem
from autograder.outside.names import printable

_SUBMITTED = "Submitted files"
_VERSION = re.compile(r"(?:Version|版本) ?(?P<number>\d+)")
_GOOGLE = re.compile(r"(?P<name>.+?) - (?P<file>.+?)(?: \((?P<copy>\d+)\))?", re.DOTALL)


def read_teams(listing: Listing, base: str) -> Reading | None:
    """Explain ``base`` as what Teams keeps of an assignment; every version is an attempt."""
    children = listing.children(base)
    if any(child.name == _SUBMITTED and child.is_folder for child in children):
        base = join(base, _SUBMITTED)
        children = listing.children(base)
    pieces: list[Piece] = []
    strange = []
    for child in children:
        own = _versions(listing, join(base, child.name), printable(child.name)) if child.is_folder else []
        pieces += own
        strange += [] if own else [child.name]
    return Reading("teams", pieces, strange) if pieces else None


def _versions(listing: Listing, student: str, name: str) -> list[Piece]:
    pieces = []
    for assignment in listing.children(student):
        inner = listing.children(join(student, assignment.name)) if assignment.is_folder else []
        for child in inner:
            match = _VERSION.fullmatch(child.name)
            if match is None or not child.is_folder:
                return []
            who = Identity("teams", name=name, attempt=match["number"])
            place = join(join(student, assignment.name), child.name)
            pieces.append(Piece(who, place, f"{int(match['number']):06}"))
    return pieces


def read_google(listing: Listing, base: str) -> Reading | None:
    """Explain the files in ``base`` as copies of one file under their owners' names; an equal name stays apart."""
    children = listing.children(base)
    matches = [_GOOGLE.fullmatch(stem(child.name)) for child in children]
    files = {(match["file"], kind(child.name)) for match, child in zip(matches, children, strict=True) if match}
    if len(children) < 2 or not all(matches) or len(files) > 1 or any(child.is_folder for child in children):
        return None
    pieces = []
    for match, child in zip(matches, children, strict=True):
        assert match
        name = printable(match["name"])
        label = f"{name} ({match['copy']})" if match["copy"] else name
        pieces.append(Piece(Identity("google", name=name), join(base, child.name), refusal=child.refusal, label=label))
    return Reading("google", pieces)
