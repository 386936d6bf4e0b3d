"""Moodle: ``Full name_ID_assignsubmission_file[_]/…``, or the same before each file's name; teams and blind alike."""

import re

from autograder.identity import Identity
from autograder.intake.listing import Listing, join
from autograder.intake.platforms.piece import Piece, Reading
from autograder.outside.names import printable

# The default group of a team assignment has no id.
_NAME = re.compile(r"(?P<name>.+?)(?:_(?P<id>\d+))?_assignsubmission_(?P<kind>file|onlinetext)(?:_.*)?", re.DOTALL)


def read(listing: Listing, base: str) -> Reading | None:
    """Explain the names in ``base`` as Moodle's."""
    pieces, strange = [], []
    for child in listing.children(base):
        match = _NAME.fullmatch(child.name)
        if match is None:
            strange.append(child.name)
            continue
        name = f"Participant {match['id']}" if match["name"] == "Participant" and match["id"] else match["name"]
        who = Identity("moodle", match["id"] or "", name=printable(name))
        text = match["kind"] == "onlinetext" and not child.is_folder
        pieces.append(Piece(who, join(base, child.name), "", not text and not child.refusal, child.refusal))
    return Reading("moodle", pieces, strange) if pieces else None
