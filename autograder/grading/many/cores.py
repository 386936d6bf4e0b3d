"""How many cores this process may use."""

import os


def usable_cores() -> int:
    """Return the number of cores that the scheduler grants to this process, at least one."""
    return max(1, len(os.sched_getaffinity(0)))
