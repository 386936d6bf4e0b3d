"""No platform: one file or one folder per student, or names that the course describes by a pattern."""

import re
from collections.abc import Iterable

from autograder.identity import Identity
from autograder.intake.choose import expected_name
from autograder.intake.disk import MAX_ENTRIES
from autograder.intake.listing import Child, Listing, join, notebooks
from autograder.intake.platforms.piece import Piece, Reading
from autograder.intake.source import kind, stem
from autograder.intake.submission import UsageError
from autograder.outside.names import printable

_OTTER = re.compile(r"(?P<name>.+)_(?P<time>\d{4}_\d\d_\d\dT\d\d_\d\d_\d\d_\d{6}(?: ?\(\d+\))?)", re.DOTALL)
# What browsers and file managers add to the name of a copy.
_COPY = re.compile(r"(?P<name>.+?)(?: ?\(\d+\)| - Copy| - 副本| copy(?: \d+)?)", re.DOTALL)
_A_CLASS = 3
GROUPS = ("id", "login", "name", "email", "attempt", "late")


def read(listing: Listing, base: str) -> Reading | None:
    """Take every name in ``base`` for one student; a file, its pair and a folder of one name are the same student's."""
    children = listing.children(base)
    if not children:
        return None
    classes = [child.name for child in children if child.is_folder and _holds_a_class(listing, join(base, child.name))]
    doubt = copied(child.name for child in children if child.is_folder or kind(child.name))
    if 2 * len(classes) > len(children):
        doubt = f"'{printable(classes[0])}' holds notebooks in {_A_CLASS} or more folders, as a class would"
    return Reading("plain", [_piece(child, join(base, child.name)) for child in children], doubt=doubt)


def copied(names: Iterable[str]) -> str:
    """Return what to say where one name is another's with what is added to copies: the same student's, or a namesake's.

    Empty where there is none.
    """
    stems = {stem(name) if kind(name) else name for name in names}
    copy = next((s for s in sorted(stems) if (match := _COPY.fullmatch(s)) and match["name"] in stems), "")
    return f"'{printable(copy)}' may be a copy, or another student's of the same name" if copy else ""


def _piece(child: Child, place: str) -> Piece:
    name = child.name if child.is_folder else stem(child.name)
    match = _OTTER.fullmatch(name) if kind(child.name) == "zip" and not child.is_folder else None
    if match is None:
        return Piece(Identity(name=printable(name)), place, "", not child.refusal, child.refusal, name)
    # Otter calls an export after the notebook; the assignment's own name is nobody's.
    label = f"{match['name']}-{match['time']}" if expected_name(name) else match["name"]
    return Piece(Identity(name=printable(label)), place, "", not child.refusal, child.refusal, label, match["time"])


def _holds_a_class(listing: Listing, folder: str) -> bool:
    inner = [join(folder, child.name) for child in listing.children(folder) if child.is_folder]
    return sum(bool(notebooks(listing, place, 2)) for place in inner[: 10 * _A_CLASS]) >= _A_CLASS


def read_by_pattern(listing: Listing, base: str, pattern: str) -> Reading:
    """Take a name apart by a regular expression with named groups; with a ``/`` in it, whole places are matched."""
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"--pattern {pattern!r} is no regular expression ({error}); mend it.") from error
    unknown = sorted(compiled.groupindex.keys() - set(GROUPS))
    if unknown or not compiled.groupindex.keys() & {"id", "login", "name"}:
        said = f"it has {unknown[0]!r}" if unknown else "it has none of id, login and name"
        raise UsageError(f"--pattern takes the named groups {', '.join(GROUPS)}, and {said}.")
    children = listing.children(base)
    refusals = {child.name: child.refusal for child in children}
    names = (
        notebooks(listing, base, most=MAX_ENTRIES) if "/" in pattern else [join(base, child.name) for child in children]
    )
    pieces, strange = [], []
    for place in names:
        name = place[len(base) + 1 :] if base else place
        if match := compiled.fullmatch(name):
            pieces.append(_by_groups(match.groupdict(), place, refusals.get(name, "")))
        elif not refusals.get(name):
            strange.append(name)
    return Reading("pattern", pieces, strange)


def _by_groups(groups: dict[str, str | None], place: str, refusal: str) -> Piece:
    told = {key: printable(value or "") for key, value in groups.items()}
    attempt = told.get("attempt", "")
    who = Identity(
        "pattern", told.get("id", "") or told.get("login", ""), told.get("login", ""), told.get("name", ""),
        told.get("email", ""), late=bool(told.get("late")), attempt=attempt,
    )  # fmt: skip
    return Piece(who, place, attempt.zfill(12) if attempt else "", not refusal, refusal)
