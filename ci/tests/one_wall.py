"""One wall of the sandbox at a time: a child behind it alone, all others off, and what it can do there.

usage: python one_wall.py WALL[+WALL] PROJECT FOLDER [KIND]     prints {attack: how it ended} as JSON; to be run by root

KIND is an environment of ``environments.py`` that the fork-server turns into first.
"""

import ctypes
import fcntl
import json
import os
import resource
import socket
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import environments

REACHED = "reached"
WALLS = (
    "none",
    "namespaces",
    "landlock",
    "seccomp",
    "own user",
    "limits",
    "capabilities",
    "no new privileges",
    "not dumpable",
    "death signal",
    "descriptors",
)
_OF_PRCTL = {"death signal": 1, "not dumpable": 4, "seccomp": 22, "no new privileges": 38}
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long
_SHMAT, _PTRACE, _CAPGET, _MOUNT, _UMOUNT, _UNSHARE = 30, 101, 125, 165, 166, 272  # on x86-64
_SEIZE, _BIND, _DETACH, _NEW_HOST_NAME = 0x4206, 0x1000, 2, 0x4000000


def confinement(walls: set[str]) -> Any:
    """Return a confinement, prepared, in which every step but those of ``walls`` does nothing or is refused."""
    from autograder.sandbox.limits import Limits
    from autograder.sandbox.walls import confine, libc

    def refused(*_: object) -> Any:
        raise PermissionError(1, "off for this test")

    def nothing(*_: object) -> None:
        return None

    if "namespaces" not in walls:
        confine._enclose = refused
    if "landlock" not in walls:
        confine.landlock.ruleset = refused
    if "seccomp" not in walls:
        confine.seccomp.compile_filter = refused
    if "own user" not in walls:
        confine._reserved_uid = refused
    if "limits" not in walls:
        confine.resource = type("Unlimited", (), {"__getattr__": lambda _, name: getattr(resource, name)})()
        confine.resource.setrlimit = nothing
    if "capabilities" not in walls:
        confine.libc.drop_capabilities = nothing
    if "descriptors" not in walls:
        confine.os = type("LeavesOpen", (), {"__getattr__": lambda _, name: getattr(os, name)})()
        confine.os.closerange = nothing
    prctl, kept = libc.prctl, {41, *(_OF_PRCTL[wall] for wall in walls & {*_OF_PRCTL})}
    libc.prctl = lambda option, *args: prctl(option, *args) if option in kept else None
    made = confine.Confinement(Limits())
    made.enclose_server()
    made.prepare()
    on = {layer for layer, state in made.layers.items() if state == "on"} & set(WALLS)
    assert on == {*walls, "limits"} & {*WALLS[1:6]}, made.layers
    return made


def _call(number: int, *args: int) -> None:
    if _LIBC.syscall(ctypes.c_long(number), *map(ctypes.c_long, args)) < 0:
        raise OSError(ctypes.get_errno(), "refused")


def _expect(value: object, wanted: object) -> None:
    if value == wanted:
        raise PermissionError(f"{value}")


