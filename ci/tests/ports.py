"""Ports that something else has taken: a service that answers every caller with the same bytes, or never."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

ANSWERS = {"silent": b"", "ssh": b"SSH-2.0-OpenSSH_9.2\r\n", "bytes": b"\0\1"}


@contextmanager
def taken(answer: bytes, tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """Give the number of a port whose owner says ``answer`` and hangs up; one with nothing to say keeps listening.

    With ``tls`` it shakes hands before either.
    """
    kept = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                kept.append(connection)
                if tls:
                    with suppress(OSError):
                        kept.append(tls.wrap_socket(connection, server_side=True))
                if answer:
                    connection.sendall(answer)
                    connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)
    for connection in kept:
        connection.close()
