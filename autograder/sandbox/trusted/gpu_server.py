"""The trusted side of grading on a GPU: every child is a new process that opens the device for itself alone."""

import functools
import json
import os
import select
import signal
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.sandbox.limits import MIB, Limits
from autograder.sandbox.trusted.child import Child, Exit
from autograder.sandbox.trusted.server import MESSAGE_BYTES, START_S, Server, ServerDied, launch, whereabouts

GPU_LIMITS = Limits(
    load_cpu_s=5,
    case_cpu_s=5,
    total_cpu_s=300,
    idle_s=5,
    wall_s=30,
    memory_bytes=4096 * MIB,
    open_files=256,
    submission_s=300,
    submission_wall_s=600,
)


class GpuServer(Server):
    """Starts confined processes on ``device``, one submission at a time; for one thread at a time.

    A child costs an import of torch and the opening of the device, seconds rather than milliseconds, and is replaced
    after any error of the device.
    """

    def __init__(self, device: str, limits: Limits = GPU_LIMITS, secrets: Sequence[Path] = ()) -> None:
        self.device, self.limits = device, limits
        self._secrets = secrets

    def _spawn(self) -> Child:
        return self._start(probing=False)[0]

    def close(self) -> None:
        """Do nothing: a child ends with its submission."""

    def _greeting(self) -> dict[str, Any]:
        child, hello = self._start(probing=True)
        child.kill()
        return hello

    def _start(self, probing: bool) -> tuple[Child, dict[str, Any]]:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        requests_end, requests = os.pipe()
        replies, replies_end = os.pipe()
        settings = {
            "limits": self.limits.to_json(),
            "device": self.device,
            "probe": probing,
            **whereabouts(self._secrets),
        }
        with ours, theirs:
            process = launch("gpu_child", theirs.fileno())
            socket.send_fds(ours, [json.dumps(settings).encode()], [requests_end, replies_end])
            theirs.close()
            os.close(requests_end)
            os.close(replies_end)
            try:
                hello = _receive(ours)
            except BaseException:
                process.kill()
                process.wait()
                os.close(requests)
                os.close(replies)
                raise
        pidfd = os.pidfd_open(process.pid)
        process.returncode = 0  # it is waited for by _reap, which learns more than Popen would
        reap = functools.partial(_reap, process.pid, hello["own_kib"], hello["own_cpu_ms"])
        return Child(pidfd, requests, replies, self.limits, reap), hello


def _receive(channel: socket.socket) -> dict[str, Any]:
    if not select.select([channel], [], [], START_S)[0]:
        raise ServerDied(f"The GPU process was not ready after {START_S:g} s; look at nvidia-smi and try again.")
    message = channel.recv(MESSAGE_BYTES)
    if not message:
        raise ServerDied("The GPU process ended while it was starting; `autograder doctor --device cuda` may say why.")
    answer: dict[str, Any] = json.loads(message)
    if "error" in answer:
        raise ServerDied(answer["error"])
    return answer


def _reap(pid: int, own_kib: int, own_cpu_ms: int) -> Exit:
    """End a child and say what it used on top of its start."""
    os.kill(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    cpu_s = usage.ru_utime + usage.ru_stime - own_cpu_ms / 1000
    return Exit(os.waitstatus_to_exitcode(status), max(cpu_s, 0.0), max(usage.ru_maxrss - own_kib, 0) * 1024)
