"""What a command costs: CPU and wall time of its whole tree of processes, and the most memory the tree held."""

import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

SAMPLE_EVERY_S = 0.2
BIN = Path(sys.executable).parent
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
ENVIRONMENT["PATH"] = f"{BIN}{os.pathsep}{ENVIRONMENT['PATH']}"  # nbgrader calls its neighbours by name


@dataclass(frozen=True)
class Cost:
    """Seconds and bytes; ``pss`` counts pages that processes share once."""

    cpu_s: float
    wall_s: float
    pss: int


def measure(command: Sequence[str | Path], cwd: Path, sample_memory: bool = False) -> Cost:
    """Run ``command`` to its end and return what it cost; raise CalledProcessError where it could not do its work."""
    before, started = _children_cpu(), time.perf_counter()
    process = subprocess.Popen(
        command, cwd=cwd, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    peak = _Peak(process.pid)
    if sample_memory:
        peak.start()
    _, errors = process.communicate()
    wall = time.perf_counter() - started
    peak.ended.set()
    if process.returncode > 1:
        raise subprocess.CalledProcessError(process.returncode, command, stderr=errors)
    return Cost(_children_cpu() - before, wall, peak.pss)


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class _Peak(threading.Thread):
    """Samples the memory of a tree of processes until ``ended``."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.ended = threading.Event()
        self.pss = 0
        self._pid = pid

    def run(self) -> None:
        while not self.ended.wait(SAMPLE_EVERY_S):
            try:
                root = psutil.Process(self._pid)
                self.pss = max(self.pss, sum(_pss(p) for p in [root, *root.children(recursive=True)]))
            except psutil.NoSuchProcess:
                continue


def _pss(process: psutil.Process) -> int:
    try:
        return int(process.memory_full_info().pss)
    except psutil.Error:
        return 0
