"""The journal of a run: one JSON line per graded submission, appended and synced; everything else derives from it."""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from autograder.errors import GraderError
from autograder.reporting.foreign_rows import is_possible
from autograder.reporting.results import SubmissionResult
from autograder.reporting.run_file import NAME as RUN_FILE
from autograder.reporting.schema import RowError, from_row
from autograder.system import CAREFULLY, lock

NAME = "journal.jsonl"
SYNC_EVERY_S = 0.5
_MEND = "that student has no result from it; grade the file again with --resume."
_PARTS = (
    ("journal", ".jsonl"),
    ("students", ""),
    ("bundles", ""),
    ("grades", ".csv"),
    ("class", ".html"),
    ("run", ".json"),
)
LONGEST_LINE = 1 << 24
_HERE = os.O_CREAT | CAREFULLY


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
            lock(self._lock)
        except OSError as error:
            os.close(self._lock)
            raise JournalError(f"Another grader is working in {out}; wait for it or choose another -o.") from error
        path = out / NAME
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise JournalError(f"{path} is no file of a grader's; choose another folder with -o.")
        if resume:
            _cut_torn_line(path)
        elif path.exists():
            _set_aside(out)
        (out / RUN_FILE).unlink(missing_ok=True)  # it stands for a run that has come to its end
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


@dataclass(frozen=True)
class Recorded:
    """What a journal holds: the last result of every student, sorted, and a sentence for every line of no use."""

    results: dict[str, SubmissionResult]
    problems: tuple[str, ...] = ()


def rows(out: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of ``out``'s journal in order; a line that is torn, foreign or impossible is passed over."""
    for _, data in _lines(out):
        if isinstance(data, dict) and _problem(data)[1] is not None:
            yield data


def recorded(out: Path) -> Recorded:
    """Read ``out``'s journal; a torn, foreign, impossible or newer line costs nobody else anything."""
    latest: dict[str, SubmissionResult] = {}
    problems = []
    for number, data in _lines(out):
        why, result = _problem(data)
        if result is None:
            problems.append(f"{out / NAME} line {number} cannot be used ({why}); {_MEND}")
        else:
            latest[result.student] = result
    return Recorded({student: latest[student] for student in sorted(latest)}, tuple(problems))


def _problem(data: object) -> tuple[str, SubmissionResult | None]:
    try:
        result = from_row(data)
    except RowError as error:
        return str(error), None
    return ("", result) if is_possible(result) else ("no grader writes such a row", None)


def _lines(out: Path) -> Iterator[tuple[int, object]]:
    path = out / NAME
    if not path.is_file():
        return
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), 1):
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                yield number, None


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


def _set_aside(out: Path) -> None:
    """Keep an earlier run whole under a number, so that nothing of it passes for a part of the new one."""
    number = 1
    while any((out / f"{name}.{number}{end}").exists() for name, end in _PARTS):
        number += 1
    for name, end in _PARTS:
        if (out / f"{name}{end}").exists():
            (out / f"{name}{end}").rename(out / f"{name}.{number}{end}")
