"""A throw-away child tries the attacks that matter; what it manages to do is a breach."""

import contextlib
import ctypes
import os
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

DONE = "done"


@dataclass(frozen=True)
class Targets:
    """What must stay out of reach."""

    secrets: tuple[str, ...]
    """Files of the grader: hidden tests, model, solutions."""
    processes: tuple[int, ...]
    """The fork-server and the grader, by process id."""
    folders: tuple[str, ...]
    """Where nothing may be written."""


def run(targets: Targets, report: Callable[[str], None]) -> None:
    """Try every attack, report each that succeeds, then report DONE."""
    for name, attack in _attacks(targets):
        try:
            attack()
        except OSError:
            continue
        report(name)
    report(DONE)


def _attacks(targets: Targets) -> Iterator[tuple[str, Callable[[], object]]]:
    yield "read the grader's files", partial(_read_any, targets.secrets)
    yield "read /etc/shadow", partial(_read, "/etc/shadow")
    for pid in targets.processes:
        for name in ("environ", "mem", "fd"):
            yield f"open /proc/{pid}/{name}", partial(_peek, f"/proc/{pid}/{name}")
        yield f"signal process {pid}", partial(os.kill, pid, 0)
        yield f"read memory of process {pid}", partial(_read_memory, pid)
    for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX):
        yield f"open a socket ({family.name})", partial(_socket, family)
    for folder in targets.folders:
        yield f"write to {folder}", partial(_write, folder)
    yield "start a process", _fork
    # Last, because it would replace this program.
    yield "execute a program", partial(os.execv, sys.executable, [sys.executable, "-c", _EXECUTED])


_EXECUTED = f"import os; os.write(4, b'execute a program\\n{DONE}\\n')"


def _read_any(paths: Sequence[str]) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            return _read(path)
    raise PermissionError


def _read(path: str) -> None:
    with open(path, "rb") as file:
        file.read(1)


def _peek(path: str) -> None:
    if path.endswith("fd"):
        os.readlink(f"{path}/0")
    else:
        os.close(os.open(path, os.O_RDONLY))


def _read_memory(pid: int) -> None:
    place = ctypes.create_string_buffer(8)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(place), 8)
    libc = ctypes.CDLL(None, use_errno=True)
    # Reading an address that means nothing there fails as "bad address" only once access has been granted.
    result = libc.process_vm_readv(pid, vector, ctypes.c_ulong(1), vector, ctypes.c_ulong(1), ctypes.c_ulong(0))
    if result < 0 and ctypes.get_errno() != 14:
        raise OSError(ctypes.get_errno(), "refused")


def _socket(family: socket.AddressFamily) -> None:
    socket.socket(family).close()


def _write(folder: str) -> None:
    tempfile.TemporaryFile(dir=folder).close()


def _fork() -> None:
    if os.fork() == 0:
        os._exit(0)
