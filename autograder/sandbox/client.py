"""What the rest of the package may use of the sandbox: servers, their children, and how a child came to its end."""

from collections.abc import Iterator
from contextlib import contextmanager

from autograder.sandbox.limits import INERT_PACKAGES, PACKAGES, Limits
from autograder.sandbox.trusted.child import Child, Died
from autograder.sandbox.trusted.fork_server import ForkServer
from autograder.sandbox.trusted.gpu_memory import driver_mib
from autograder.sandbox.trusted.request import Reply, Request, only_trace, request_for
from autograder.sandbox.trusted.server import START_S, Server, ServerDied
from autograder.sandbox.trusted.validate_reply import Trace
from autograder.sandbox.trusted.watchdog import cpu_clock

__all__ = [
    "INERT_PACKAGES",
    "PACKAGES",
    "START_S",
    "Child",
    "Died",
    "ForkServer",
    "Limits",
    "Reply",
    "Request",
    "Server",
    "ServerDied",
    "Trace",
    "cpu_clock",
    "driver_mib",
    "only_trace",
    "refused",
    "request_for",
    "server_on",
]


@contextmanager
def server_on(device: str) -> Iterator[Server]:
    """Give a server whose children have their pools on ``device``."""
    server: Server
    if device == "cuda":
        from autograder.sandbox.trusted.gpu_server import GpuServer

        server = GpuServer(device)
    else:
        server = ForkServer(device=device)
    try:
        yield server
    finally:
        server.close()


def refused(device: str) -> list[str]:
    """Return the system calls and files that the walls deny a process which opens ``device``; raise ServerDied."""
    from autograder.sandbox.trusted.gpu_server import refused

    return refused(device)
