#!/usr/bin/env python3
"""Hunt for inputs that raise, or take too long, where a stranger's bytes come in: a minute, or as long as it is told.

Run it with the Python of .venv. Hypothesis draws the inputs and makes what it finds as short as it can. With the option
``--guided`` bytes go straight to the readers, led by what each reaches: with atheris, which is not among the locked
packages (``pip install atheris``), and which found in seconds what Hypothesis had not. Exit status 1 when anything was
found; add it to the tests of that place, or to solutions/submissions/hostile.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "ci" / "tests")]

from hunting import TARGETS, peak_mib, raw, watched  # noqa: E402
from hunting_seeds import ARCHIVES, NOTEBOOKS  # noqa: E402

ROUND = 50
MOST_MIB = 300


def main() -> int:
    """Parse, hunt, print what each target went through, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--guided", action="store_true", help="let atheris look for bytes that reach new code")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; all by default")
    options = parser.parse_args()
    if options.guided:
        guided(options.minutes, options.seed)
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


def guided(minutes: float, start: int) -> None:
    """Hunt with atheris and never return: it ends the process, with an error where something was found."""
    import atheris

    atheris.instrument_all()  # slow at first, and the readers are imported already
    with tempfile.TemporaryDirectory() as corpus:
        for number, content in enumerate((*NOTEBOOKS, *ARCHIVES)):
            Path(corpus, str(number)).write_bytes(content)
        arguments = [f"-max_total_time={minutes * 60:.0f}", f"-seed={start}", "-print_final_stats=1", corpus]
        atheris.Setup([sys.argv[0], *arguments], raw)
        atheris.Fuzz()


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
