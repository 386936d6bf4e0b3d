"""Who is there: every student's place below the given paths, by names alone and without opening a notebook."""

import os
import stat
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.findings import Finding
from autograder.identity import NOBODY, Identity
from autograder.intake.layout import PLATFORMS, read_layout, recognised, settle
from autograder.intake.listing import Archive, Files, Folder, Listing, notebooks
from autograder.intake.names import unique
from autograder.intake.platforms.piece import Piece
from autograder.intake.platforms.plain import copied
from autograder.intake.source import Source, kind, stem
from autograder.intake.submission import Refusal, UsageError
from autograder.outside.names import printable
from autograder.outside.names import shown as shown_name

_GIVE = "give a notebook, a zip or a folder with one file or folder per student"


@dataclass(frozen=True, slots=True)
class Entry:
    """One student's place on disk, found by name alone; :func:`autograder.intake.read.read` opens it.

    ``path`` is the file, folder or archive that was given, and ``parts`` what in it belongs to the student (empty for
    all of it). ``refusal`` is set where the name or the kind of the file already says that it cannot be graded.
    ``who`` is what the names say about the author, ``left_out`` lists what else is theirs and is not graded, and
    ``remarks`` what the student should know about that. ``carried`` is what :func:`autograder.intake.carry.carry` took
    along of it, to be read on another machine.
    """

    student: str
    file: str
    path: Path
    parts: tuple[str, ...] = ()
    refusal: str = ""
    who: Identity = NOBODY
    left_out: tuple[str, ...] = ()
    remarks: tuple[Finding, ...] = ()
    carried: tuple[Source, ...] | Finding | None = None


_Found = tuple[Listing, Piece]
"""A piece, and where it lies."""


def discover(paths: Sequence[Path], layout: str = "auto", pattern: str = "") -> list[Entry]:
    """List the students below the paths, each with a name of its own; raise :class:`UsageError` for a bad path."""
    singles: dict[Path, tuple[Piece, Entry]] = {}
    handed: dict[tuple[str, ...], dict[str, list[_Found]]] = defaultdict(lambda: defaultdict(list))
    seen: set[str] = set()
    files: dict[Path, dict[str, Path]] = defaultdict(dict)
    places: list[Entry | _Found] = []
    for path in paths:
        real = _usable(path)
        if real.is_dir():
            places += _in_folder(Folder(real, shown_name(str(path))), layout, pattern)
        elif kind(path.name) == "zip" and (students := _in_archive(real, path.name, layout, pattern)):
            places += students
        else:
            files[path.parent][path.name] = real
    for parent, own in files.items():
        places += _in_files(parent, own, layout, pattern)
    for place in places:
        if isinstance(place, Entry):
            singles.setdefault(place.path, (Piece(place.who, "", label=place.student), place))
            continue
        listing, piece = place
        where = os.path.join(listing.path, piece.place) + f"\0{piece.who.key}"
        if where not in seen:
            seen.add(where)
            handed[_owner(listing, piece)][piece.order].append(place)
    found = [(_tie(piece), entry) for piece, entry in singles.values()]
    found += [_entry(attempts) for attempts in handed.values()]
    # Sorted before names are made unique, so that the order of the arguments changes nothing.
    found.sort(key=lambda pair: (os.path.join(pair[1].path, *pair[1].parts[:1]), pair[0]))
    names = unique([label for label, _ in found])
    entries = [replace(entry, student=name) for name, (_, entry) in zip(names, found, strict=True)]
    return sorted(entries, key=lambda entry: entry.student)


def _usable(path: Path) -> Path:
    shown = shown_name(str(path))
    try:
        real = path.resolve(strict=True)
        mode = real.stat().st_mode
        if stat.S_ISDIR(mode):
            os.scandir(real).close()
            return real
        if stat.S_ISREG(mode):
            real.open("rb").close()
            return real
    except FileNotFoundError as error:
        raise UsageError(f"There is nothing at '{shown}': {_GIVE}.") from error
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"'{shown}' cannot be read: check its permissions and give it again.") from error
    raise UsageError(f"'{shown}' is neither a file nor a folder: {_GIVE}.")


