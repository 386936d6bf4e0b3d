"""Brightspace (D2L): ``ORG-ID - Name - Nov 1, 2026 1159 PM/…``, or the same before each file's name."""

import re
from datetime import datetime

from autograder.identity import Identity
from autograder.intake.listing import Listing, join
from autograder.intake.platforms.piece import Piece, Reading
from autograder.outside.names import printable

_NAME = re.compile(
    r"\d+-(?P<id>\d+) - (?P<name>.+?) ?- "
    r"(?P<month>[A-Z][a-z]{2})[a-z]* (?P<day>\d{1,2}), (?P<year>\d{4}) "
    r"(?P<hour>\d{1,2})(?P<minute>\d\d) (?P<half>[AP]M)"
    r"(?: - .+)?",
    re.DOTALL,
)
_PAGE = "index.html"


def read(listing: Listing, base: str) -> Reading | None:
    """Explain the names in ``base`` as Brightspace's."""
    pieces, strange = [], []
    for child in listing.children(base):
        match = _NAME.fullmatch(child.name)
        when = _time(match) if match else ""
        if match and when:
            who = Identity("brightspace", match["id"], name=printable(match["name"]), received=when, attempt=when)
            pieces.append(Piece(who, join(base, child.name), when, not child.refusal, child.refusal))
        elif child.name != _PAGE:
            strange.append(child.name)
    return Reading("brightspace", pieces, strange) if pieces else None


def _time(match: re.Match[str]) -> str:
    text = "{month} {day} {year} {hour} {minute} {half}".format(**match.groupdict())
    try:
        return datetime.strptime(text, "%b %d %Y %I %M %p").isoformat()
    except ValueError:
        return ""
