"""The trusted side of the sandbox: a fork-server as a program of its own, and its children."""

import functools
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from autograder.sandbox.child import Child, Died, Exit
from autograder.sandbox.limits import Limits
from autograder.sandbox.readable import PACKAGE
from autograder.sandbox.request import Reply, Request, request_for
from autograder.sandbox.trace import Trace

__all__ = [
    "Child",
    "Died",
    "ForkServer",
    "Limits",
    "Reply",
    "Request",
    "Server",
    "ServerDied",
    "Trace",
    "request_for",
    "server_on",
]

DEFAULT_LIMITS = Limits()
_MESSAGE_BYTES = 1 << 16
_START_S, _ANSWER_S, _END_S = 120.0, 30.0, 5.0
_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
_ENVIRONMENT = {
    **_ONE_THREAD,
    "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",  # pyseccomp looks for its library with ldconfig
    "HOME": "/nonexistent",
    "LANG": "C.UTF-8",
    "PYTHONHASHSEED": "0",  # the same submission gives the same results
    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",  # a forked child could not use CUDA after this process touched it
    "CUDA_CACHE_DISABLE": "1",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",  # huge pages where possible: less to copy per fork
}
_KEPT = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES")
_PROGRAM = "import sys; sys.path.insert(0, sys.argv[1]); from autograder.sandbox.{} import main; main()"


class ServerDied(Exception):
    """The fork-server could not start or is gone; the text says why, ``restart`` gets a new one."""


class ForkServer:
    """Forks confined children that have torch imported already; for one thread at a time.

    Starting returns at once; the first use waits until the fork-server is ready. ``secrets`` are further files that
    the probe tries to read: those of the package are among them anyway.
    """

    def __init__(self, limits: Limits = DEFAULT_LIMITS, secrets: Sequence[Path] = (), device: str = "cpu") -> None:
        self.limits = limits
        self.device = device
        self._secrets = secrets
        self._start()

    @property
    def layers(self) -> dict[str, str]:
        """Return each wall's name and ``on`` or ``off: why``."""
        return dict(self._hello["layers"])

    @property
    def breaches(self) -> list[str]:
        """Return what a probe behind these walls could do all the same; grading is safe when there is nothing."""
        return list(self._hello["breaches"])

    @property
    def versions(self) -> dict[str, str]:
        """Return the versions of Python and torch the children run on."""
        return dict(self._hello["versions"])

    def spawn(self) -> Child:
        """Return a fresh child; raise ServerDied."""
        _ = self._hello
        requests_end, requests = os.pipe()
        replies, replies_end = os.pipe()
        try:
            answer, fds = self._ask({"do": "spawn"}, [requests_end, replies_end])
        except BaseException:
            _close(requests, replies)
            raise
        finally:
            _close(requests_end, replies_end)
        return Child(fds[0], requests, replies, self.limits, functools.partial(self._reap, answer["pid"]))

    def restart(self) -> None:
        """Replace the fork-server by a fresh one."""
        self.close()
        self._start()

    def close(self) -> None:
        """End the fork-server and every child of it."""
        self._socket.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> "ForkServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.settimeout(_ANSWER_S)
        settings = {
            "limits": self.limits.to_json(),
            "device": self.device,
            **whereabouts(self._secrets),
        }
        with theirs:
            self._process = launch("forkserver", theirs.fileno())
        self._socket.send(json.dumps(settings).encode())
        self.__dict__.pop("_hello", None)

    @functools.cached_property
    def _hello(self) -> dict[str, Any]:
        if not select.select([self._socket], [], [], _START_S)[0]:
            raise ServerDied(f"the fork-server was not ready after {_START_S:g} s")
        return self._receive()[0]

    def _ask(self, request: dict[str, Any], fds: Sequence[int] = ()) -> tuple[dict[str, Any], list[int]]:
        try:
            socket.send_fds(self._socket, [json.dumps(request).encode()], fds)
        except OSError as error:
            raise ServerDied(f"the fork-server is gone ({error.strerror})") from None
        return self._receive()

    def _receive(self) -> tuple[dict[str, Any], list[int]]:
        try:
            message, fds, _, _ = socket.recv_fds(self._socket, _MESSAGE_BYTES, 1)
        except OSError as error:
            raise ServerDied(f"the fork-server does not answer ({error})") from None
        if not message:
            raise ServerDied("the fork-server has ended")
        answer: dict[str, Any] = json.loads(message)
        if "error" in answer:
            raise ServerDied(f"the fork-server failed: {answer['error']}")
        return answer, fds

    def _reap(self, pid: int) -> Exit:
        answer, _ = self._ask({"do": "reap", "pid": pid})
        return Exit(answer["code"], answer["cpu_s"], answer["memory_bytes"])


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


class Server(Protocol):
    """Where children come from: a fork-server, or for a GPU one new process per child."""

    limits: Limits
    device: str

    @property
    def layers(self) -> dict[str, str]:
        """Return each wall's name and ``on`` or ``off: why``."""

    @property
    def breaches(self) -> list[str]:
        """Return what a probe behind these walls could do all the same."""

    @property
    def versions(self) -> dict[str, str]:
        """Return the versions of Python and torch the children run on."""

    def spawn(self) -> Child:
        """Return a fresh child; raise ServerDied."""

    def close(self) -> None:
        """End every child."""


@contextmanager
def server_on(device: str) -> Iterator[Server]:
    """Give a server whose children have their pools on ``device``."""
    server: Server
    if device == "cuda":
        from autograder.sandbox.gpu_server import GpuServer

        server = GpuServer(device)
    else:
        server = ForkServer(device=device)
    try:
        yield server
    finally:
        server.close()


def _close(*fds: int) -> None:
    for fd in fds:
        os.close(fd)
