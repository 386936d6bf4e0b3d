"""Brightspace (D2L): ``ORG-ID - Name - Nov 1, 2026 1159 PM/…``, or the same before each file's name."""

import re
from datetime import datetime

from autograder.identity import Identity
from autograder.intake.listing import Listing, join
from autograder.intake.platforms.piece import Piece, Reading
from autograder.outside.names import printable

# The date is in the site's language: without knowing it one sees that it is a date, but not which is the later one.
_NAME = re.compile(
    r"\d+-(?P<id>\d+) - (?P<name>.+?) ?- (?P<when>[^-]*\b\d{4}\b[^-]*?\d{3,4}(?: ?[AP]M)?)(?: - .+)?", re.DOTALL
)
_ENGLISH = re.compile(
    r"(?P<month>[A-Z][a-z]{2})[a-z]* (?P<day>\d{1,2}), (?P<year>\d{4}) "
    r"(?P<hour>\d{1,2})(?P<minute>\d\d) (?P<half>[AP]M)"
)
_PAGE = "index.html"


def read(listing: Listing, base: str) -> Reading | None:
    """Explain the names in ``base`` as Brightspace's."""
    pieces, strange = [], []
    for child in listing.children(base):
        match = _NAME.fullmatch(child.name)
        if match:
            when = _time(match["when"])
            attempt = when or printable(match["when"])
            who = Identity("brightspace", match["id"], name=printable(match["name"]), received=when, attempt=attempt)
            pieces.append(Piece(who, join(base, child.name), when, not child.refusal, child.refusal))
        elif child.name != _PAGE:
            strange.append(child.name)
    return Reading("brightspace", pieces, strange) if pieces else None


def _time(written: str) -> str:
    """The time in ISO form, empty for one in another language than English."""
    match = _ENGLISH.fullmatch(written)
    text = "{month} {day} {year} {hour} {minute} {half}".format(**match.groupdict()) if match else ""
    try:
        return datetime.strptime(text, "%b %d %Y %I %M %p").isoformat()
    except ValueError:
        return ""
