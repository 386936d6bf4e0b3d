"""Finds the processes of a running grader by how far below it they are, and kills them."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

LEVELS = ("grader", "worker", "fork-server", "process 1 of its namespaces", "child")
"""Where namespaces are refused, a child stands in the place of process 1."""


def levels(grader: int) -> list[list[int]]:
    """Return the processes below ``grader``, level by level, itself first."""
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parent = int((folder / "stat").read_text(errors="replace").rpartition(") ")[2].split()[1])
            except OSError:
                continue  # it has ended meanwhile
            children.setdefault(parent, []).append(int(folder.name))
    found = [[grader]]
    while below := [born for pid in found[-1] for born in children.get(pid, [])]:
        found.append(below)
    return found


def children(pid: int) -> set[int]:
    """Return the processes that ``pid`` started and that are still there."""
    return {child for level in levels(pid)[1:2] for child in level}


def kill(pid: int) -> bool:
    """Kill a process and tell whether it was there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def is_alive(pid: int) -> bool:
    """Tell whether a process still runs; one that has ended and is not yet waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


def wait_until(happened: Callable[[], object], seconds: float = 60) -> None:
    """Wait for something that processes bring about; fail where it does not happen in time."""
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.005)
