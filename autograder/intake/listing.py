"""What lies in a folder or an archive, by names alone: the same view of both; nothing is opened unasked."""

import os
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

from autograder.intake.archive import folders, members
from autograder.intake.disk import link_stays_inside, read_file
from autograder.intake.source import Source, ignored, kind
from autograder.intake.submission import Refusal

_LARGEST_LIST = 64_000_000
_LONGEST_PLACE = 1000
MOST_LOOKED_AT = 200
# Lists that platforms and courses keep beside the work; nobody hands in an answer as one of these.
_BOOKKEEPING = (".toml", ".yml", ".yaml", ".csv", ".db", ".log")


@dataclass(frozen=True, slots=True)
class Child:
    """One name in a folder; ``refusal`` says why it cannot be graded, where its name or kind already does."""

    name: str
    is_folder: bool
    refusal: str = ""


class Listing(Protocol):
    """A folder or an archive; places in it are relative, with ``/``."""

    path: Path

    @property
    def shown(self) -> str:
        """The name to show for it."""

    def children(self, base: str) -> list[Child]:
        """What lies in ``base``, sorted, without what nobody hands in."""

    def holds(self, place: str) -> bool:
        """Whether there is anything at ``place``."""

    def load(self, place: str) -> bytes:
        """The bytes of the file at ``place``; raise :class:`Refusal` where that cannot be had."""


class Folder:
    """A folder on disk."""

    def __init__(self, path: Path, shown: str) -> None:
        self.path, self.shown = path, shown

    def children(self, base: str) -> list[Child]:
        children = []
        with os.scandir(self.path / base) as found:
            for child in sorted(found, key=lambda child: child.name):
                if beside_the_work(child.name):
                    continue
                is_folder = child.is_dir(follow_symlinks=False)
                refusal = "" if is_folder or child.is_file(follow_symlinks=False) else "intake.special"
                if child.is_symlink():
                    refusal = "" if link_stays_inside(Path(child.path), self.path) else "intake.link"
                children.append(_child(child.name, is_folder, refusal))
        return children

    def holds(self, place: str) -> bool:
        return os.path.lexists(self.path / place)

    def load(self, place: str) -> bytes:
        return read_file(self.path / place, _LARGEST_LIST)


class Files(Folder):
    """Some files of a folder, as if there were no others."""

    def __init__(self, path: Path, shown: str, names: Collection[str]) -> None:
        super().__init__(path, shown)
        self._names = frozenset(names)

    def children(self, base: str) -> list[Child]:
        return [child for child in super().children(base) if base or child.name in self._names]


class Archive:
    """A zip, read without unpacking it; raise :class:`Refusal` where it is none."""

    def __init__(self, path: Path, shown: str) -> None:
        self.path, self.shown = path, shown
        usable = (source for source in members(path) if source.problem != "intake.traversal")
        # No file system holds a longer name, and patterns take long over one.
        self._files = {source.name: source for source in usable if len(source.name) <= _LONGEST_PLACE}

    @cached_property
    def _tree(self) -> dict[str, dict[str, Child]]:
        tree: dict[str, dict[str, Child]] = defaultdict(dict)
        for name in self._files:
            *folders, last = name.split("/")
            base = ""
            for folder in folders:
                tree[base][folder] = Child(folder, True)
                base = join(base, folder)
            tree[base].setdefault(last, _child(last, False, ""))
        return tree

    @cached_property
    def _folders(self) -> frozenset[str]:
        return folders(self.path)

    def children(self, base: str) -> list[Child]:
        return [child for name, child in sorted(self._tree.get(base, {}).items()) if not beside_the_work(name)]

    def holds(self, place: str) -> bool:
        return place in self._files or place in self._folders

    def load(self, place: str) -> bytes:
        source: Source | None = self._files.get(place)
        if source is None or source.problem:
            raise Refusal("intake.unreadable")
        return source.load()


def _child(name: str, is_folder: bool, refusal: str) -> Child:
    unsupported = not refusal and not is_folder and not kind(name)
    return Child(name, is_folder, "intake.unsupported" if unsupported else refusal)


def join(base: str, name: str) -> str:
    """The place of ``name`` in the folder ``base``."""
    return f"{base}/{name}" if base else name


def beside_the_work(name: str) -> bool:
    """Whether such a name is no part of anybody's work."""
    return ignored(name) or name.lower().endswith(_BOOKKEEPING)


def notebooks(listing: Listing, base: str, depth: int = 4, most: int = MOST_LOOKED_AT) -> list[str]:
    """Places below ``base`` that may hold a notebook by their name, among the first ``most`` names of each folder."""
    found: list[str] = []
    for child in listing.children(base)[:most]:
        place = join(base, child.name)
        if child.is_folder and depth:
            found += notebooks(listing, place, depth - 1, most)
        elif not child.is_folder and not child.refusal:
            found.append(place)
    return found


def common_start(names: Collection[str]) -> str:
    """The longest text that all the names begin with."""
    first, last = min(names), max(names)
    return next((first[:at] for at in range(len(first)) if not last.startswith(first[: at + 1])), first)
