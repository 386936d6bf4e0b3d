"""One confined process with a GPU of its own: opens the device, goes behind the walls, then takes the source.

Started as a program by ``gpu_server``, never forked: CUDA does not survive a fork. Settings and the two pipe ends come
through a socket; one message goes back, ``hello`` or an error, and the socket is closed before student code is read.
"""

import fcntl
import json
import os
import resource
import socket
import sys
from typing import Any

from autograder.sandbox.inside.forkserver import (
    MESSAGE_BYTES,
    REPLIES_FD,
    REQUESTS_FD,
    import_everything,
    targets_of,
    work_on,
)
from autograder.sandbox.limits import Limits
from autograder.sandbox.walls import probe
from autograder.sandbox.walls.confine import Confinement

_HIGH_FD = 40


def main() -> None:
    """Serve one submission; the last argument is the socket's number."""
    given = int(sys.argv[-1])
    channel = fcntl.fcntl(given, fcntl.F_DUPFD_CLOEXEC, _HIGH_FD)
    os.close(given)
    with socket.socket(fileno=os.dup(channel)) as incoming:
        message, fds, _, _ = socket.recv_fds(incoming, MESSAGE_BYTES, 2)
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _HIGH_FD) for fd in fds]
    for fd, wanted in zip(high, (REQUESTS_FD, REPLIES_FD), strict=True):
        os.dup2(fd, wanted)
        os.close(fd)
    settings = json.loads(message)
    try:
        import_everything()
        work = work_on(settings["device"])
        confinement = Confinement(Limits.from_json(settings["limits"]), gpu=True)
        confinement.prepare()
        del sys.path[0]
        confinement.enter()
        hello = _hello(confinement, settings)
    except Exception as error:  # whatever it is, the grader can only be told
        os.write(channel, json.dumps({"error": _sentence(error)}).encode())
        return
    os.write(channel, json.dumps(hello).encode())
    os.close(channel)
    work()


def _sentence(error: Exception) -> str:
    """Return why this process cannot grade, in one sentence that says what to do."""
    from autograder.sandbox.inside.no_device import NoDevice

    if isinstance(error, NoDevice):
        return str(error)
    first = (str(error).splitlines() or [type(error).__name__])[0][:300]
    return f"The device could not be opened ({first}); free its memory, see that nvidia-smi works, and try again."


def _hello(confinement: Confinement, settings: dict[str, Any]) -> dict[str, Any]:
    import torch

    breaches: list[str] = []
    if settings["probe"]:
        probe.run(targets_of(settings), breaches.append)
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "layers": confinement.layers,
        "breaches": [breach for breach in breaches if breach != probe.DONE],
        "versions": {"python": sys.version.split()[0], "torch": str(torch.__version__), **_gpu()},
        "own_kib": used.ru_maxrss,
        "own_cpu_ms": round((used.ru_utime + used.ru_stime) * 1000),
    }


def _gpu() -> dict[str, str]:
    import torch

    if not torch.cuda.is_initialized():
        return {}
    return {"gpu": torch.cuda.get_device_name(), "cuda": str(torch.version.cuda)}
