"""Looks at a process from outside: its CPU clock, its state, and whether a limit is reached."""

import time

from autograder.findings import Finding

_WAITING = "ST"  # asleep or stopped, by the letters of /proc/<pid>/stat
_LAZY = 0.1  # of the time between two looks: more work than that is no sleep, whatever the first thread does
_LONGEST_LOOK_S = 0.05  # one look stands for no more: on a busy machine this process itself may come late


def host_pid(pidfd: int) -> int:
    """Return the process id, as this process sees it, of a descriptor that came from another namespace."""
    with open(f"/proc/self/fdinfo/{pidfd}") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("Pid:"))


def cpu_clock(pid: int) -> float | None:
    """Return the CPU seconds a process and its threads have used; None when it has ended."""
    try:
        return time.clock_gettime(~pid << 3 | 2)  # how the kernel numbers the CPU clocks of other processes
    except OSError:
        return None


class Watchdog:
    """Over one request: CPU and wall-clock seconds, and sleep, in one piece or in naps."""

    def __init__(self, pid: int, cpu_s: float, idle_s: float, wall_s: float) -> None:
        self._pid, self._cpu_s, self._idle_s, self._wall_s = pid, cpu_s, idle_s, wall_s
        self._cpu = cpu_clock(pid) or 0.0
        self._cpu_end = self._cpu + cpu_s
        self._looked = time.monotonic()
        self._wall_end = self._looked + wall_s
        self._idle = 0.0

    def wake(self) -> None:
        """Forget the sleep seen so far: a new cell begins."""
        self._idle = 0.0

    def limit_reached(self) -> Finding | None:
        """Return the limit that is reached, if any."""
        now, before = time.monotonic(), self._looked
        self._looked = now
        cpu = cpu_clock(self._pid)
        if cpu is None:
            return None
        if cpu >= self._cpu_end:
            return Finding("run.cpu", {"seconds": f"{self._cpu_s:g}"})
        if now >= self._wall_end:
            return Finding("run.wall", {"seconds": f"{self._wall_s:g}"})
        worked, self._cpu = cpu - self._cpu, cpu
        if worked < _LAZY * (now - before) and _state(self._pid) in _WAITING:
            self._idle += min(now - before, _LONGEST_LOOK_S)
        if self._idle >= self._idle_s:
            return Finding("run.idle", {"seconds": f"{self._idle_s:g}"})
        return None


def _state(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return chr(file.read().rpartition(b") ")[2][0])
    except (OSError, IndexError):  # ended, or hidden from us: not known to be waiting
        return "R"
