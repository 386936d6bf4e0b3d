"""A fork-server that may be trusted with student code, or a refusal to start one."""

from collections.abc import Iterator
from contextlib import contextmanager

from autograder.errors import GraderError
from autograder.sandbox.client import Server, server_on


class WeakConfinement(GraderError):
    """The probe found a hole; the text is one sentence that names it and says what to do."""


@contextmanager
def confined_server(allow_weak: bool, device: str = "cpu") -> Iterator[Server]:
    """Give a server for ``device`` whose probe found no hole, unless holes are allowed; raise WeakConfinement."""
    with server_on(device) as server:
        if server.breaches and not allow_weak:
            raise WeakConfinement(
                f"Student code is not confined here (a probe could: {', '.join(server.breaches)}); "
                "`autograder doctor` says what to do, --allow-weak grades all the same."
            )
        yield server
