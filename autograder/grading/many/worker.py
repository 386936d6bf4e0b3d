"""One worker process: it reads and grades one entry after another behind a fork-server of its own."""

import contextlib
import ctypes
import errno
import gc
import multiprocessing
import os
import signal
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from autograder.config import Config
from autograder.findings import Finding
from autograder.grading.confined import confined_server
from autograder.grading.many.rerender import RECEIVED
from autograder.grading.one.grade_one import Graded, grade_one
from autograder.grading.one.hidden_test_files import hidden_test_files
from autograder.intake.discover import Entry
from autograder.intake.disk import read_file
from autograder.intake.read import read
from autograder.intake.submission import Refusal, Rejected, Submission
from autograder.reporting.files import write_atomic
from autograder.reporting.gradebook import write_student
from autograder.reporting.results import SubmissionResult
from autograder.reporting.schema import row, to_bytes
from autograder.reporting.words import Words
from autograder.sandbox.client import Server

ATTEMPTS = 3
FAILURE = "error.txt"
STUCK_AFTER_S = 300.0
END_S = 5.0
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Job:
    """What every worker needs to know; ``known`` holds the hashes of submissions that need no second grading."""

    out: Path
    config: Config
    lang: str
    allow_weak: bool
    known: Mapping[str, str]
    device: str = "cpu"


class Worker:
    """The parent's side of one worker process."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.entry: Entry | None = None
        self._attempt = 0
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("fork")
        self.pipe, child_end = context.Pipe()
        self._process = context.Process(target=_main, args=(self._job, child_end, os.getpid()), daemon=True)
        self._process.start()
        child_end.close()

    def take(self, entry: Entry) -> None:
        """Start grading ``entry``."""
        self.entry, self._attempt, self.deadline = entry, 1, time.monotonic() + STUCK_AFTER_S
        self._send(entry)

    def result(self) -> dict[str, Any] | None:
        """Return the entry's journal row; raise EOFError where the process died."""
        outcome = self.pipe.recv()
        self.entry = None
        if isinstance(outcome, Exception):
            raise outcome
        assert outcome is None or isinstance(outcome, dict)
        return outcome

    def try_again(self) -> dict[str, Any] | None:
        """Replace a dead or stuck process and give it its entry once more; give the entry up after some attempts."""
        entry = self.entry
        assert entry is not None
        self.stop()
        self._start()
        if self._attempt < ATTEMPTS:
            self._attempt, self.deadline = self._attempt + 1, time.monotonic() + STUCK_AFTER_S
            self._send(entry)
            return None
        self.entry = None
        given_up = Finding("grading.given_up", {"attempts": ATTEMPTS})
        return row(SubmissionResult(entry.student, entry.file, "", self._job.device, rejected=given_up))

    def stop(self) -> None:
        """End the process; its fork-server and child end with it."""
        if self.entry is None:
            self._send(None)
            self._process.join(END_S)
        self._process.kill()
        self._process.join()
        self.pipe.close()

    def _send(self, entry: Entry | None) -> None:
        try:
            self.pipe.send(entry)
        except BrokenPipeError:
            return  # the process is dead, which the next wait on its pipe reports


def _main(job: Job, pipe: Connection, parent: int) -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died before it could be asked for
        os._exit(1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    words = Words(job.lang)
    hidden_test_files("cpu")
    gc.freeze()  # what is loaded by now stays, and need not be searched for garbage at every submission
    try:
        with confined_server(job.allow_weak, job.device) as server:
            while (entry := pipe.recv()) is not None:
                try:
                    outcome = _grade(server, entry, job, words)
                except Exception as error:
                    if isinstance(error, OSError) and error.errno != errno.ENOMEM:
                        raise  # a full disk, say: nobody else can be graded either
                    _note_failure(job, entry)
                    os._exit(1)  # to be tried in a fresh process
                pipe.send(outcome)
    except EOFError:
        return
    except Exception as error:
        pipe.send(error)
        os._exit(1)


def _note_failure(job: Job, entry: Entry) -> None:
    """Leave word, for whoever runs the grader, of how it failed on an entry; a later success takes it away again."""
    folder = job.out / "students" / entry.student
    with contextlib.suppress(Exception):
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / FAILURE, traceback.format_exc().encode(errors="replace"))


def _grade(server: Server, entry: Entry, job: Job, words: Words) -> dict[str, Any] | None:
    submission = read(entry)
    if job.known.get(submission.student) == submission.sha256:
        return None
    graded: Graded = _grader(job.device)(server, submission, job.config, words)
    write_student(job.out, graded.result, words, job.config.feedback)
    folder = job.out / "students" / graded.result.student
    write_atomic(folder / "timing.json", to_bytes(graded.timing))
    (folder / FAILURE).unlink(missing_ok=True)
    content = submission.content if isinstance(submission, Submission) else _unread(entry)
    (folder / RECEIVED).mkdir(exist_ok=True)
    write_atomic(folder / RECEIVED / Path(submission.file).name, content)
    return row(graded.result)


def _unread(entry: Entry) -> bytes:
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
