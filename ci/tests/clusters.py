"""Dask clusters for tests: a scheduler and workers, each a process of its own, started as the docs say."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from commands import ENVIRONMENT

TESTS = Path(__file__).parent
_BECOME = "import sys; sys.path.insert(0, sys.argv.pop(1)); import environments; environments.become(sys.argv.pop(1)); "
_WORKER = "from distributed.cli.dask_worker import main; main()"
START_S = 120.0


class Cluster:
    """A running scheduler; ``workers`` may be added at any time."""

    def __init__(self, folder: Path, stack: ExitStack, allowed_failures: int) -> None:
        self._folder, self._stack = folder, stack
        self.file = folder / "scheduler.json"
        environment = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": str(allowed_failures)}
        program = [sys.executable, "-m", "distributed.cli.dask_scheduler"]
        arguments = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(self.file)]
        self.scheduler = self._start([*program, *arguments], environment)
        until = time.monotonic() + START_S
        while not self.file.exists() or not self.file.read_text().strip():
            assert self.scheduler.poll() is None
            assert time.monotonic() < until
            time.sleep(0.05)
        self.address = json.loads(self.file.read_text())["address"]

    def add(self, count: int, *options: str, become: str = "", env: Mapping[str, str] | None = None) -> None:
        """Start workers, each with one thread and a nanny that replaces it, and wait until they are there."""
        before = len(self.pids())
        program = [sys.executable, "-c", _WORKER]
        if become:
            program = [sys.executable, "-c", _BECOME + _WORKER, str(TESTS), become]
        place = ["--local-directory", str(self._folder), "--no-dashboard", "--host", "127.0.0.1"]
        self._start([*program, self.address, "--nworkers", str(count), "--nthreads", "1", *place, *options], env or {})
        until = time.monotonic() + START_S
        while len(self.pids()) < before + count:
            assert time.monotonic() < until
            time.sleep(0.1)

    def pids(self) -> Sequence[int]:
        """Return the worker processes."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            return sorted(client.run(os.getpid).values())

    def _start(self, command: Sequence[str], env: Mapping[str, str]) -> "subprocess.Popen[bytes]":
        log = self._stack.enter_context((self._folder / "log.txt").open("ab"))
        environment = {**ENVIRONMENT, **env}
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        self._stack.callback(_end, process)
        return process


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process with what it has started: a nanny ends its workers."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@contextmanager
def cluster(folder: Path, workers: int = 0, allowed_failures: int = 3) -> Iterator[Cluster]:
    """Give a cluster that ends with the test."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        made = Cluster(folder, stack, allowed_failures)
        if workers:
            made.add(workers)
        yield made
