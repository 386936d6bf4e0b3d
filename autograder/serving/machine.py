"""The machine that a check runs on, as far as a reader of its times has to know it."""

import os
import platform
import re
import subprocess
from pathlib import Path

_GPUS = ("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")


def machine() -> str:
    """Return processor, cores and GPUs in a few words; what the machine does not tell is left out."""
    return ", ".join([f"{os.cpu_count() or 1} cores of {_processor()}", *_gpus()])


def _processor() -> str:
    try:
        told = re.search(r"(?m)^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    except OSError:
        told = None
    return told[1] if told else platform.processor() or platform.machine()


def _gpus() -> list[str]:
    try:
        said = subprocess.run(_GPUS, capture_output=True, text=True, timeout=10, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in said.splitlines() if line.strip()]
