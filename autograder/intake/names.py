"""Who handed a file in, read from the names that learning platforms give to downloads."""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from autograder.intake.source import kind, stem
from autograder.outside.names import file_name

MAX_CHARACTERS = 1000  # of a name in which a platform's pattern is looked for; no file system allows as many

_MOODLE = re.compile(r"(?P<student>.+)_(?P<number>\d+)_assignsubmission_(?:file|onlinetext)(?:_.*)?", re.DOTALL)
_BLACKBOARD = re.compile(r".+_attempt_(?P<attempt>\d{4}(?:-\d\d){5})[_.].*", re.DOTALL)
# Ids of at least two and three digits, or names such as lab_2_1_alice would pass for Canvas.
_CANVAS = re.compile(
    r"(?:(?P<student>.+?)_)?(?:LATE_)?(?P<number>\d{2,}|anon_[A-Za-z0-9]+)_(?:(?P<attachment>\d{3,})_.+|(?:text|link)\.html)",
    re.DOTALL,
)
_OTTER = re.compile(r"(?P<student>.+)_(?P<time>\d{4}_\d\d_\d\dT\d\d_\d\d_\d\d_\d{6}(?: ?\(\d+\))?)", re.DOTALL)
_GRADESCOPE = re.compile(r"submission_\d+")


@dataclass(frozen=True, slots=True)
class Identity:
    """A student as named by a platform: ``number`` tells namesakes apart, ``attempt`` sorts by time."""

    student: str
    number: str = ""
    attempt: str = ""
    from_platform: bool = True


def identify(names: Sequence[str], folders: Collection[str] = ()) -> list[Identity]:
    """Name the student behind each of the names in one place; ``folders`` are those that are no file's."""
    names = [name[:MAX_CHARACTERS] for name in names]
    canvas = [_CANVAS.fullmatch(name) for name in names]
    attachments = Counter(match["attachment"] for match in canvas if match and match["attachment"])
    # Canvas numbers every attachment once; a number seen twice is part of somebody's own naming.
    is_canvas = all(count == 1 for count in attachments.values())
    return [
        _from_platform(name, match if is_canvas else None) or _from_name(name, name in folders)
        for name, match in zip(names, canvas, strict=True)
    ]


def is_class_download(names: Sequence[str]) -> bool:
    """Whether every one of the names, and there is one, was given by a platform to a student's work."""
    named = zip(names, identify(names), strict=True)
    return bool(names) and all(identity.from_platform or _GRADESCOPE.fullmatch(name) for name, identity in named)


def safe(name: str) -> str:
    """The name fit as a folder's name on any system."""
    return file_name(name, "student")


def unique(identities: Sequence[Identity]) -> list[str]:
    """A folder name for each, distinct even where upper and lower case are the same."""
    wanted = [safe(identity.student) for identity in identities]
    shared = Counter(map(_folded, wanted))
    # Names that need no suffix come first, so that nobody's own name goes to another.
    taken = {key for key, count in shared.items() if count == 1}
    names = []
    for own, identity in zip(wanted, identities, strict=True):
        name = own
        if shared[_folded(own)] > 1:
            base = f"{own}-{safe(identity.number)[:40]}" if identity.number else own
            tries = (base if attempt == 1 else f"{base}-{attempt}" for attempt in range(1, len(wanted) + 2))
            name = next(candidate for candidate in tries if _folded(candidate) not in taken)
            taken.add(_folded(name))
        names.append(name)
    return names


def _from_platform(name: str, canvas: re.Match[str] | None) -> Identity | None:
    if match := _MOODLE.fullmatch(name):
        return Identity(match["student"], match["number"])
    if match := _BLACKBOARD.fullmatch(name):
        _, _, student = name[: match.start("attempt") - len("_attempt_")].partition("_")
        if student:
            return Identity(student, attempt=match["attempt"])
    if canvas:
        return Identity(canvas["student"] or canvas["number"], canvas["number"])
    return None


def _from_name(name: str, is_folder: bool) -> Identity:
    if is_folder:
        return Identity(name, from_platform=False)
    if kind(name) == "zip" and (match := _OTTER.fullmatch(stem(name))):
        return Identity(match["student"], match["time"], from_platform=False)
    return Identity(stem(name), from_platform=False)


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name.casefold())
