"""What NVIDIA's driver says that a process holds of a GPU's memory: a figure from outside, which no child can forge."""

import subprocess

_QUERY = ("nvidia-smi", "--query-compute-apps=pid,used_gpu_memory", "--format=csv,noheader,nounits")
_LONGEST_S = 10.0


def driver_mib(pid: int) -> int | None:
    """Return the MiB of all GPUs that the driver counts for a process.

    None where that is not to be had: no nvidia-smi, or one that does not know the process. In a container it knows
    processes by the host's numbers, and then it names none of ours.
    """
    try:
        done = subprocess.run(_QUERY, capture_output=True, text=True, timeout=_LONGEST_S, check=True)
        rows = [line.split(", ") for line in done.stdout.splitlines() if line.strip()]
        held = [int(used) for owner, used in rows if int(owner) == pid]
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return sum(held) if held else None
