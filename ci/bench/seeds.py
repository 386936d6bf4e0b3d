#!/usr/bin/env python3
"""Grade wrong and right submissions under many fresh seeds: who escapes, who is blamed elsewhere, who loses a point.

    .venv/bin/python ci/bench/seeds.py --wrong solutions/mutants --seeds 20
    .venv/bin/python ci/bench/seeds.py --right solutions/submissions/alternative --seeds 100

Paths are what ``autograder mutation`` takes. A line names the submission, the seeds under which it went wrong and what
it lost there; the last line counts. A seed is printed because it is nobody's: it was drawn for this run alone.
"""

import argparse
import sys
from collections import defaultdict
from pathlib import Path

from autograder.contract.seed import Seed, new_seed
from autograder.grading.mutation.mutants import load_mutants
from autograder.grading.mutation.score import STAND_IN, Score, score_mutants
from autograder.system import usable_cores


def main() -> int:
    """Print every submission that some seed judges otherwise than it should; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wrong", type=Path, nargs="+", default=[])
    parser.add_argument("--right", type=Path, nargs="+", default=[])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=usable_cores())
    options = parser.parse_args()
    misjudged = 0
    for paths, fault, stand_in in ((options.wrong, _fault_of_wrong, STAND_IN), (options.right, _fault_of_right, "")):
        if not paths:
            continue
        submissions = load_mutants(paths)
        faults: defaultdict[str, list[str]] = defaultdict(list)
        for _ in range(options.seeds):
            seed = Seed(new_seed())
            for score in score_mutants(submissions, options.jobs, seed=seed, stand_in=stand_in):
                if found := fault(score):
                    faults[score.mutant.name].append(f"{found} under {seed.text}")
        for name, found in sorted(faults.items()):
            print(f"{name}: {len(found)} of {options.seeds} seeds; {found[0]}")
        misjudged += len(faults)
        print(f"{len(submissions)} submissions, {options.seeds} seeds, {len(faults)} misjudged", flush=True)
    return 1 if misjudged else 0


def _fault_of_wrong(score: Score) -> str:
    if not score.killed:
        return "escapes"
    return "" if score.attributed else f"loses {' '.join(sorted(score.lost))} ({', '.join(score.killed_by[:3])})"


def _fault_of_right(score: Score) -> str:
    return f"loses {', '.join(score.killed_by[:3])}" if score.killed else ""


if __name__ == "__main__":
    sys.exit(main())
