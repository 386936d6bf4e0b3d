"""Looks at every thread of a child from outside: walls bind threads one by one, and one may have been left out."""

import os

WALLS_DOWN = "a thread of the child stands in front of the walls"
_WANTED = ("NoNewPrivs", "Seccomp", "Seccomp_filters", "CapInh", "CapPrm", "CapEff", "Uid", "Gid", "Groups")


def free_threads(pid: int, filtered: bool) -> list[str]:
    """Return WALLS_DOWN where a thread of the process isn't bound as every one must be, else nothing.

    A thread inherits its walls from the one that starts it, and the filter of system calls is put on last. A thread
    that has it was born behind all of them, Landlock included, of which the kernel tells nothing.
    """
    try:
        threads = [_status(f"/proc/{pid}/task/{task}/status") for task in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return ["hide its threads from the grader"]
    bound = {"NoNewPrivs": "1", "CapEff": "0" * 16, "CapPrm": "0" * 16, **({"Seccomp": "2"} if filtered else {})}
    alike = all(thread == threads[0] for thread in threads)
    return [] if alike and bound.items() <= threads[0].items() else [WALLS_DOWN]


def count(pid: int) -> int:
    """Return how many threads a process has, 0 when it has ended."""
    try:
        return len(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return 0


def _status(path: str) -> dict[str, str]:
    with open(path) as file:
        lines = dict(line.rstrip("\n").split(":", 1) for line in file)
    return {name: lines.get(name, "").strip() for name in _WANTED}
