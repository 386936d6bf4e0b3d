"""Reading from a folder that students filled: regular files only, no link followed outside, sizes capped."""

import os
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from autograder.intake.source import MAX_FILE, MEGABYTE, Source, ignored
from autograder.intake.submission import Refusal
from autograder.system import CAREFULLY

MAX_ENTRIES = 50_000
MAX_DEPTH = 20


def read_file(path: Path, limit: int = MAX_FILE) -> bytes:
    """Return the bytes of a regular file; raise :class:`Refusal` for anything else or anything larger."""
    try:
        # Non-blocking, so that a FIFO put in the file's place cannot stop the batch.
        descriptor = os.open(path, os.O_RDONLY | CAREFULLY)
    except OSError as error:
        raise Refusal("intake.unreadable") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise Refusal("intake.special")
        if status.st_size > limit:
            raise Refusal("intake.too_big", megabytes=status.st_size // MEGABYTE, limit=limit // MEGABYTE)
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(limit)
    finally:
        os.close(descriptor)


def link_stays_inside(path: Path, boundary: Path) -> bool:
    """Whether a symbolic link ends at a regular file below ``boundary``."""
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):
        return False
    return target.is_relative_to(boundary) and target.is_file()


def walk(folder: Path, boundary: Path, prefix: str) -> list[Source]:
    """List the files below ``folder`` in the order of their names, at most ``MAX_ENTRIES`` of them."""
    sources: list[Source] = []
    for name, path in _visit(folder, prefix, MAX_DEPTH):
        if len(sources) == MAX_ENTRIES:
            break
        if path.is_symlink():
            problem = "" if link_stays_inside(path, boundary) else "intake.link"
            sources.append(Source(name, partial(read_file, path.resolve()) if not problem else _nothing, problem))
        elif path.is_file():
            sources.append(Source(name, partial(read_file, path)))
    return sources


def _visit(folder: Path, prefix: str, depth: int) -> Iterator[tuple[str, Path]]:
    try:
        with os.scandir(folder) as found:
            children = sorted((child for child in found if not ignored(child.name)), key=lambda child: child.name)
    except OSError as error:
        raise Refusal("intake.unreadable") from error
    for child in children:
        name = f"{prefix}/{child.name}"
        if not child.is_dir(follow_symlinks=False):
            yield name, Path(child.path)
        elif depth:
            yield from _visit(Path(child.path), name, depth - 1)


def _nothing() -> bytes:
    raise Refusal("intake.link")