def _in_folder(folder: Folder, layout: str, pattern: str) -> list[_Found]:
    reading = read_layout(folder, layout, pattern)
    if reading and reading.pieces:
        return [(folder, piece) for piece in reading.pieces]
    if layout != "one" or not notebooks(folder, ""):
        raise UsageError(f"No submission was found in '{folder.shown}': {_GIVE}.")
    own = Identity(name=printable(folder.path.name))
    return [(folder, Piece(own, child.name)) for child in folder.children("")]


def _in_archive(path: Path, name: str, layout: str, pattern: str) -> list[_Found]:
    try:
        archive = Archive(path, shown_name(name))
    except Refusal:
        return []
    reading = read_layout(archive, layout, pattern)
    return [(archive, piece) for piece in reading.pieces] if reading else []


def _in_files(parent: Path, files: Mapping[str, Path], layout: str, pattern: str) -> list[Entry | _Found]:
    """Files given by name: as a platform calls all of them, else one student each."""
    listing = Files(parent.resolve(), shown_name(str(parent)), files)
    if layout in ("auto", *PLATFORMS) and len(listing.children("")) == len(files):
        reading = None
        if layout != "auto" or pattern or recognised(listing):
            reading = read_layout(listing, layout, pattern)
        if reading:
            return [(listing, piece) for piece in reading.pieces]
    if layout == "auto" and (doubt := copied(files)):
        raise UsageError(settle(listing, doubt))
    return [
        Entry(stem(name), shown_name(name), real, (), "" if kind(name) else "intake.unsupported", _named(name))
        for name, real in files.items()
    ]


def _named(name: str) -> Identity:
    return Identity(name=printable(stem(name)))


def _owner(listing: Listing, piece: Piece) -> tuple[str, ...]:
    """What makes two pieces the same student's: the platform's id anywhere, a mere name only in one place."""
    who = piece.who
    return (who.key,) if who.key else (str(listing.path), who.platform, piece.label or who.label, piece.tie)


def _tie(piece: Piece) -> tuple[str, str]:
    return piece.label or piece.who.label, piece.tie


def _entry(attempts: dict[str, list[_Found]]) -> tuple[tuple[str, str], Entry]:
    """The newest attempt that may hold a notebook, else the newest; what is not graded is listed."""
    newest_first = sorted(attempts, reverse=True)
    order = next((o for o in newest_first if any(_may_be_graded(*found) for found in attempts[o])), newest_first[0])
    usable = [found for found in attempts[order] if not found[1].refusal] or attempts[order]
    listing, first = usable[0]
    usable = [found for found in usable if found[0].path == listing.path]
    parts = tuple(piece.place for _, piece in usable)
    left_out = tuple(p.place for o in newest_first for _, p in attempts[o] if o != order or p.place not in parts)
    who = replace(first.who, attempts_seen=max(len(attempts), first.who.attempts_seen), late=_late(attempts[order]))
    remarks: tuple[Finding, ...] = ()
    if order != newest_first[0]:
        newest = attempts[newest_first[0]][0][1].place
        remarks = (Finding("intake.older_attempt", {"file": shown_name(parts[0]), "newest": printable(newest)}),)
    file = shown_name(parts[0])  # what else was in the download is no student's business
    return _tie(first), Entry(
        "", file, listing.path, parts, first.refusal, who, tuple(map(shown_name, left_out)), remarks
    )


def _late(pieces: list[_Found]) -> bool:
    return any(piece.who.late for _, piece in pieces)


def _may_be_graded(listing: Listing, piece: Piece) -> bool:
    if not piece.gradable:
        return False
    return bool(kind(piece.place)) or bool(notebooks(listing, piece.place, 6))
