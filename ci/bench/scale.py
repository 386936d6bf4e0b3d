#!/usr/bin/env python3
"""What one submission costs in batches of 100, 1,000 and 10,000, and how the grader's memory grows.

.venv/bin/python ci/bench/scale.py [--sizes 100 1000 10000]
"""

import argparse
import sys
import tempfile
from pathlib import Path

from processes import measure

ROOT = Path(__file__).resolve().parents[2]
AUTOGRADER = Path(sys.executable).parent / "autograder"


def main() -> None:
    """Measure and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10000])
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    notebook = (ROOT / "solutions" / "paged_attention.ipynb").read_bytes()
    print("| submissions | CPU ms each | wall ms each | submissions/s | peak PSS MB |")
    print("|---|---|---|---|---|")
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as folder:
            course = Path(folder) / "class"
            course.mkdir()
            for i in range(size):
                (course / f"student-{i:05}.ipynb").write_bytes(notebook)
            command = [AUTOGRADER, "grade", course, "-o", Path(folder) / "out", "--jobs", str(options.jobs)]
            cost = measure(command, Path(folder), sample_memory=True)
        each = cost.cpu_s / size * 1e3, cost.wall_s / size * 1e3, size / cost.wall_s
        print(f"| {size:,} | {each[0]:.1f} | {each[1]:.1f} | {each[2]:.1f} | {cost.pss / 1e6:.0f} |", flush=True)


if __name__ == "__main__":
    main()
