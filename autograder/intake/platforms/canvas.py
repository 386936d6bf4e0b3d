"""Canvas: ``name[_LATE]_USERID_ATTACHMENT_file``, blind ``[LATE_]anon_ID_ATTACHMENT_file``.

USERID is the ID of the gradebook.
"""

import re
from collections import Counter, defaultdict

from autograder.identity import Identity
from autograder.intake.listing import Listing, join
from autograder.intake.platforms.piece import Piece, Reading
from autograder.intake.source import stem
from autograder.outside.names import printable

_WORK = r"_(?:(?P<attachment>\d{3,})_(?P<file>.+)|(?P<entry>text|link)\.html)"
# Ids of at least two and three digits, or names such as lab_2_1_alice would pass for Canvas.
_NAMED = re.compile(rf"(?:(?P<name>.+?)_)?(?P<late>LATE_)?(?P<id>\d{{2,}}){_WORK}", re.DOTALL)
_BLIND = re.compile(rf"(?P<name>)(?P<late>LATE_)?(?P<id>anon_[A-Za-z0-9]+){_WORK}", re.DOTALL)
_AGAIN = re.compile(r"(?P<stem>.+)-(?P<number>\d{1,3})", re.DOTALL)  # how a file handed in once more is renamed


def read(listing: Listing, base: str) -> Reading | None:
    """Explain the names in ``base`` as Canvas's."""
    children = listing.children(base)
    names = [child.name for child in children]
    blind = [_BLIND.fullmatch(name) for name in names]
    matches = blind if names and all(blind) else [_NAMED.fullmatch(name) for name in names]
    found = {name: match for name, match in zip(names, matches, strict=True) if match}
    if all(child.is_folder for child in children if child.name in found) or _is_own_numbering(list(found.values())):
        return None
    refusals = {child.name: child.refusal for child in children}
    newest = _newest_of_each_file(found)
    last: dict[str, str] = {}
    for match in found.values():
        last[match["id"]] = max(_attachment(match), last.get(match["id"], ""))
    seen = Counter(match["id"] for match in found.values() if match["attachment"])
    pieces = []
    for name, match in found.items():
        kind, number = _file(match)
        # Attachments are numbered in the order of time, in later downloads as well.
        order = last[match["id"]] if number == newest[match["id"], kind] else _attachment(match)
        pieces.append(_piece(match, join(base, name), order, refusals[name]))
    strange = [name for name in names if name not in found]
    return Reading("canvas", pieces, strange, _doubt(list(found.values()), seen), certain=False)


def own_name(name: str) -> str:
    """What the student called a file that Canvas renamed; any other name as it is."""
    match = _NAMED.fullmatch(name) or _BLIND.fullmatch(name)
    return (match["file"] or name) if match else name


def _piece(match: re.Match[str], place: str, order: str, refusal: str) -> Piece:
    who = Identity("canvas", match["id"], name=printable(match["name"] or match["id"]), late=bool(match["late"]))
    return Piece(who, place, order, not match["entry"] and not refusal, refusal)


def _attachment(match: re.Match[str]) -> str:
    return (match["attachment"] or "").zfill(18)


def _newest_of_each_file(found: dict[str, re.Match[str]]) -> dict[tuple[str, str], int]:
    newest: dict[tuple[str, str], int] = {}
    for match in found.values():
        kind, number = _file(match)
        newest[match["id"], kind] = max(number, newest.get((match["id"], kind), 0))
    return newest


def _file(match: re.Match[str]) -> tuple[str, int]:
    own = stem(match["file"] or "")
    suffix = (match["file"] or "")[len(own) :]
    again = _AGAIN.fullmatch(own)
    return (again["stem"] + suffix, int(again["number"])) if again else (own + suffix, 0)


def _is_own_numbering(found: list[re.Match[str]]) -> bool:
    """Canvas numbers every attachment once, and an id has one name."""
    attachments = Counter(match["attachment"] for match in found if match["attachment"])
    names = defaultdict(set)
    for match in found:
        names[match["id"]].add(match["name"])
    return any(count > 1 for count in attachments.values()) or any(len(own) > 1 for own in names.values())


def _doubt(found: list[re.Match[str]], seen: Counter[str]) -> str:
    if len({match["name"] for match in found}) > 1 or max(seen.values(), default=0) < 2:
        return ""
    if len({_file(match)[0] for match in found if match["attachment"]}) < 2:
        return ""
    return "they could as well be files of many students, numbered by hand"
