"""One worker process: it reads and grades one entry after another behind a fork-server of its own."""

import ctypes
import multiprocessing
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from autograder.config import Config
from autograder.contract.finding import Finding
from autograder.grading.grade_one import Graded, grade_one
from autograder.intake.read import read
from autograder.intake.discover import Entry
from autograder.intake.submission import Submission
from autograder.grading.outputs import RECEIVED
from autograder.reporting.files import write_atomic
from autograder.reporting.gradebook import write_student
from autograder.reporting.results import SubmissionResult
from autograder.reporting.schema import row, to_bytes
from autograder.reporting.words import Words
from autograder.grading.confined import confined_server
from autograder.sandbox.client import ForkServer

ATTEMPTS = 3
STUCK_AFTER_S = 300.0
PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Job:
    """What every worker needs to know; ``known`` holds the hashes of submissions that need no second grading."""

    out: Path
    config: Config
    lang: str
    allow_weak: bool
    known: Mapping[str, str]


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
        self._process = context.Process(target=_main, args=(self._job, child_end), daemon=True)
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
        return row(SubmissionResult(entry.student, entry.file, "", "cpu", rejected=given_up))

    def stop(self) -> None:
        """End the process; its fork-server and child end with it."""
        self._process.kill()
        self._process.join()
        self.pipe.close()

    def _send(self, entry: Entry) -> None:
        try:
            self.pipe.send(entry)
        except BrokenPipeError:
            return  # the process is dead, which the next wait on its pipe reports


def _main(job: Job, pipe: Connection) -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    words = Words(job.lang)
    try:
        with confined_server(job.allow_weak) as server:
            while True:
                pipe.send(_grade(server, pipe.recv(), job, words))
    except EOFError:
        return
    except Exception as error:
        pipe.send(error)
        os._exit(1)


def _grade(server: ForkServer, entry: Entry, job: Job, words: Words) -> dict[str, Any] | None:
    submission = read(entry)
    if job.known.get(submission.student) == submission.sha256:
        return None
    graded: Graded = grade_one(server, submission, job.config, words)
    write_student(job.out, graded.result, words, job.config.feedback)
    folder = job.out / "students" / graded.result.student
    write_atomic(folder / "timing.json", to_bytes(graded.timing))
    if isinstance(submission, Submission):
        (folder / RECEIVED).mkdir(exist_ok=True)
        write_atomic(folder / RECEIVED / Path(submission.file).name, submission.content)
    return row(graded.result)
