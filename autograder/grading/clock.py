"""How evenly this machine's time passes: what makes the same work take longer at one moment than at another."""

from collections.abc import Iterator
from pathlib import Path

_CPUS = "sys/devices/system/cpu"


def unsteady(root: Path = Path("/")) -> Iterator[tuple[str, str]]:
    """Yield what may stretch a submission's CPU seconds here, and what to do about it; limits leave room for all."""
    if len(_read(root, "proc/swaps").splitlines()) > 1:
        yield "swap is on", "swapoff -a, so that memory is refused at once instead of lent slowly"
    if _read(root, f"{_CPUS}/smt/active") == "1":
        yield "hyper-threads share cores", "grade with --jobs at half the number of processors, or turn SMT off"
    governors = {*_of_each(root, "cpufreq/scaling_governor")} - {"performance"}
    if governors:
        yield f"the frequency governor is {', '.join(sorted(governors))}", "cpupower frequency-set -g performance"
    if _read(root, f"{_CPUS}/intel_pstate/no_turbo") == "0" or _read(root, f"{_CPUS}/cpufreq/boost") == "1":
        yield "turbo is on", "turn it off where times are to be compared"
    if "[always]" in _read(root, "sys/kernel/mm/transparent_hugepage/enabled"):
        yield "huge pages are made at any time", "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"
    fastest = {*_of_each(root, "cpufreq/cpuinfo_max_freq"), *_of_each(root, "cpu_capacity")}
    if len(fastest) > 1:
        yield "cores differ in speed", "grade on equal ones: taskset -c with their numbers before the command"


def _of_each(root: Path, fact: str) -> Iterator[str]:
    for path in sorted((root / _CPUS).glob(f"cpu[0-9]*/{fact}")):
        if value := _read(root, path.relative_to(root).as_posix()):
            yield value


def _read(root: Path, path: str) -> str:
    try:
        return (root / path).read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""
