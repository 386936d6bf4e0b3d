"""Who is there: every student's place below the given paths, by names alone and without opening a notebook."""

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.intake.archive import members
from autograder.intake.disk import link_stays_inside
from autograder.intake.names import Identity, identify, is_class_download, unique
from autograder.intake.source import ignored, kind
from autograder.intake.submission import Refusal, UsageError
from autograder.outside.names import shown as shown_name

_GIVE = "give a notebook, a zip or a folder with one file or folder per student"
# Lists that platforms and courses keep beside the work; nobody hands in an answer as one of these.
_BOOKKEEPING = (".toml", ".yml", ".yaml", ".csv", ".db", ".log")


@dataclass(frozen=True, slots=True)
class Entry:
    """One student's place on disk, found by name alone; :func:`autograder.intake.read.read` opens it.

    ``path`` is the file, folder or archive that was given, and ``parts`` what in it belongs to the student (empty for
    all of it). ``refusal`` is set where the name or the kind of the file already says that it cannot be graded.
    """

    student: str
    file: str
    path: Path
    parts: tuple[str, ...] = ()
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class _Child:
    name: str
    is_folder: bool
    refusal: str = ""


def discover(paths: Sequence[Path]) -> list[Entry]:
    """List the students below the paths, each with a name of its own; raise :class:`UsageError` for a bad path."""
    found: dict[tuple[str, ...], tuple[Identity, Entry]] = {}
    for path in paths:
        for identity, entry in _at(path):
            places = tuple(os.path.join(entry.path, part) for part in entry.parts or ("",))
            found.setdefault(places, (identity, entry))
    # Sorted before names are made unique, so that the order of the arguments changes nothing.
    ordered = [found[key] for key in sorted(found)]
    names = unique([identity for identity, _ in ordered])
    entries = [replace(entry, student=name) for name, (_, entry) in zip(names, ordered, strict=True)]
    return sorted(entries, key=lambda entry: entry.student)


def _at(path: Path) -> list[tuple[Identity, Entry]]:
    shown = shown_name(str(path))
    try:
        real = path.resolve(strict=True)
        mode = real.stat().st_mode
        if stat.S_ISDIR(mode):
            return _in_folder(real, shown)
        if stat.S_ISREG(mode):
            real.open("rb").close()
            return _in_file(real, path.name)
    except FileNotFoundError as error:
        raise UsageError(f"There is nothing at '{shown}': {_GIVE}.") from error
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"'{shown}' cannot be read: check its permissions and give it again.") from error
    raise UsageError(f"'{shown}' is neither a file nor a folder: {_GIVE}.")


def _in_file(path: Path, name: str) -> list[tuple[Identity, Entry]]:
    if kind(name) == "zip" and (students := _in_class_download(path, name)):
        return students
    [identity] = identify([name])
    refusal = "" if kind(name) else "intake.unsupported"
    return [(identity, Entry("", shown_name(name), path, (), refusal))]


def _in_folder(folder: Path, shown: str) -> list[tuple[Identity, Entry]]:
    base: tuple[str, ...] = ()
    children = _children(folder, folder)
    # nbgrader keeps the students below "submitted"; a class download is often unpacked into a folder of its own.
    while not any(kind(child.name) for child in children if not child.is_folder):
        inner = [child for child in children if child.is_folder]
        below = next((child for child in inner if child.name == "submitted"), inner[0] if len(inner) == 1 else None)
        if below is None or len(base) == 3:
            break
        deeper = _children(folder.joinpath(*base, below.name), folder)
        if below.name != "submitted" and not _is_wrapper(deeper):
            break
        base, children = (*base, below.name), deeper
    students = _group(folder, base, children)
    if not students:
        raise UsageError(f"No submission was found in '{shown}': {_GIVE}.")
    return students


def _is_wrapper(children: list[_Child]) -> bool:
    names = [child.name for child in children if child.is_folder or kind(child.name)]
    return is_class_download(names) or any(child.is_folder and child.name == "submitted" for child in children)


def _children(folder: Path, boundary: Path) -> list[_Child]:
    children = []
    with os.scandir(folder) as found:
        for child in sorted(found, key=lambda child: child.name):
            if _is_beside_the_work(child.name):
                continue
            is_folder = child.is_dir(follow_symlinks=False)
            refusal = "" if is_folder or child.is_file(follow_symlinks=False) else "intake.special"
            if child.is_symlink():
                refusal = "" if link_stays_inside(Path(child.path), boundary) else "intake.link"
            if not refusal and not is_folder and not kind(child.name):
                refusal = "intake.unsupported"
            children.append(_Child(child.name, is_folder, refusal))
    return children


def _is_beside_the_work(name: str) -> bool:
    return ignored(name) or name.lower().endswith(_BOOKKEEPING)


def _in_class_download(path: Path, name: str) -> list[tuple[Identity, Entry]]:
    """The students inside an archive that a platform made of a whole class, or nothing when it is one student's."""
    try:
        files = [tuple(source.name.split("/")) for source in members(path) if not source.problem]
    except Refusal:
        return []
    base: tuple[str, ...] = ()
    while files := [parts for parts in files if not _is_beside_the_work(parts[0])]:
        tops = {parts[0]: _Child(parts[0], len(parts) > 1) for parts in files}
        if is_class_download([top for top in tops if kind(top) or tops[top].is_folder]) or base[-1:] == ("submitted",):
            children = [
                replace(child, refusal="" if child.is_folder or kind(child.name) else "intake.unsupported")
                for _, child in sorted(tops.items())
            ]
            students = _group(path, base, children)
            return [(identity, replace(entry, file=f"{shown_name(name)}/{entry.file}")) for identity, entry in students]
        if "submitted" in tops:
            files = [parts for parts in files if parts[0] == "submitted"]
        elif len(tops) > 1:
            break
        base = (*base, files[0][0])
        files = [parts[1:] for parts in files if len(parts) > 1]
    return []


def _group(path: Path, base: tuple[str, ...], children: list[_Child]) -> list[tuple[Identity, Entry]]:
    """One entry per student: what a platform or a common stem marks as one student's is put together."""
    groups: dict[tuple[str, str], list[tuple[Identity, _Child]]] = {}
    folders = {child.name for child in children if child.is_folder}
    identities = identify([child.name for child in children], folders)
    for identity, child in zip(identities, children, strict=True):
        groups.setdefault((identity.student, identity.number), []).append((identity, child))
    return [_entry(path, base, group) for group in groups.values()]


def _entry(path: Path, base: tuple[str, ...], group: list[tuple[Identity, _Child]]) -> tuple[Identity, Entry]:
    usable = [(identity, child) for identity, child in group if not child.refusal] or group
    newest = max(identity.attempt for identity, _ in usable)
    chosen = [(identity, child) for identity, child in usable if identity.attempt == newest]
    parts = tuple("/".join((*base, child.name)) for _, child in chosen)
    identity, first = chosen[0]
    return identity, Entry("", shown_name(parts[0]), path, parts, first.refusal)
