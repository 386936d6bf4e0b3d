"""Grading many: workers side by side, watched over by the process that keeps the journal."""

from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import wait
from typing import Any

from autograder.findings import Finding
from autograder.grading.many.work import Job
from autograder.grading.many.worker import LOOK_EVERY_S, Worker
from autograder.intake.discover import Entry


def grade_many(entries: Sequence[Entry], jobs: int, job: Job) -> Iterator[dict[str, Any]]:
    """Yield one journal row per entry as it is graded, in any order, an empty one where an earlier row still stands.

    A worker that dies is replaced and its entry tried again; an entry that kills it every time, or that keeps it for
    too long, is given up under its name. An error that concerns the whole run, such as a full disk, is raised.
    """
    workers = [Worker(job) for _ in range(min(jobs, len(entries)))]
    try:
        yield from grade_with(workers, entries)
    finally:
        for worker in workers:
            worker.stop()


def grade_with(workers: Sequence[Worker], entries: Sequence[Entry]) -> Iterator[dict[str, Any]]:
    """Yield the rows of ``entries`` as :func:`grade_many` does, from workers that are idle and stay."""
    queue = deque(entries)
    for worker in workers[: len(queue)]:
        worker.take(queue.popleft())
    while busy := [worker for worker in workers if worker.entry]:
        ready = wait([worker.pipe for worker in busy], LOOK_EVERY_S)
        for worker in busy:
            row = _collect(worker, worker.pipe in ready)
            if queue and not worker.entry:  # it works on while the row is written down
                worker.take(queue.popleft())
            if row is not None:
                yield row


def _collect(worker: Worker, answered: bool) -> dict[str, Any] | None:
    if answered:
        try:
            return worker.answer()
        except (EOFError, ConnectionResetError):
            return worker.try_again()
    return worker.give_up(Finding("grading.too_long", {})) if worker.is_stuck else None
