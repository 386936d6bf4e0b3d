"""Print which build of torch serves this machine's GPU, or say in one sentence why none does; standard library alone.

uv's own choice looks at the driver and never at the card, and takes a CPU build where it finds none.
"""

import argparse
import subprocess
import sys
from pathlib import Path

OLDEST_DRIVER = {"cu130": (580,), "cu126": (525, 60, 13)}
"""NVIDIA, CUDA minor version compatibility: every 13.x runs on 580, every 12.x on 525.60.13; the newest build first."""
CARDS = {"cu130": (75, 121), "cu126": (50, 90)}
"""Oldest and newest card that a build has code for, by compute capability times ten (torch's RELEASE.md)."""


def build_for(driver: str, cards: list[int]) -> str:
    """Return the newest build that driver and all cards can use; raise ValueError with one sentence where none can."""
    version = tuple(int(part) for part in driver.split(".") if part.isdecimal())
    served = [name for name, (oldest, newest) in CARDS.items() if all(oldest <= card <= newest for card in cards)]
    fits = [name for name in served if version >= OLDEST_DRIVER[name]]
    if fits:
        return fits[0]
    if served:
        wanted = ".".join(map(str, OLDEST_DRIVER[served[-1]]))
        raise ValueError(f"The NVIDIA driver {driver} is too old for this card; install {wanted} or newer.")
    shown = " and ".join(f"sm_{card}" for card in sorted(set(cards)))
    raise ValueError(f"No build of this torch serves {shown}: use cards from sm_50 to sm_121, all with one build.")


def found_here() -> tuple[str, list[int]]:
    """Return the driver's version and the cards' capabilities; raise ValueError with one sentence without a driver."""
    command = ["nvidia-smi", "--query-gpu=driver_version,compute_cap", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        rows = [line.split(", ") for line in done.stdout.splitlines() if line.strip()]
        return rows[0][0], [round(float(capability) * 10) for _, capability in rows]
    except (OSError, subprocess.SubprocessError, ValueError, IndexError):
        known = Path("/sys/module/nvidia/version")
        if known.exists():
            return known.read_text().strip(), []
    raise ValueError("CUDA needs an NVIDIA driver and nvidia-smi finds none here; install one (580 or newer is best).")


def main() -> None:
    """Print the build; exit with 2 and the sentence where there is none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", help="as if this driver were installed")
    parser.add_argument("--card", type=float, action="append", default=[], help="as if this card were, by capability")
    given = parser.parse_args()
    try:
        driver, cards = (given.driver, [round(card * 10) for card in given.card]) if given.driver else found_here()
        print(build_for(driver, cards))
    except ValueError as error:
        sys.exit(_refused(str(error)))


def _refused(sentence: str) -> int:
    print(sentence, file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
