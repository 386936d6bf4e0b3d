"""Gradescope's export: ``submission_N/`` folders, and in ``submission_metadata.yml`` who handed each of them in."""

import re
from typing import Any

import yaml

from autograder.identity import Identity
from autograder.intake.listing import Listing, join
from autograder.intake.platforms.piece import Piece, Reading
from autograder.intake.submission import UsageError
from autograder.outside.names import printable

_FOLDER = re.compile(r"submission_\d+")
LIST = "submission_metadata.yml"


def read(listing: Listing, base: str) -> Reading | None:
    """Explain the names in ``base`` as Gradescope's; everyone who handed in together gets a piece."""
    pieces: list[Piece] = []
    strange = []
    children = listing.children(base)
    if not any(_FOLDER.fullmatch(child.name) for child in children):
        return None
    known = _list(listing, join(base, LIST))
    for child in children:
        if _FOLDER.fullmatch(child.name):
            pieces += [
                Piece(who, join(base, child.name), gradable=not child.refusal, refusal=child.refusal)
                for who in _people(known.get(child.name), child.name)
            ]
        else:
            strange.append(child.name)
    return Reading("gradescope", pieces, strange)


def _list(listing: Listing, place: str) -> dict[str, Any]:
    if not listing.holds(place):
        return {}
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # text only: an id such as 0012 is no number
    try:
        content = yaml.load(listing.load(place), loader)
        assert isinstance(content, dict)
    except (yaml.YAMLError, AssertionError, ValueError, RecursionError) as error:
        said = f"{printable(place)} in '{listing.shown}' is no list that Gradescope wrote"
        raise UsageError(f"{said}; download the export again, or delete that file to grade without names.") from error
    return content


def _people(entry: Any, folder: str) -> list[Identity]:
    """Everyone named for a submission; where nobody is, its own number stands for them."""
    own = entry if isinstance(entry, dict) else {}
    submitters = [s for s in own.get(":submitters") or () if isinstance(s, dict)]
    history = own.get(":history") or ()
    people = []
    for submitter in submitters:
        name, sid, email = (_text(submitter.get(f":{key}")) for key in ("name", "sid", "email"))
        if not (sid or email):
            continue
        others = tuple(_text(s.get(":name")) for s in submitters if s is not submitter)
        people.append(
            Identity(
                "gradescope", sid or email, email.partition("@")[0], name, email, others,
                _time(_text(own.get(":created_at"))), attempt=folder, attempts_seen=1 + len(history),
            )
        )  # fmt: skip
    return people or [Identity("gradescope", folder, attempt=folder)]


def _text(value: object) -> str:
    return printable(value) if isinstance(value, str) and value not in ("~", "null") else ""


def _time(text: str) -> str:
    """Gradescope writes ``2026-11-01 11:58:02.031000000 Z``."""
    match = re.fullmatch(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)? ?(Z|[+-]\d\d:?\d\d)?", text)
    return f"{match[1]}T{match[2]}{'+00:00' if match[3] == 'Z' else match[3] or ''}" if match else ""
