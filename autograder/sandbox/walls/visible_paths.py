"""Which files a child may read: Python, its packages and the C library, without the grader's own."""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = str(Path(__file__).resolve().parents[2])
WRITABLE = ("/dev/null",)
_SYSTEM = (
    "/lib /lib64 /usr/lib /usr/lib64 /usr/local/lib /usr/share/zoneinfo /etc/ld.so.cache /etc/localtime"
    " /dev/null /dev/zero /dev/urandom /dev/random"
).split()


@dataclass(frozen=True)
class Readable:
    """Trees to read whole, and folders of which only the list of names is needed (Python's import reads it)."""

    trees: tuple[str, ...]
    listings: tuple[str, ...]


def roots() -> tuple[str, ...]:
    """Return the existing places student code may need, as they are spelt, symbolic links included."""
    prefixes = {os.path.join(prefix, "lib") for prefix in (sys.prefix, sys.base_prefix)}
    packages = [path for path in sys.path if os.path.isdir(path) and not _is_a_checkout(path)]
    site = [path for path in sys.path if os.path.basename(path) in ("site-packages", "dist-packages")]
    wanted = dict.fromkeys([*_SYSTEM, *sorted(prefixes), *packages, *site])
    return tuple(path for path in wanted if os.path.exists(path))


def readable() -> Readable:
    """Return the same places by their real paths, with the grader's own package cut out."""
    trees: list[str] = []
    listings: list[str] = []
    for root in dict.fromkeys(os.path.realpath(path) for path in roots()):
        for path, whole in _without_package(root):
            (trees if whole else listings).append(path)
    return Readable(tuple(dict.fromkeys(trees)), tuple(dict.fromkeys(listings)))


def _without_package(root: str) -> Iterator[tuple[str, bool]]:
    if not _is_or_holds_package(root):
        yield root, True
        return
    if root == PACKAGE:
        return
    yield root, False
    for entry in sorted(os.listdir(root)):
        path = os.path.join(root, entry)
        if not os.path.islink(path):
            yield from _without_package(path)


def _is_a_checkout(path: str) -> bool:
    """Tell whether a folder holds our package or another copy of it, and with it solutions and tests, perhaps."""
    return _is_or_holds_package(path) or os.path.exists(os.path.join(path, "autograder", "sandbox"))


def _is_or_holds_package(path: str) -> bool:
    return (PACKAGE + os.sep).startswith(os.path.realpath(path).rstrip(os.sep) + os.sep)
