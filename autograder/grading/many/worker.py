"""A worker process as the run sees it: given one entry after another, watched from outside, replaced when it fails."""

import multiprocessing
import os
import time
from multiprocessing.connection import Connection
from typing import Any

from autograder.findings import Finding
from autograder.grading.many.work import BEGUN, Job, work
from autograder.grading.one.hidden_test_files import hidden_test_files
from autograder.intake.discover import Entry
from autograder.reporting.results import SubmissionResult
from autograder.reporting.schema import row
from autograder.sandbox.client import START_S, cpu_clock

ATTEMPTS = 3
END_S = 5.0
LOOK_EVERY_S = 0.5
MOST_CPU_S, MOST_WALL_S = 12.0, 700.0
"""Of a worker's own, for one entry: what is read and judged has budgets far below; this is for what no budget sees."""


def given_up(entry: Entry, why: Finding, device: str) -> dict[str, Any]:
    """Return the journal row of an entry that could not be graded for no fault that can be named of the file."""
    return row(SubmissionResult(entry.student, entry.file, "", device, rejected=why, who=entry.who))


class Worker:
    """The run's side of one worker process."""

    pipe: Connection

    def __init__(self, job: Job) -> None:
        self._job = job
        self.entry: Entry | None = None
        self._attempt = 0
        self._start()

    def _start(self) -> None:
        hidden_test_files("cpu")  # Otter's import, paid once for every process that is forked from here on
        context = multiprocessing.get_context("fork")
        self.pipe, child_end = context.Pipe()
        self._process = context.Process(target=work, args=(self._job, child_end, os.getpid()), daemon=True)
        self._process.start()
        child_end.close()

    def take(self, entry: Entry) -> None:
        """Start grading ``entry``."""
        self.entry, self._attempt = entry, 1
        self._send(entry)

    def answer(self) -> dict[str, Any] | None:
        """Return the entry's journal row, or None as long as there is none; raise EOFError where the process died.

        An entry whose earlier row still stands gives an empty one.
        """
        outcome = self.pipe.recv()
        if outcome == BEGUN:
            self._allow(MOST_WALL_S)
            return None
        self.entry = None
        if isinstance(outcome, Exception):
            raise outcome
        assert isinstance(outcome, dict)
        return outcome

    @property
    def is_stuck(self) -> bool:
        """Whether the process has worked on its entry for longer than any may take."""
        return time.monotonic() > self._wall_end or (cpu_clock(self._pid) or 0.0) > self._cpu_end

    def try_again(self) -> dict[str, Any] | None:
        """Replace a dead process and give it its entry once more; after some attempts return the row that says so."""
        if self._attempt == ATTEMPTS:
            return self.give_up(Finding("grading.given_up", {"attempts": ATTEMPTS}))
        entry, attempt = self.entry, self._attempt
        self._replace()
        self.entry, self._attempt = entry, attempt + 1
        self._send(entry)
        return None

    def give_up(self, why: Finding) -> dict[str, Any]:
        """Replace the process and return the row of an entry that is not graded."""
        entry = self.entry
        assert entry is not None
        self._replace()
        return given_up(entry, why, self._job.device)

    def stop(self) -> None:
        """End the process; its fork-server and child end with it."""
        if self.entry is None:
            self._send(None)
            self._process.join(END_S)
        self._process.kill()
        self._process.join()
        self.pipe.close()

    def _replace(self) -> None:
        self.stop()
        self.entry = None
        self._start()

    def _send(self, entry: Entry | None) -> None:
        self._allow(START_S + MOST_WALL_S)  # it may have to wait for its fork-server
        try:
            self.pipe.send(entry and (entry, self._job.known.get(entry.student)))
        except BrokenPipeError:
            return  # the process is dead, which the next wait on its pipe reports

    def _allow(self, wall_s: float) -> None:
        assert self._process.pid is not None
        self._pid = self._process.pid
        self._wall_end = time.monotonic() + wall_s
        self._cpu_end = (cpu_clock(self._pid) or 0.0) + MOST_CPU_S
