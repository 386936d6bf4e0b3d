"""The kinds of machine a grader runs on, made here by the words of their name: ``user``, ``container``, ``old``.

``user`` is an account without any privilege (else it is root's), ``container`` refuses namespaces and mounts as
Docker's default profile does, ``unmounting`` mounts alone as AppArmor does on Ubuntu 24.04, ``old`` is a kernel
without Landlock. Each runs a piece of Python, which may use ``server``, a ready fork-server, in a process of its own
and returns what that printed as JSON. What can play none of them is tested as it is, under the empty name.
"""

import ctypes
import errno
import functools
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534
_CLONE_NEWNS = 0x20000
_BIND, _REC, _PRIVATE = 4096, 16384, 1 << 18
_NAMESPACE_FLAGS = 0x7E020000
_PREAMBLE = """
import json, sys
sys.path.insert(0, {root!r})
sys.path.insert(0, {tests!r})
import environments
environments.become({environment!r})
from autograder.contract.operations import Operation
from autograder.sandbox.client import Died, ForkServer, Limits
with ForkServer() as server:
{body}
"""


def run_in(environment: str, body: str, package_root: Path = ROOT) -> Any:
    """Run the code in an environment and return the JSON it prints; the package is taken from ``package_root``."""
    program = _PREAMBLE.format(
        root=str(package_root),
        tests=str(Path(__file__).parent),
        environment=environment,
        body=textwrap.indent(textwrap.dedent(body), "    "),
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        cwd="/",
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@functools.cache
def playable() -> bool:
    """Tell whether this process may change its user and mount, and so play every environment."""

    def everything() -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        _check(libc.unshare(_CLONE_NEWNS))
        _check(libc.mount(None, b"/", None, _REC | _PRIVATE, None))
        _check(libc.mount(b"tmpfs", b"/mnt", b"tmpfs", 0, None))
        become("user")

    return can(everything)


def can(attempt: Callable[[], object]) -> bool:
    """Tell whether an attempt succeeds, in a process of its own."""
    child = os.fork()
    if child == 0:
        try:
            attempt()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def played(*environments: str) -> tuple[str, ...]:
    """Return the environments where this process may play them, else the one that it is in."""
    return environments if playable() else ("",)


def become(environment: str) -> None:
    """Turn this process, root's, into one of the given environment."""
    words = environment.split()
    if "user" in words:
        _open_the_way(Path(sys.base_prefix))
        _open_the_way(ROOT)
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    if "unmounting" in words:
        _refuse(errno.EACCES, ("mount", "umount2", "pivot_root"), 0)
    if "container" in words:
        _refuse(errno.EPERM, ("unshare", "setns", "mount", "umount2", "pivot_root"), _NAMESPACE_FLAGS)
    if "old" in words:
        _refuse(errno.ENOSYS, ("landlock_create_ruleset",), 0)


def _open_the_way(path: Path) -> None:
    """Let everybody reach ``path`` in this process's own mount namespace, where a parent folder is closed to them."""
    closed = [parent for parent in reversed(path.parents) if not parent.stat().st_mode & 0o001]
    if not closed:
        return
    libc = ctypes.CDLL(None, use_errno=True)
    _check(libc.unshare(_CLONE_NEWNS))
    _check(libc.mount(None, b"/", None, _REC | _PRIVATE, None))
    inside = os.open(path, os.O_PATH)
    _check(libc.mount(b"tmpfs", str(closed[0]).encode(), b"tmpfs", 0, b"mode=755"))
    path.mkdir(parents=True)
    _check(libc.mount(f"/proc/self/fd/{inside}".encode(), str(path).encode(), None, _BIND | _REC, None))
    os.close(inside)


def _refuse(error: int, names: tuple[str, ...], clone_flags: int) -> None:
    import pyseccomp

    rules = pyseccomp.SyscallFilter(defaction=pyseccomp.ALLOW)
    for name in names:
        rules.add_rule(pyseccomp.ERRNO(error), name)
    for flag in (1 << bit for bit in range(32) if clone_flags >> bit & 1):
        rules.add_rule(pyseccomp.ERRNO(error), "clone", pyseccomp.Arg(0, pyseccomp.MASKED_EQ, flag, flag))
    rules.load()


def _check(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
