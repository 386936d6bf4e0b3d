"""Which walls can stand on this machine, and putting a child behind them.

Nothing here fails when a wall is missing: each is reported as ``on`` or ``off: why``, and the probe decides whether
what remains is enough.
"""

import errno
import os
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from autograder.sandbox.limits import Limits
from autograder.sandbox.walls import gpu, landlock, libc, namespaces, seccomp
from autograder.sandbox.walls.libc import try_first
from autograder.sandbox.walls.visible_paths import WRITABLE, readable

Result = TypeVar("Result")

_HOST_PID = os.getpid()  # read before namespaces give this process another one
FIRST_UNUSED_FD = 5  # 0 to 2 lead to /dev/null, 3 brings requests, 4 takes replies
_RESERVED_UIDS = 2_100_000_000  # plus a process id: no account has it, and no two fork-servers share one


@dataclass
class Confinement:
    """The walls around every child of this fork-server; with ``gpu`` each will open a GPU once it is behind them."""

    limits: Limits
    gpu: bool = False
    layers: dict[str, str] = field(default_factory=dict)
    _uid: int | None = None
    _ruleset: int | None = None
    _rules: Callable[..., int] = landlock.ruleset
    _filter: seccomp.Program | None = None
    _base_memory: int = 0

    def enclose_server(self) -> None:
        """Move this process into its own namespaces; to be called before threads exist."""
        self._try("namespaces", _enclose)

    def prepare(self) -> None:
        """Make ready what children will need; to be called when everything is imported."""
        visible = readable()
        self._base_memory = _memory_in_use(self.gpu)
        libc.prctl(libc.PR_SET_DUMPABLE, 0)
        devices, facts = (gpu.devices(), gpu.facts()) if self.gpu else ((), ())
        self._rules = partial(landlock.ruleset, (*visible.trees, *facts), visible.listings, WRITABLE, devices)
        self._ruleset = self._try("landlock", self._rules)
        own_files = self.layers.setdefault("namespaces", "off: not for a process that holds a GPU") == "on"
        guarded = own_files or self._ruleset is not None
        self._filter = self._try("seccomp", lambda: seccomp.compile_filter(guarded, self.gpu))
        if own_files:
            namespaces.private_root()
        self._uid = self._try("own user", _reserved_uid)
        self.layers["limits"] = "on"

    def enter(self) -> None:
        """Go behind the walls, in a fresh child; descriptors from FIRST_UNUSED_FD on are closed."""
        parent = os.getppid()
        self._limit_resources()
        if self._uid is not None:
            _become(self._uid)
        libc.drop_capabilities()
        libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)  # a change of user clears it, so it comes after
        if os.getppid() != parent:
            os._exit(0)
        libc.prctl(libc.PR_SET_DUMPABLE, 0)
        libc.prctl(libc.PR_SET_NO_NEW_PRIVS, 1)
        with suppress(OSError):  # the kernel's search for huge pages would count as the child's time
            libc.prctl(libc.PR_SET_THP_DISABLE, 1)
        if self._ruleset is not None:  # the driver names its threads in files that exist for this process alone
            landlock.restrict(self._rules(own_tasks=True) if self.gpu else self._ruleset)
        os.closerange(FIRST_UNUSED_FD, 1 << 16)
        if self._filter is not None:
            self._filter.install()

    def _limit_resources(self) -> None:
        limits = self.limits
        for what, value in (
            (resource.RLIMIT_DATA if self.gpu else resource.RLIMIT_AS, self._base_memory + limits.memory_bytes),
            (resource.RLIMIT_FSIZE, limits.file_bytes),
            (resource.RLIMIT_NOFILE, limits.open_files),
            (resource.RLIMIT_CPU, limits.total_cpu_s),
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_MEMLOCK, _allowed(resource.RLIMIT_MEMLOCK, limits.locked_bytes)),
            (resource.RLIMIT_MSGQUEUE, 0),
        ):
            resource.setrlimit(what, (value, value))
        if self._uid is not None:  # it counts the threads of a user, and any other uid may have many elsewhere
            resource.setrlimit(resource.RLIMIT_NPROC, (limits.threads, limits.threads))

    def _try(self, layer: str, step: Callable[[], Result]) -> Result | None:
        try:
            result = step()
        except OSError as error:
            self.layers[layer] = f"off: {error.strerror or error}"
            return None
        self.layers[layer] = "on"
        return result


def _enclose() -> None:
    try_first(_enclose_wholly)  # a step that fails half-way would leave this process unable to fork
    namespaces.enter()


def _enclose_wholly() -> None:
    namespaces.enter()
    namespaces.private_root()


def _reserved_uid() -> int:
    """Return a uid for students' code; raise OSError when this process cannot take it or it cannot read Python."""
    if os.geteuid() != 0:
        raise PermissionError(errno.EPERM, "only root can give a child another user")
    uid = _RESERVED_UIDS + _HOST_PID

    def step() -> None:
        _become(uid)
        os.stat(os.__file__)

    try:
        try_first(step)
    except PermissionError as error:
        raise PermissionError(error.errno, f"another user may not read {sys.base_prefix}, or uids are fixed") from None
    return uid


def _allowed(what: int, value: int) -> int:
    """Return ``value``, or the hard limit of this process where that is lower."""
    hard = resource.getrlimit(what)[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)


def _become(uid: int) -> None:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def _memory_in_use(only_data: bool) -> int:
    """Return this process's address space in bytes, or only its data: CUDA reserves far more than it ever uses."""
    with open("/proc/self/statm") as file:
        sizes = file.read().split()
    return int(sizes[5 if only_data else 0]) * resource.getpagesize()
