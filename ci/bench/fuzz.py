#!/usr/bin/env python3
"""Send made-up replies, one million unless told otherwise, through the trusted decoder and the comparison.

Run it with the Python of .venv. Any exception ends it; exit status 1 when a reply took long or memory grew.
"""

import argparse
import resource
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "ci" / "tests")]

from lying_replies import run  # noqa: E402

SHARE = 20_000
MIB = 1024  # ru_maxrss counts KiB
GROWTH_MIB = 32


def main() -> int:
    """Parse, run, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.monotonic()
    ends = run(options.seed, SHARE)
    before = _peak_mib()
    for share in range(1, options.count // SHARE):
        ends += run(options.seed + share, SHARE)
    grown = _peak_mib() - before
    for end, count in sorted(ends.items()):
        print(f"{count:8} {end}")
    seconds = time.monotonic() - started
    print(f"{sum(ends.values()) - ends['slow']} replies in {seconds:.0f} s, no exception, {ends['slow']} slow, "
          f"memory grew by {grown} MiB at its highest")  # fmt: skip
    return int(ends["slow"] > 0 or grown > GROWTH_MIB)


def _peak_mib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // MIB


if __name__ == "__main__":
    sys.exit(main())
