"""The fork-server as seen from outside: a program of its own, and its children."""

import functools
import json
import os
import select
import socket
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from autograder.sandbox.limits import Limits
from autograder.sandbox.trusted.child import Child, Exit
from autograder.sandbox.trusted.server import MESSAGE_BYTES, START_S, Server, ServerDied, launch, whereabouts

DEFAULT_LIMITS = Limits()
_ANSWER_S, _END_S = 30.0, 5.0


class ForkServer(Server):
    """Forks confined children that have torch imported already; for one thread at a time.

    Starting returns at once; the first use waits until the fork-server is ready. ``secrets`` are further files that
    the probe tries to read: those of the package are among them anyway.
    """

    gpu = False
    """Whether a child opens a GPU, once it is behind the walls."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS, secrets: Sequence[Path] = (), device: str = "cpu") -> None:
        self.limits = limits
        self.device = device
        self._secrets = secrets
        self._start()

    def _spawn(self) -> Child:
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
        return self._child(fds[0], requests, replies, functools.partial(self._reap, answer["pid"]))

    def _child(self, pidfd: int, requests: int, replies: int, reap: Callable[[], Exit]) -> Child:
        return Child(pidfd, requests, replies, self.limits, reap)

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
            "gpu": self.gpu,
            **whereabouts(self._secrets),
        }
        with theirs:
            self._process = launch("forkserver", theirs.fileno())
        self._socket.send(json.dumps(settings).encode())
        self.__dict__.pop("_hello", None)

    def _greeting(self) -> dict[str, Any]:
        if not select.select([self._socket], [], [], START_S)[0]:
            raise ServerDied(f"the fork-server was not ready after {START_S:g} s")
        return self._receive()[0]

    def _ask(self, request: dict[str, Any], fds: Sequence[int] = ()) -> tuple[dict[str, Any], list[int]]:
        try:
            socket.send_fds(self._socket, [json.dumps(request).encode()], fds)
        except OSError as error:
            raise ServerDied(f"the fork-server is gone ({error.strerror})") from None
        return self._receive()

    def _receive(self) -> tuple[dict[str, Any], list[int]]:
        try:
            message, fds, _, _ = socket.recv_fds(self._socket, MESSAGE_BYTES, 1)
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


def _close(*fds: int) -> None:
    for fd in fds:
        os.close(fd)
