"""Imports torch once and forks confined children on request; knows no test and no expected value.

Started as a program of its own (see client). It answers three kinds of message on its socket: ``spawn`` (with the two
pipe ends of the child) forks one and sends back a descriptor of it, ``reap`` ends a child and tells how it ended, and
the end of the socket ends it all.
"""

import contextlib
import fcntl
import gc
import importlib
import json
import linecache
import os
import resource
import select
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from autograder.sandbox.limits import Limits
from autograder.sandbox.walls import probe
from autograder.sandbox.walls.confine import Confinement

REQUESTS_FD, REPLIES_FD = 3, 4
MESSAGE_BYTES = 1 << 16
FAILED_TO_CONFINE = 97
GARBAGE_THRESHOLD = 20_000  # a child lives for milliseconds; looking for garbage would touch pages it shares
_PROBE_S = 10.0
_USUAL_IMPORTS = """
abc bisect collections contextlib copy dataclasses enum fractions functools heapq html inspect io itertools json logging
math operator os pathlib pprint random re statistics string subprocess sys tempfile textwrap time traceback types typing
unittest warnings zipfile numpy torch.nn.functional
""".split()


def main() -> None:
    """Serve until the other end of the socket closes; its number is the last argument, settings come through it."""
    given = int(sys.argv[-1])
    channel = socket.socket(fileno=fcntl.fcntl(given, fcntl.F_DUPFD_CLOEXEC, 10))
    os.close(given)
    settings = json.loads(channel.recv(MESSAGE_BYTES))
    for fd in (REQUESTS_FD, REPLIES_FD):  # taken, so that nothing a child needs lies where its pipes will go
        os.dup2(0, fd)
    confinement = Confinement(Limits.from_json(settings["limits"]), settings["gpu"])
    try:
        if not settings["gpu"]:
            confinement.enclose_server()
        import_everything()
        work = work_on(settings["device"], settings["gpu"])
        hello = _prepare(confinement, settings)
    except Exception as error:  # whatever it is, the grader can only be told
        channel.send(json.dumps({"error": sentence(error)}).encode())
        return
    channel.send(json.dumps(hello).encode())
    Forker(channel, confinement, work, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss).serve()


def sentence(error: Exception) -> str:
    """Return what keeps children from being started, in one sentence."""
    from autograder.sandbox.inside.no_device import NoDevice

    return str(error) if isinstance(error, NoDevice) else f"{type(error).__name__}: {error}"[:500]


def import_everything() -> None:
    """Import what submissions use, so that they find it in memory; seeds are fixed."""
    import numpy
    import torch

    for name in _USUAL_IMPORTS:
        importlib.import_module(name)
    torch.set_num_threads(1)
    torch.zeros(2, 2)[torch.tensor([1, 0])].clone()  # the first call of a kind is slow
    importlib.import_module("autograder.sandbox.inside.worker")
    importlib.import_module("autograder.sandbox.inside.warmup").warm_up()
    numpy.random.seed(0)
    torch.manual_seed(0)


def _prepare(confinement: Confinement, settings: dict[str, Any]) -> dict[str, Any]:
    import torch

    targets = targets_of(settings, os.getpid(), os.getppid() or 1)
    confinement.prepare()
    del sys.path[0]  # put there to start this program; where the package is installed its folder stands there once more
    linecache.clearcache()  # importing torch may have looked at our source lines
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE_THRESHOLD)
    return {
        "layers": confinement.layers,
        "breaches": _probe(confinement, targets),
        "versions": {"python": sys.version.split()[0], "torch": str(torch.__version__)},
    }


def targets_of(settings: dict[str, Any], *processes: int) -> probe.Targets:
    """Return what a probe is to try: the grader's files, the grader, and further processes."""
    return probe.Targets(
        secrets=tuple(settings["secrets"]),
        processes=(settings["client_pid"], *processes),
        folders=tuple(settings["folders"]),
    )


def _probe(confinement: Confinement, targets: probe.Targets) -> list[str]:
    reader, writer = os.pipe()
    pid = _fork(confinement, reader, writer, lambda: probe.run(targets, _report))
    os.close(writer)
    said = b""
    while select.select([reader], [], [], _PROBE_S)[0] and (chunk := os.read(reader, MESSAGE_BYTES)):
        said += chunk
    os.close(reader)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    lines = said.decode().splitlines()
    return lines[:-1] if lines and lines[-1] == probe.DONE else [*lines, "the probe did not finish"]


def _report(breach: str) -> None:
    os.write(REPLIES_FD, f"{breach}\n".encode())


def _fork(confinement: Confinement, requests: int, replies: int, work: Callable[[], None]) -> int:
    """Return the process id of a child that does ``work`` behind the walls and never comes back."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.dup2(requests, REQUESTS_FD)
        os.dup2(replies, REPLIES_FD)
        confinement.enter()
    except BaseException:
        os._exit(FAILED_TO_CONFINE)
    try:
        work()
    finally:
        os._exit(0)


def work_on(device: str, gpu: bool) -> Callable[[], None]:
    """Return what a child does: it serves, on the host, on a ready stand-in, or on a GPU that it opens itself."""
    from autograder.sandbox.inside import worker

    if device == "cpu":
        return partial(worker.serve, REQUESTS_FD, REPLIES_FD)
    if gpu:
        from autograder.sandbox.inside import gpu_child

        gpu_child.prepare(device)
        return partial(gpu_child.serve, device, REQUESTS_FD, REPLIES_FD)
    from autograder.sandbox.inside import device_executor

    return partial(device_executor.serve, device_executor.executor_on(device), REQUESTS_FD, REPLIES_FD)


@dataclass(frozen=True)
class Forker:
    """Forks and reaps; holds no state but the walls."""

    channel: socket.socket
    confinement: Confinement
    work: Callable[[], None]
    own_kib: int

    def serve(self) -> None:
        """Answer messages until the socket closes."""
        while True:
            message, fds, _, _ = socket.recv_fds(self.channel, MESSAGE_BYTES, 2)
            if not message:
                return
            request = json.loads(message)
            try:
                self._spawn(*fds) if request["do"] == "spawn" else self._reap(request["pid"])
            except OSError as error:
                self.channel.send(json.dumps({"error": str(error)}).encode())
            finally:
                for fd in fds:
                    os.close(fd)

    def _spawn(self, requests: int, replies: int) -> None:
        pid = _fork(self.confinement, requests, replies, self.work)
        pidfd = os.pidfd_open(pid)
        socket.send_fds(self.channel, [json.dumps({"pid": pid}).encode()], [pidfd])
        os.close(pidfd)

    def _reap(self, pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        _, status, usage = os.wait4(pid, 0)
        answer = {
            "code": os.waitstatus_to_exitcode(status),
            "cpu_s": usage.ru_utime + usage.ru_stime,
            "memory_bytes": max(usage.ru_maxrss - self.own_kib, 0) * 1024,
        }
        self.channel.send(json.dumps(answer).encode())
