"""What a worker process does: it reads and grades one entry after another behind a fork-server of its own."""

import contextlib
import ctypes
import errno
import gc
import os
import signal
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from autograder.config import Config
from autograder.findings import Finding
from autograder.grading.confined import confined_server
from autograder.grading.many.received import Received, keep_received
from autograder.grading.one.grade_one import Graded, grade_one
from autograder.identity import Identity
from autograder.intake.discover import Entry
from autograder.intake.disk import read_file
from autograder.intake.read import read
from autograder.intake.submission import Refusal, Rejected, Submission
from autograder.outside.helpers_file import helpers_file, helpers_sha256
from autograder.reporting.files import student_folder, write_atomic
from autograder.reporting.gradebook import write_student
from autograder.reporting.results import SubmissionResult
from autograder.reporting.schema import row, to_bytes
from autograder.reporting.words import Words
from autograder.sandbox.client import Server, ServerDied

BEGUN = "begun"
FAILURE = "error.txt"
TRIES = 2  # a child killed from outside just as it starts looks like a fault of the grader's
PR_SET_PDEATHSIG = 1
OF_THE_RUN = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
"""Errors of the disk that results go to: nobody else can be graded either."""


Known = tuple[tuple[str, str], Identity]
"""Hashes and author of a submission that needs no second grading."""


@dataclass(frozen=True)
class Job:
    """What every worker needs to know; ``known`` stays with the run, which sends each entry with its own."""

    out: Path
    config: Config
    lang: str
    allow_weak: bool
    known: Mapping[str, Known]
    device: str = "cpu"


def work(job: Job, pipe: Connection, parent: int) -> None:
    """Answer every entry with BEGUN and its journal row, which is empty where an earlier one still stands."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before it could be asked for
        os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    words = Words(job.lang)
    gc.freeze()  # what is loaded by now stays, and need not be searched for garbage at every submission
    try:
        with confined_server(job.allow_weak, job.device) as server:
            while (task := pipe.recv()) is not None:
                pipe.send(BEGUN)
                entry, known = task
                pipe.send(_row(server, entry, known, job, words))
    except EOFError:
        return
    except Exception as error:
        pipe.send(error)
        os._exit(1)


def _row(server: Server, entry: Entry, known: Known | None, job: Job, words: Words) -> dict[str, Any]:
    """Return the entry's row; an error in grading it, twice in a row, costs this row only and is named in it."""
    for _ in range(TRIES):
        try:
            return _grade(server, entry, known, job, words)
        except (MemoryError, ServerDied):
            _note_failure(job, entry)
            os._exit(1)  # to be tried in a fresh process
        except Exception as error:
            if isinstance(error, OSError) and error.errno in OF_THE_RUN:
                raise
            _note_failure(job, entry)
            failed = Finding("grading.failed", {"error": type(error).__name__})
    return row(SubmissionResult(entry.student, entry.file, "", job.device, rejected=failed, who=entry.who))


def _note_failure(job: Job, entry: Entry) -> None:
    """Leave word, for whoever runs the grader, of how it failed on an entry; a later success takes it away again."""
    with contextlib.suppress(Exception):
        write_atomic(student_folder(job.out, entry.student) / FAILURE, traceback.format_exc().encode(errors="replace"))


def _grade(server: Server, entry: Entry, known: Known | None, job: Job, words: Words) -> dict[str, Any]:
    submission = read(entry)
    helpers = submission.helpers if isinstance(submission, Submission) else {}
    if known == ((submission.sha256, helpers_sha256(helpers)), entry.who):
        return {}
    graded: Graded = _grader(job.device)(server, submission, job.config, words)
    result = replace(graded.result, who=entry.who, notes=(*graded.result.notes, *entry.remarks))
    write_student(job.out, result, words, job.config.feedback)
    folder = job.out / "students" / result.student
    write_atomic(folder / "timing.json", to_bytes(graded.timing))
    (folder / FAILURE).unlink(missing_ok=True)
    content = submission.content if isinstance(submission, Submission) else handed_in(entry)
    keep_received(job.out, submission.student, Received(submission.file, content, helpers_file(helpers)))
    return row(result)


def handed_in(entry: Entry) -> bytes:
    """Return the file of an entry that could not be graded, empty where there is no single file of sane size."""
    try:
        return read_file(entry.path.joinpath(*entry.parts)) if len(entry.parts) < 2 else b""
    except Refusal:
        return b""


def _grader(device: str) -> Callable[[Server, Submission | Rejected, Config, Words], Graded]:
    if device == "cpu":
        return grade_one
    from autograder.grading.one.grade_on_device import grade_on_device

    return grade_on_device
