"""What was refused: a child does its work behind the walls while this process notes each call and file it is denied.

For `autograder doctor --device cuda`, with our own code alone in the child: the first machine with a GPU tells in one
run what the lists of :mod:`gpu` lack.
"""

import ctypes
import fcntl
import os
import select
import socket
import struct
from collections.abc import Callable, Iterator

from autograder.sandbox.walls import seccomp
from autograder.sandbox.walls.confine import Confinement

_CHANNEL_FD = 4
_RECEIVE, _SEND = 0xC0502100, 0xC0182101  # seccomp(2): SECCOMP_IOCTL_NOTIF_RECV and _SEND
_QUESTION, _ANSWER = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")
_CONTINUE, _ENOSYS = 1, 38
_PATIENCE_S = 60.0


class _Asking:
    """A filter that leaves to the supervisor what isn't on the list."""

    def __init__(self) -> None:
        self._rules = seccomp.asking_filter()

    def install(self) -> None:
        import pyseccomp

        with socket.socket(fileno=_CHANNEL_FD) as channel:  # made first: from here on every question needs an answer
            self._rules.load()
            asking = pyseccomp._libseccomp.seccomp_notify_fd(ctypes.c_void_p(self._rules._filter))
            socket.send_fds(channel, [b"x"], [asking])


def refused(confinement: Confinement, work: Callable[[], None]) -> list[str]:
    """Return the system calls and files that ``work`` was denied behind the walls, each once, sorted."""
    ours, theirs = socket.socketpair()
    confinement._filter = _Asking()  # type: ignore[assignment]
    pid = os.fork()
    if pid == 0:
        try:
            os.dup2(theirs.fileno(), _CHANNEL_FD)
            confinement.enter()
            work()
        finally:
            os._exit(0)
    theirs.close()
    with ours:
        _, fds, _, _ = socket.recv_fds(ours, 1, 1)
    allowed = [path for paths in confinement._rules.args for path in paths]  # type: ignore[attr-defined]
    seen = set(_denied(pid, fds[0], allowed)) if fds else {"the walls themselves failed"}
    os.waitpid(pid, 0)
    return sorted(seen)


def _denied(pid: int, asking: int, allowed: list[str]) -> Iterator[str]:
    import pyseccomp

    arch = pyseccomp.system_arch()
    opening = {pyseccomp.resolve_syscall(arch, "open"): 0, pyseccomp.resolve_syscall(arch, "openat"): 1}
    while select.select([asking], [], [], _PATIENCE_S)[0]:
        question = bytearray(_QUESTION.size)
        try:
            fcntl.ioctl(asking, _RECEIVE, question)
        except OSError:  # the child has ended
            return
        id, _, _, number, _, _, *arguments = _QUESTION.unpack(question)
        if number in opening:
            answer = _ANSWER.pack(id, 0, 0, _CONTINUE)
            path = _text(pid, arguments[opening[number]])
            own = f"/proc/{pid}/"
            real = os.path.realpath(path.replace("/proc/self/", own))
            if os.path.exists(real) and not any(f"{real}/".startswith(f"{a}/") for a in (*allowed, own.rstrip("/"))):
                yield f"open {path}"
        else:
            answer = _ANSWER.pack(id, 0, -_ENOSYS, 0)
            name = pyseccomp.resolve_syscall(arch, number)
            yield name.decode() if isinstance(name, bytes) else str(name)
        try:
            fcntl.ioctl(asking, _SEND, answer)
        except OSError:
            return


def _text(pid: int, address: int) -> str:
    """Return the string at an address of the child."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(256).split(b"\0")[0].decode(errors="replace")
