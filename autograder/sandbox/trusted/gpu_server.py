"""The trusted side of grading on a GPU: a fork-server whose children open the device behind the walls."""

import json
import os
import select
import socket
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from autograder.sandbox.limits import MIB, Limits
from autograder.sandbox.protocol import Message
from autograder.sandbox.trusted import threads
from autograder.sandbox.trusted.child import Child, Exit
from autograder.sandbox.trusted.fork_server import ForkServer
from autograder.sandbox.trusted.gpu_machine import refusal
from autograder.sandbox.trusted.server import MESSAGE_BYTES, START_S, ServerDied, launch

GPU_LIMITS = Limits(
    load_cpu_s=5,
    case_cpu_s=5,
    total_cpu_s=300,
    idle_s=5,
    wall_s=30,
    memory_bytes=4096 * MIB,
    open_files=256,
    file_bytes=64 * MIB,
    locked_bytes=64 * MIB,
    submission_s=300,
    submission_wall_s=600,
)


class CountedChild(Child):
    """A child whose device is open; its threads are counted from outside, every few milliseconds of a case."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._tasks_at_start = threads.count(self._pid)
        self.tasks_added = 0

    def _read(self, blocked: bool) -> Iterator[Message]:
        for message in super()._read(blocked):
            self._count()
            yield message
        self._count()

    def _count(self) -> None:
        assert self.tasks_added is not None
        self.tasks_added = max(self.tasks_added, threads.count(self._pid) - self._tasks_at_start)


class GpuServer(ForkServer):
    """Forks children that open ``device`` each for itself, one submission at a time; for one thread at a time.

    The import of torch is paid once, the opening of the device by every child.
    """

    gpu = True

    def __init__(self, device: str, limits: Limits = GPU_LIMITS, secrets: Sequence[Path] = ()) -> None:
        _require_a_machine_for(device)
        super().__init__(limits, secrets, device)

    def _greeting(self) -> dict[str, Any]:
        hello = super()._greeting()
        self._hello = hello  # for the child below
        with self.spawn():
            return {**hello, "versions": {**hello["versions"], **self._opened["versions"]}}

    def _child(self, pidfd: int, requests: int, replies: int, reap: Callable[[], Exit]) -> Child:
        try:
            self._opened = opened = _opening(replies)
        except BaseException:
            for fd in (pidfd, requests, replies):
                os.close(fd)
            reap()
            raise
        return CountedChild(pidfd, requests, replies, self.limits, lambda: _without_opening(reap(), opened))


def _require_a_machine_for(device: str) -> None:
    if device == "cuda" and (sentence := refusal()):
        raise ServerDied(sentence)


def refused(device: str) -> list[str]:
    """Return the system calls and files that the walls deny a process which opens ``device``; raise ServerDied."""
    _require_a_machine_for(device)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours:
        with theirs:
            process = launch("gpu_trace", theirs.fileno())
        ours.send(json.dumps({"device": device, "limits": GPU_LIMITS.to_json()}).encode())
        ready = select.select([ours], [], [], START_S)[0]
        said = ours.recv(MESSAGE_BYTES) if ready else b""
    process.kill()
    process.wait()
    if not said:
        raise ServerDied("Opening the GPU could not be traced; look at nvidia-smi and try again.")
    denied: list[str] = json.loads(said)
    return denied


def _opening(replies: int) -> dict[str, Any]:
    """Return what a child says of the device it has opened; no line of the submission has run yet."""
    said = b""
    while not said.endswith(b"\n"):
        if not select.select([replies], [], [], START_S)[0]:
            raise ServerDied(f"The GPU was not open after {START_S:g} s; look at nvidia-smi and try again.")
        chunk = os.read(replies, MESSAGE_BYTES)
        if not chunk:
            raise ServerDied("A process ended while it opened the GPU; `autograder doctor --device cuda` may say why.")
        said += chunk
    answer: dict[str, Any] = json.loads(said)
    if "error" in answer:
        raise ServerDied(answer["error"])
    return answer


def _without_opening(ended: Exit, opened: dict[str, Any]) -> Exit:
    """Return how a child ended, without what opening the device has cost."""
    cpu_s, memory = opened["own_cpu_ms"] / 1000, opened["own_kib"] * 1024
    return Exit(ended.code, max(ended.cpu_s - cpu_s, 0.0), max(ended.memory_bytes - memory, 0))
