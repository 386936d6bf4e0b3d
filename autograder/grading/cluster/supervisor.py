"""A process beside a cluster's worker: it keeps one pool worker with its fork-server, as a run on one machine does.

It is a program of its own because the pool forks, which a cluster's worker with its threads and event loop must not.
"""

import contextlib
import ctypes
import os
import shutil
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from autograder.config import Config
from autograder.errors import GraderError
from autograder.grading.many.canary import canary, watched_over
from autograder.grading.many.pool import grade_with
from autograder.grading.many.work import PR_SET_PDEATHSIG, Job, Known
from autograder.grading.many.worker import Worker
from autograder.intake.discover import Entry

HELLO = Entry("hello", "hello", Path(), refusal="intake.no_notebook")
"""Graded first: that it comes back says that the fork-server stands behind its walls, and on which versions."""


class Unlike(GraderError):
    """A worker would grade differently from the run that sends it work; the text is one sentence that says how."""


@dataclass(frozen=True)
class Order:
    """What a run sends to every worker, once; ``seed`` is the text of the course seed, empty for the built-in one."""

    config: Config
    lang: str
    allow_weak: bool
    device: str
    seed: str
    versions: Mapping[str, str]


@dataclass(frozen=True)
class Chunk:
    """Some entries with their files, and what is known of those that may need no second grading."""

    entries: Sequence[Entry]
    known: Mapping[str, Known]


@dataclass(frozen=True)
class Returned:
    """A journal row, empty where an earlier one still stands, and the files of the student's folder by their path."""

    row: dict[str, Any]
    files: Mapping[str, bytes]


def main() -> None:
    """Answer an order with None and every chunk with what came of it, or either with the error that ends the run."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(sys.argv[2]):
        os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe = Connection(int(sys.argv[1]))
    with contextlib.suppress(EOFError, BrokenPipeError):
        try:
            _serve(pipe, pipe.recv(), Path(sys.argv[3]))
        except (GraderError, OSError) as error:
            pipe.send(error)


def _serve(pipe: Connection, order: Order, out: Path) -> None:
    known: dict[str, Known] = {}
    config = replace(order.config, seed_file=_in_memory(order.seed) if order.seed else "")
    worker = Worker(Job(out, config, order.lang, order.allow_weak, known, order.device))
    try:
        [hello] = grade_with([worker], [HELLO])
        _demand_same(order.versions, hello["versions"])
        shutil.rmtree(out / "students")
        pipe.send(None)
        while chunk := pipe.recv():
            known.update(chunk.known)
            with _watched(order) as watch:
                pipe.send([_collected(out, row) for row in watch(grade_with([worker], chunk.entries))])
            known.clear()
    finally:
        worker.stop()


@contextlib.contextmanager
def _watched(order: Order) -> Iterator[Any]:
    """Give what lets the rows of a chunk through: on a GPU only as long as the reference solution passes on it."""
    if order.device != "cuda":
        yield lambda rows: rows
        return
    with canary(order.device, order.allow_weak) as check:
        yield lambda rows: watched_over(rows, check)


def _demand_same(wanted: Mapping[str, str], found: Mapping[str, str]) -> None:
    for name, version in wanted.items():
        if found.get(name, "").partition("+")[0] != version.partition("+")[0]:  # a build of torch for another device
            raise Unlike(f"{name} is {found.get(name, 'missing')} there and {version} here; install the same version.")


def _in_memory(seed: str) -> str:
    """Return the name of a file that holds the seed, no disk and no other process sees, and forked workers can read."""
    fd = os.memfd_create("seed")
    os.write(fd, seed.encode("ascii"))
    return f"/proc/self/fd/{fd}"


def _collected(out: Path, row: dict[str, Any]) -> Returned:
    """Take a student's files out of the folder that they were written into."""
    if not row:
        return Returned(row, {})
    folder = out / "students" / row["student"]
    files = {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
    shutil.rmtree(folder, ignore_errors=True)
    return Returned(row, files)
