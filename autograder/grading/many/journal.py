"""The journal of a run: one JSON line per graded submission, appended and synced; everything else derives from it."""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from autograder.errors import GraderError
from autograder.reporting.foreign_rows import result_of

NAME = "journal.jsonl"
SYNC_EVERY_S = 0.5
LONGEST_LINE = 1 << 24
_HERE = os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # no link to elsewhere, no pipe in a file's place


class JournalError(GraderError):
    """The output folder cannot be used; the text is one sentence that says what to do."""


class Journal:
    """The only writer of ``OUT/journal.jsonl``, holding a lock on OUT for as long as it is open.

    Rows are synced to disk in batches, at most half a second after they were appended.
    """

    def __init__(self, out: Path, resume: bool) -> None:
        try:
            out.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(out / ".lock", os.O_RDWR | _HERE, 0o644)
        except OSError as error:
            raise JournalError(f"{out} cannot be written ({error.strerror}); choose another folder with -o.") from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            raise JournalError(f"Another grader is working in {out}; wait for it or choose another -o.") from error
        path = out / NAME
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise JournalError(f"{path} is no file of a grader's; choose another folder with -o.")
        if resume:
            _cut_torn_line(path)
        elif path.exists():
            path.rename(_free_name(path))
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | _HERE, 0o644)
        self._synced = time.monotonic()

    def append(self, row: dict[str, Any]) -> None:
        """Append one row in a single write; a row that did not fit on the disk leaves no trace."""
        line = json.dumps(row, separators=(",", ":")).encode() + b"\n"
        end = os.lseek(self._file, 0, os.SEEK_END)
        try:
            if os.write(self._file, line) < len(line):
                raise OSError(28, "no space left on the disk")
        except OSError as error:
            os.ftruncate(self._file, end)
            raise JournalError(
                f"The journal cannot be written ({error.strerror or error}); make room and run again with --resume."
            ) from error
        if time.monotonic() - self._synced > SYNC_EVERY_S:
            self._sync()

    def _sync(self) -> None:
        os.fsync(self._file)
        self._synced = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _t: TracebackType | None) -> None:
        self._sync()
        os.close(self._file)
        os.close(self._lock)


def rows(out: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of ``out``'s journal in order; a line that is torn, foreign or impossible is passed over."""
    path = out / NAME
    if not path.is_file():
        return
    with path.open("rb") as file:
        while line := file.readline(LONGEST_LINE):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if result_of(row) is not None:
                yield row


def _cut_torn_line(path: Path) -> None:
    if not path.exists():
        return
    with path.open("rb+") as file:
        content_end = file.seek(0, os.SEEK_END)
        while content_end:
            start = max(0, content_end - 65536)
            file.seek(start)
            newline = file.read(content_end - start).rfind(b"\n")
            if newline >= 0:
                file.truncate(start + newline + 1)
                return
            content_end = start
        file.truncate(0)


def _free_name(path: Path) -> Path:
    number = 1
    while (kept := path.with_name(f"journal.{number}.jsonl")).exists():
        number += 1
    return kept
