"""Looks at a process from outside: its CPU clock, the state of its threads, and whether a limit is reached."""

import os
import time

from autograder.findings import Finding
from autograder.sandbox.trusted.budget import Budget

_RUNNABLE, _ON_DISK = "R", "D"  # by the letters of /proc/<pid>/stat
_LONGEST_LOOK_S = 0.05  # one look stands for no more: on a busy machine this process itself may come late
_CELLS_ASLEEP = 4  # cells that may use up their time for sleeping, before the whole request has


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
    """Over one child: CPU seconds of a request, sleep, in one piece or in naps, and both with waits for a disk.

    What a busy machine makes it wait for a processor counts nowhere, so that no limit is reached by the hour. All else
    is charged to the submission, and so is what the child used before its first request.
    """

    def __init__(self, pid: int, budget: Budget) -> None:
        self._pid, self._budget, self._cpu = pid, budget, 0.0

    def begin(self, cpu_s: float, idle_s: float, wall_s: float) -> None:
        """Grant the next request its time."""
        self._cpu_s, self._idle_s, self._wall_s = cpu_s, idle_s, wall_s
        self.note(cpu_clock(self._pid) or 0.0)
        self._cpu_end = self._cpu + cpu_s
        self._looked = time.monotonic()
        self._spent = self._idle = self._slept = 0.0

    def note(self, cpu: float) -> float:
        """Charge the CPU time used since the last look, and return it."""
        worked, self._cpu = max(cpu - self._cpu, 0.0), cpu
        self._budget.charge(worked)
        return worked

    def wake(self) -> None:
        """Forget the sleep seen so far: a new cell begins, or so the child says, which helps it a few times at most."""
        self._idle = 0.0

    def limit_reached(self, waits_for_us: bool = False) -> Finding | None:
        """Return the limit that is reached, if any; a child that waits for this process, come late, does not sleep."""
        now, before = time.monotonic(), self._looked
        self._looked = now
        cpu = cpu_clock(self._pid)
        if cpu is None:
            return None
        worked = self.note(cpu)
        unused = min(now - before, _LONGEST_LOOK_S) - worked
        states = _states(self._pid) if unused > 0 else {_RUNNABLE}
        asleep = unused if _RUNNABLE not in states else 0.0
        self._budget.charge(asleep)
        self._spent += worked + asleep
        if _ON_DISK not in states and not waits_for_us:
            self._idle += asleep
            self._slept += asleep
        if cpu >= self._cpu_end:
            return Finding("run.cpu", {"seconds": f"{self._cpu_s:g}"})
        if self._spent >= self._wall_s:
            return Finding("run.wall", {"seconds": f"{self._wall_s:g}"})
        if self._idle >= self._idle_s or self._slept >= _CELLS_ASLEEP * self._idle_s:
            return Finding("run.idle", {"seconds": f"{self._idle_s:g}"})
        return Finding("run.budget") if self._budget.is_used_up else None


def _states(pid: int) -> set[str]:
    """Return the states of all threads; the first one may have ended long before the others."""
    try:
        return {_state(f"/proc/{pid}/task/{thread}/stat") for thread in os.listdir(f"/proc/{pid}/task")}
    except OSError:  # ended, or hidden from us: not known to be waiting
        return {_RUNNABLE}


def _state(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return chr(file.read().rpartition(b") ")[2][0])
    except (FileNotFoundError, ProcessLookupError, IndexError):  # this thread has just ended
        return "X"
