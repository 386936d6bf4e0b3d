"""What every fork-server has: its start, and what it says of itself."""

import os
import subprocess
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from autograder.errors import GraderError
from autograder.sandbox.limits import Limits
from autograder.sandbox.trusted.budget import Budget
from autograder.sandbox.trusted.child import Child, Died
from autograder.sandbox.trusted.threads import free_threads
from autograder.sandbox.walls.visible_paths import PACKAGE

MESSAGE_BYTES = 1 << 16
START_S = 300.0
"""How long a new process may take until it says that it is ready."""
_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
_ENVIRONMENT = {
    **_ONE_THREAD,
    "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",  # pyseccomp looks for its library with ldconfig
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",  # the same submission gives the same results
    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",  # a forked child could not use CUDA after this process touched it
    "CUDA_CACHE_DISABLE": "1",
    "CUDA_MPS_PIPE_DIRECTORY": "/nonexistent",  # one fault would end every client of a shared server
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",  # huge pages where possible: less to copy per fork
}
_KEPT = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")
_PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from autograder.sandbox.inside.{} import main; main()"


class ServerDied(GraderError):
    """The fork-server could not start or is gone; the text says why."""


class Server(ABC):
    """Where children come from; for one thread at a time."""

    limits: Limits
    device: str
    _budget: Budget | None = None

    def begin_submission(self) -> None:
        """Let all children from now on share one submission's budget; before, each has one of its own."""
        self._budget = Budget(self.limits)

    def spawn(self) -> Child:
        """Return a fresh child; raise ServerDied, or Died when the submission's budget is used up."""
        if self._budget and self._budget.is_used_up:
            raise Died("run.budget")
        child = self._spawn()
        if self._budget:
            child.charge_to(self._budget)
        return child

    @abstractmethod
    def _spawn(self) -> Child: ...

    @abstractmethod
    def close(self) -> None:
        """End every child."""

    @property
    def layers(self) -> dict[str, str]:
        """Return each wall's name and ``on`` or ``off: why``."""
        return dict(self._hello["layers"])

    @property
    def breaches(self) -> list[str]:
        """Return what a probe behind these walls could do all the same; grading is safe when there is nothing."""
        return [*self._hello["breaches"], *self._free_threads]

    @property
    def versions(self) -> dict[str, str]:
        """Return the versions of Python and torch that children run on, and of a device."""
        return dict(self._hello["versions"])

    @cached_property
    def _free_threads(self) -> list[str]:
        with self.spawn() as child:
            try:
                child.load([])  # it answers from behind the walls
            except Died:
                return ["a child ended before its threads could be looked at"]
            return free_threads(child.pid, self.layers["seccomp"] == "on")

    @cached_property
    def _hello(self) -> dict[str, Any]:
        """What a child's process said of itself when it was ready."""
        return self._greeting()

    @abstractmethod
    def _greeting(self) -> dict[str, Any]: ...


def whereabouts(secrets: Sequence[Path]) -> dict[str, Any]:
    """Return what a probe needs to know: the files, processes and folders that must stay out of its reach."""
    return {
        "client_pid": os.getpid(),
        "secrets": [str(path) for path in (*sorted(Path(PACKAGE).rglob("*.py")), *secrets)],
        "folders": ["/", "/dev/shm", tempfile.gettempdir(), PACKAGE, os.getcwd()],
    }


def launch(program: str, *fds: int) -> "subprocess.Popen[bytes]":
    """Start ``main`` of a module of the sandbox in a Python of its own; the first descriptor brings its settings."""
    return subprocess.Popen(
        [sys.executable, "-sP", "-c", _PROGRAM.format(program), os.path.dirname(PACKAGE), *map(str, fds)],
        env={**_ENVIRONMENT, **{k: v for k, v in os.environ.items() if k in _KEPT}},
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=fds,
        start_new_session=True,
    )
