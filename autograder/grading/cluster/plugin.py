"""What runs inside a Dask worker: it hands chunks to a supervisor process of its own, which does the grading."""

import asyncio
import os
import socket
import subprocess
import sys
from multiprocessing.connection import Connection
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Any, cast

from distributed import Worker, WorkerPlugin, get_worker

from autograder.errors import GraderError
from autograder.grading.cluster.supervisor import Chunk, Order, Returned

GPU = "GPU"
_PROGRAM = "from autograder.grading.cluster.supervisor import main; main()"


class NoGrader(GraderError):
    """A worker cannot grade at all; the text says why."""


class Supervisor:
    """The Dask worker's side of one supervisor process; for one thread at a time."""

    def __init__(self, order: Order, folder: str) -> None:
        ours, theirs = socket.socketpair()
        self._folder = TemporaryDirectory(dir=folder)
        with theirs:
            arguments = [str(theirs.fileno()), str(os.getpid()), self._folder.name]
            self._process = subprocess.Popen([sys.executable, "-c", _PROGRAM, *arguments], pass_fds=[theirs.fileno()])
        self._pipe = Connection(ours.detach())
        self._pipe.send(order)
        self._greeted = False

    def greet(self) -> None:
        """Wait until it is ready to grade; raise the error that keeps it from that."""
        if not self._greeted:
            self._receive()
            self._greeted = True

    def grade(self, chunk: Chunk) -> list[Returned]:
        """Return what came of every entry of a chunk; raise an error that concerns the whole run."""
        self.greet()
        self._pipe.send(chunk)
        returned: list[Returned] = self._receive()
        return returned

    def stop(self) -> None:
        """End the process, and with it its fork-server; a chunk that it is working on is lost."""
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()

    def _receive(self) -> Any:
        try:
            answer = self._pipe.recv()
        except (EOFError, ConnectionResetError):
            raise NoGrader("its grader ended by itself; look for a lack of memory there.") from None
        if isinstance(answer, Exception):
            raise answer
        return answer


class Grading(WorkerPlugin):
    """Keeps one supervisor per thread of a worker for as long as a run lasts; on a GPU one, where there is a GPU."""

    def __init__(self, name: str, order: Order) -> None:
        self.name, self._order = name, order

    def setup(self, worker: Worker) -> None:
        """Start the supervisors; they get ready by themselves."""
        count = worker.state.nthreads
        if self._order.device == "cuda":
            count = int(GPU in worker.state.total_resources)
        self._supervisors = [Supervisor(self._order, worker.local_directory) for _ in range(count)]
        self._idle: SimpleQueue[Supervisor] = SimpleQueue()
        for supervisor in self._supervisors:
            self._idle.put(supervisor)

    def teardown(self, worker: Worker) -> None:
        """End the supervisors."""
        for supervisor in self._supervisors:
            supervisor.stop()

    def greet(self) -> None:
        """Wait until every supervisor is ready; raise the error that keeps one from that."""
        for supervisor in self._supervisors:
            supervisor.greet()

    def grade(self, chunk: Chunk) -> list[Returned]:
        """Grade a chunk with the next idle supervisor."""
        supervisor = self._idle.get()
        try:
            return supervisor.grade(chunk)
        finally:
            self._idle.put(supervisor)


async def greeted(name: str, dask_worker: Worker) -> str:
    """Return what keeps a worker from grading, empty where nothing does."""
    try:
        await asyncio.to_thread(_grading(dask_worker, name).greet)
    except (GraderError, OSError) as error:
        return str(error)
    return ""


def grade_chunk(name: str, chunk: Chunk) -> list[Returned]:
    """The task that Dask runs; GraderError is raised for what concerns the whole run."""
    worker = get_worker()
    try:
        return _grading(worker, name).grade(chunk)
    except (GraderError, OSError) as error:
        raise NoGrader(f"The worker {worker.address} cannot grade: {error}") from None


def _grading(worker: Worker, name: str) -> Grading:
    return cast(Grading, worker.plugins[name])
