#!/usr/bin/env python3
"""Hunt for inputs that raise, or take too long, where a stranger's bytes come in: a minute, or as long as it is told.

Run it with the Python of .venv. Hypothesis draws the inputs and makes what it finds as short as it can. Exit status 1
when anything was found; add it to the tests of that place, or to solutions/submissions/hostile.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "ci" / "tests")]

from hunting import TARGETS, peak_mib, watched  # noqa: E402

ROUND = 50
MOST_MIB = 300


def main() -> int:
    """Parse, hunt, print what each target went through, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; all by default")
    options = parser.parse_args()
    wanted = options.targets or list(TARGETS)
    ends: Counter[tuple[str, str]] = Counter()
    found: dict[str, str] = {}
    started, rounds = time.monotonic(), 0
    while time.monotonic() - started < options.minutes * 60 and set(wanted) - set(found):
        name = wanted[rounds % len(wanted)]
        if name not in found and (problem := hunt(name, options.seed + rounds, ends)):
            found[name] = problem
        rounds += 1
    for (name, end), count in sorted(ends.items()):
        print(f"{count:8} {name}: {end}")
    for name, problem in found.items():
        print(f"FOUND in {name}: {problem}")
    seconds = time.monotonic() - started
    print(f"{sum(ends.values())} inputs in {seconds:.0f} s, found in {len(found)} places, at most {peak_mib()} MiB")
    return int(bool(found) or peak_mib() > MOST_MIB)


def hunt(name: str, start: int, ends: Counter[tuple[str, str]]) -> str:
    """Play one round against a target and return what was found, shortened, if anything."""

    @seed(start)
    @settings(max_examples=ROUND, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def play(data: st.DataObject) -> None:
        ends[name, watched(TARGETS[name], data)] += 1

    try:
        play()
    except Exception as error:
        return "\n".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())])
    return ""


if __name__ == "__main__":
    sys.exit(main())
