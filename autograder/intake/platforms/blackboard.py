"""Blackboard: ``<Assignment>_<login>_attempt_<when>[_file]``, the word in the site's language.

The text beside each attempt tells assignment and login apart.
"""

import re

from autograder.identity import Identity
from autograder.intake.listing import Listing, common_start, join
from autograder.intake.platforms.piece import Piece, Reading
from autograder.intake.submission import Refusal
from autograder.outside.names import printable

_NAME = re.compile(r"(?P<front>.+?)_[^\W\d_]+_(?P<when>\d{4}(?:-\d\d){5})(?P<rest>[_.].*)", re.DOTALL)
_NAME_LINE = re.compile(r"[^:：]*[:：]\s*(?P<name>.*)\((?P<login>[^()]+)\)\s*")


def read(listing: Listing, base: str) -> Reading | None:
    """Explain the names in ``base`` as Blackboard's."""
    children = listing.children(base)
    found = [(child, match) for child in children if (match := _NAME.fullmatch(child.name))]
    if not found:
        return None
    fronts = {match["front"] for _, match in found}
    people = _told(listing, base, {child.name: match["front"] for child, match in found if match["rest"] == ".txt"})
    assignment = _assignment(fronts, people)
    pieces = []
    for child, match in found:
        front = match["front"]
        login, name = people.get(front, (front[len(assignment) :], ""))
        day, clock = match["when"][:10], match["when"][11:].replace("-", ":")
        who = Identity("blackboard", login, login, name, received=f"{day}T{clock}", attempt=match["when"])
        place, refusal = join(base, child.name), child.refusal
        pieces.append(Piece(who, place, match["when"], not refusal, refusal, label=printable(login)))
    strange = [child.name for child in children if not _NAME.fullmatch(child.name)]
    return Reading("blackboard", pieces, strange)


def _told(listing: Listing, base: str, texts: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Login and name by what a file's name begins with, from the texts, where that name confirms the login."""
    people = {}
    for text, front in texts.items():
        try:
            first = listing.load(join(base, text)).decode("utf-8-sig", "replace").partition("\n")[0]
        except Refusal:
            continue
        line = _NAME_LINE.fullmatch(first.rstrip("\r"))
        if line and front.endswith(f"_{line['login']}"):
            people[front] = line["login"], printable(line["name"].strip())
    return people


def _assignment(fronts: set[str], people: dict[str, tuple[str, str]]) -> str:
    """What every name begins with: from the texts where there are any, else what all have in common."""
    told = {front.removesuffix(login) for front, (login, _) in people.items()}
    if len(told) == 1:
        return told.pop()
    common = common_start(fronts) if len(fronts) > 1 else next(iter(fronts))
    # Of a single student no file tells where the assignment's name ends, unless there is but one place.
    end = common.rfind("_") if len(fronts) > 1 or common.count("_") == 1 else -1
    return common[: end + 1]
