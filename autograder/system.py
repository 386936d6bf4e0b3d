"""What differs between systems: grading runs on Linux alone, everything else on macOS and Windows as well."""

import multiprocessing
import os
import sys

from autograder.errors import GraderError

CAREFULLY = sum(getattr(os, flag, 0) for flag in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
"""Flags for opening a file where a link to elsewhere or a pipe may stand; what a system lacks is left out."""


class NotHere(GraderError):
    """Something cannot run on this system; the text is one sentence that says where it can."""


def demand_linux(what: str) -> None:
    """Raise NotHere unless this is Linux, whose kernel confines what students wrote."""
    if sys.platform != "linux":
        raise NotHere(
            f"{what} needs Linux, whose kernel confines what students hand in; use WSL2 on Windows, or a container or "
            "a codespace anywhere: docs/install.md."
        )


def lock(descriptor: int) -> None:
    """Lock a file for this process until it is closed; raise OSError at once where another holds it."""
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def usable_cores() -> int:
    """Return the number of cores that the scheduler grants to this process, at least one."""
    granted = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, granted or 1)


def can_fork() -> bool:
    """Whether a process may be forked with all it has loaded."""
    return sys.platform == "linux" and "fork" in multiprocessing.get_all_start_methods()
