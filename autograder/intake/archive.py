"""What a student's zip holds, as sources; only the members needed are read."""

from functools import partial
from pathlib import Path

from autograder.intake.source import MAX_FILE, MEGABYTE, Source, ignored
from autograder.intake.submission import Refusal
from autograder.outside import zips

_CODES = {
    "": "",
    "traversal": "intake.traversal",
    "link": "intake.link",
    "encrypted": "intake.encrypted",
    "method": "intake.zip_method",
    "bomb": "intake.bomb",
}


def members(archive: bytes | Path) -> list[Source]:
    """List the files in an archive, given as bytes or as a path; raise :class:`Refusal` when it is not a usable zip."""
    sources = {}
    try:
        for member in zips.members(archive):
            if not any(ignored(part) for part in member.name.split("/") if part.strip(".")):
                sources[member.name] = Source(member.name, partial(_load, member), _CODES[member.problem])
    except zips.TooMany as error:
        raise Refusal("intake.too_many", limit=zips.MAX_MEMBERS) from error
    except zips.BadZip as error:
        raise Refusal("intake.bad_zip") from error.__cause__
    return list(sources.values())


def folders(archive: Path) -> frozenset[str]:
    """Return every folder in a usable zip, those included that nobody hands in, such as a clone's ``.git``."""
    found: set[str] = set()
    for member in zips.members(archive):
        place = member.name.rpartition("/")[0]
        while place and place not in found:
            found.add(place)
            place = place.rpartition("/")[0]
    return frozenset(found)


def _load(member: zips.Member) -> bytes:
    try:
        return member.read(MAX_FILE)
    except zips.TooBig as error:
        limit = MAX_FILE // MEGABYTE
        raise Refusal("intake.too_big", megabytes=error.size // MEGABYTE, limit=limit) from error
    except zips.BadZip as error:
        raise Refusal("intake.bad_zip") from error.__cause__
