"""Grading many: workers side by side, watched over by the process that keeps the journal."""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import wait
from typing import Any

from autograder.grading.many.worker import Job, Worker
from autograder.intake.discover import Entry


def grade_many(entries: Sequence[Entry], jobs: int, job: Job) -> Iterator[dict[str, Any] | None]:
    """Yield one journal row per entry as it is graded, in any order, or None where an earlier row still stands.

    A worker that dies or is stuck is replaced and its entry tried again; an entry that fails every time is given up
    under its name. An error that concerns the whole run, such as a full disk, is raised.
    """
    queue = deque(entries)
    workers = [Worker(job) for _ in range(min(jobs, len(entries)))]
    try:
        for worker in workers:
            worker.take(queue.popleft())
        while busy := [worker for worker in workers if worker.entry]:
            patience = min(worker.deadline for worker in busy) - time.monotonic()
            ready = wait([worker.pipe for worker in busy], max(0.0, patience))
            for worker in busy:
                if worker.pipe in ready or worker.deadline <= time.monotonic():
                    rows = list(_collect(worker, worker.pipe in ready))
                    if queue and not worker.entry:  # it works on while the row is written down
                        worker.take(queue.popleft())
                    yield from rows
    finally:
        for worker in workers:
            worker.stop()


def _collect(worker: Worker, answered: bool) -> Iterator[dict[str, Any] | None]:
    if answered:
        try:
            yield worker.result()
        except (EOFError, ConnectionResetError):
            answered = False
    if not answered:
        given_up = worker.try_again()
        if given_up:
            yield given_up