def attacks(targets: dict[str, Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield every attack; it is stopped when it ends in an error of the operating system or for want of memory."""
    folder, package, grader = targets["folder"], targets["package"], targets["grader"]
    yield "use what the server left open", lambda: os.fstat(targets["descriptor"])
    yield "read the grader's package", lambda: Path(package, "contract", "model.py").read_bytes()
    yield "read a file of root's", lambda: Path(folder, "secret").read_bytes()
    yield "read a file of another user's", lambda: Path(folder, "private").read_bytes()
    yield "list a folder", lambda: os.listdir(folder)
    yield "write a file", lambda: Path(folder, "open", f"{os.getpid()}.txt").write_text("x")
    yield "make an empty file", lambda: Path(folder, "open", f"{os.getpid()}.empty").touch()
    yield "make a folder", lambda: os.mkdir(f"{folder}/open/{os.getpid()}")
    yield "signal the grader", lambda: os.kill(grader, 0)
    yield "look at the grader's process", lambda: os.listdir(f"/proc/{grader}")
    yield "reach a server on this machine", lambda: socket.create_connection(("127.0.0.1", targets["port"]), 2)
    yield "reach a server by an abstract name", lambda: socket.socket(socket.AF_UNIX).connect(targets["name"])
    yield "open a socket", lambda: socket.socket(socket.AF_INET6)
    yield "use the machine's shared memory", lambda: _call(_SHMAT, targets["shared"], 0, 0)
    yield "start a process", lambda: os.waitpid(os.fork() or os._exit(0), 0)  # type: ignore[func-returns-value]
    yield "trace a process", lambda: _call(_PTRACE, _SEIZE, os.getppid(), 0, 0)
    yield "make a world of its own", lambda: _call(_UNSHARE, _NEW_HOST_NAME)
    yield "mount", partial(_mount, targets["mount"])
    yield "give a file away", lambda: os.chown(f"{folder}/given", 1, 1)
    yield "hold many files open", lambda: [os.open(os.devnull, os.O_RDONLY) for _ in range(200)]
    yield "take a gigabyte", lambda: bytearray(1 << 30)
    yield "keep a secret from swapping", lambda: _expect(resource.getrlimit(resource.RLIMIT_MEMLOCK), (0, 0))
    yield "leave a core", lambda: _expect(resource.getrlimit(resource.RLIMIT_CORE), (0, 0))
    yield "compute for an hour", lambda: _expect(resource.getrlimit(resource.RLIMIT_CPU), (60, 60))
    yield "queue messages", lambda: _expect(resource.getrlimit(resource.RLIMIT_MSGQUEUE), (0, 0))
    yield "hold a capability", lambda: _expect(any(_capabilities()), False)
    yield "gain by executing", lambda: _expect(_LIBC.prctl(39, 0, 0, 0, 0), 1)
    yield "be looked into", lambda: _expect(_LIBC.prctl(3, 0, 0, 0, 0), 0)
    yield "outlive the server", _outlive
    other = 0 if os.getuid() else 1
    yield "become another user", lambda: os.setresuid(other, other, other)  # last: it changes what this process may do


def _capabilities() -> bytes:
    """Return what this process may do now, could take up, or would hand on by executing."""
    asked, held = ctypes.create_string_buffer(b"\x22\x05\x08\x20" + bytes(4), 8), ctypes.create_string_buffer(24)
    _call(_CAPGET, ctypes.addressof(asked), ctypes.addressof(held))
    return held.raw


def _mount(place: int) -> None:
    _call(_MOUNT, place, place, 0, _BIND, 0)
    _call(_UMOUNT, place, _DETACH)


def _outlive() -> None:
    signal = ctypes.c_int(0)
    _LIBC.prctl(2, ctypes.byref(signal), 0, 0, 0)
    _expect(signal.value, 9)


def main(walls: str, project: str, folder: str, kind: str = "") -> None:
    """Print what a child behind the walls can do."""
    sys.path.insert(0, project)
    listening, named = socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX)
    named.bind(f"\0autograder-{os.getpid()}")
    named.listen()
    shared = int(_LIBC.shmget(0, 4096, 0o1666))
    mount = ctypes.create_string_buffer(f"{folder}/open".encode())
    targets = {
        "folder": folder,
        "package": f"{project}/autograder",
        "grader": os.getpid(),
        "port": listening.getsockname()[1],
        "name": f"\0autograder-{os.getpid()}",
        "shared": shared,
        "mount": ctypes.addressof(mount),
        "descriptor": fcntl.fcntl(0, fcntl.F_DUPFD, 50),
    }
    reader, writer = os.pipe()
    server = os.fork()  # the world of its own is the fork-server's, not the grader's
    if server == 0:
        os.dup2(writer, 4)
        try:
            if walls == "own user":
                environments._open_the_way(Path(sys.base_prefix))
            environments.become(kind)
            _LIBC.prctl(4, 1, 0, 0, 0)  # as in a program started by that user, whose /proc/self is its own
            _serve(confinement({*walls.split("+")}), targets)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    os.close(writer)
    os.waitpid(server, 0)
    with os.fdopen(reader) as said:
        print(said.read())
    _LIBC.shmctl(shared, 0, 0)


def _serve(confined: Any, targets: dict[str, Any]) -> None:
    child = os.fork()
    if child == 0:
        confined.enter()
        os.write(4, json.dumps({name: _outcome(attack) for name, attack in attacks(targets)}).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os._exit(0)


def _outcome(attack: Callable[[], Any]) -> str:
    try:
        attack()
    except (OSError, MemoryError) as error:
        return type(error).__name__
    return REACHED


if __name__ == "__main__":
    main(*sys.argv[1:])
