"""Which platform made a download: the one that explains the whole listing, else nobody is guessed."""

from collections.abc import Callable, Mapping

from autograder.intake.choose import expected_name
from autograder.intake.listing import Listing, join, notebooks
from autograder.intake.platforms import (
    blackboard,
    brightspace,
    canvas,
    clones,
    drives,
    gradescope,
    moodle,
    nbgrader,
    plain,
)
from autograder.intake.platforms.piece import Reading
from autograder.intake.source import kind, stem
from autograder.intake.submission import UsageError
from autograder.outside.names import printable

PLATFORMS: Mapping[str, Callable[[Listing, str], Reading | None]] = {
    "canvas": canvas.read,
    "moodle": moodle.read,
    "gradescope": gradescope.read,
    "blackboard": blackboard.read,
    "brightspace": brightspace.read,
    "nbgrader": nbgrader.read,
    "github": clones.read,
    "teams": drives.read_teams,
    "google": drives.read_google,
}
LAYOUTS = ("auto", *PLATFORMS, "plain", "one")
_DEEPEST = 4
_NAMED = 3


def read_layout(listing: Listing, layout: str = "auto", pattern: str = "") -> Reading | None:
    """Return whose the pieces of ``listing`` are, None where all of it is one student's; raise :class:`UsageError`.

    Every platform looks at the listing, and below folders that stand alone. One must explain every name. Where none
    explains any, each name is a student's own, unless that would make one student of what looks like a class.
    """
    if layout == "one":
        return None
    bases = _bases(listing)
    if pattern:
        return _whole(plain.read_by_pattern(listing, bases[-1], pattern), listing, "--pattern")
    if layout == "plain":
        # A folder inside can be given itself, one inside an archive cannot.
        return plain.read(listing, bases[-1] if listing.path.is_file() else "")
    names = PLATFORMS if layout == "auto" else (layout,)
    readings = [r for base in bases for name in names if (r := PLATFORMS[name](listing, base)) and r.pieces]
    whole = [reading for reading in readings if not reading.strange]
    if layout != "auto":
        return (
            whole
            or [_whole(reading, listing, f"--layout {layout}") for reading in readings]
            or [_none(listing, layout)]
        )[0]
    if whole:
        if whole[0].doubt:
            raise UsageError(settle(listing, f"the names look like {whole[0].platform}'s, but {whole[0].doubt}"))
        return whole[0]
    # A student may call a file as a platform would; most of a class does not.
    partial = [r for r in readings if len(r.pieces) + r.certain > len(r.strange)]
    if partial:
        return _whole(max(partial, key=lambda reading: len(reading.pieces)), listing, "")
    if saw := _of_several(readings):
        raise UsageError(settle(listing, saw))
    return _own_names(listing, bases)


def recognised(listing: Listing) -> bool:
    """Whether some platform explains every name in ``listing``."""
    readings = (read(listing, "") for read in PLATFORMS.values())
    return any(reading and reading.pieces and not reading.strange for reading in readings)


def _of_several(readings: list[Reading]) -> str:
    """What to say where no platform explains most names, and several together do."""
    explained = {piece.place for reading in readings for piece in reading.pieces}
    if len(readings) < 2 or len(explained) <= len(set.intersection(*(set(reading.strange) for reading in readings))):
        return ""
    counts = ", ".join(f"{len(reading.pieces)} like {reading.platform}'s" for reading in readings)
    return f"its names are of several platforms ({counts})"


def _bases(listing: Listing) -> list[str]:
    """The listing's root, and what is below as long as there is nothing but one folder."""
    bases = [""]
    while len(bases) <= _DEEPEST:
        children = listing.children(bases[-1])
        folders = [child for child in children if child.is_folder]
        if len(folders) != 1 or any(kind(child.name) for child in children if not child.is_folder):
            break
        bases.append(join(bases[-1], folders[0].name))
    return bases


def _own_names(listing: Listing, bases: list[str]) -> Reading | None:
    """Each name is one student's; but what looks like a class must not become one student."""
    inner, many = bases[-1], _looks_like_a_class(listing, bases[-1])
    if listing.path.is_file():
        if many:
            raise UsageError(
                settle(listing, f"its names are no platform's, and it holds notebooks of {_NAMED} names or more")
            )
        return None
    reading = plain.read(listing, "")
    if reading and len(bases) > 1 and many:
        raise UsageError(settle(listing, f"all notebooks are in '{printable(inner)}', as of one student or of a class"))
    if reading and reading.doubt:
        raise UsageError(settle(listing, reading.doubt))
    return reading


def _looks_like_a_class(listing: Listing, base: str) -> bool:
    """Whether notebooks lie in several folders, or beside one another under names that nobody gives to copies."""
    found = notebooks(listing, base)
    folders = {place.rpartition("/")[0] for place in found} - {base}
    beside = [place for place in found if place.rpartition("/")[0] == base]
    # Copies of the notebook have its name; an archive inside an archive is somebody's hand-in, whatever its name.
    names = {stem(place) for place in beside if kind(place) == "zip"}
    names |= {stem(place) for place in beside if kind(place) == "notebook" and not expected_name(place)}
    return len(folders) >= _NAMED or len(names) >= _NAMED


def _whole(reading: Reading, listing: Listing, by: str) -> Reading:
    if reading.strange:
        total = len(reading.pieces) + len(reading.strange)
        strange = ", ".join(f"'{printable(name)}'" for name in reading.strange[:_NAMED])
        more = " and others" if len(reading.strange) > _NAMED else ""
        whose = f"{by} explains" if by else f"{reading.platform}'s names explain"
        raise UsageError(settle(listing, f"{whose} {total - len(reading.strange)} of {total}, not {strange}{more}"))
    return reading


def _none(listing: Listing, layout: str) -> Reading:
    raise UsageError(settle(listing, f"there is nothing named as {layout} does"))


def settle(listing: Listing, saw: str) -> str:
    """Return the sentence that says what was seen and how to settle who handed in."""
    return (
        f"Who handed in is not clear in '{listing.shown}': {saw}; take away what does not belong there, or say "
        "--layout plain (each name is one student's), --layout one, a platform's name, or --pattern."
    )
