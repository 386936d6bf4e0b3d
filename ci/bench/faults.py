#!/usr/bin/env python3
"""Kill parts of running graders at random points until enough kills were made, resume each, and compare the grades.

Run it with the Python of .venv. Exit status 1 when a batch does not end in the very bytes of an undisturbed one.
"""

import argparse
import contextlib
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "ci" / "tests")]

from classes import make_class  # noqa: E402
from commands import autograder, start_autograder  # noqa: E402
from kills import LEVELS, kill, levels  # noqa: E402

from autograder.grading.many.journal import rows  # noqa: E402


def main() -> int:
    """Parse, run, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--size", type=int, default=60, help="submissions in the batch")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random.seed(options.seed)
    done: Counter[str] = Counter()
    batches = wrong = resumed = 0
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        course = make_class(Path(folder, "class"), options.size)
        autograder("grade", course, "-o", Path(folder, "undisturbed"))
        expected = Path(folder, "undisturbed", "grades.csv").read_bytes()
        while sum(done.values()) < options.kills:
            batches += 1
            out = Path(folder, f"out{batches}")
            resumed += disturb(course, out, options.kills, done)
            wrong += not is_right(out, expected, options.size)
    for name, count in sorted(done.items()):
        print(f"{count:4} times SIGKILL of a {name}")
    print(
        f"{sum(done.values())} kills in {batches} batches of {options.size}, {resumed} runs resumed, "
        f"{time.monotonic() - started:.0f} s: {wrong} batches with other grades than undisturbed"
    )
    return int(wrong > 0)


def disturb(course: Path, out: Path, kills: int, done: Counter[str]) -> int:
    """Grade with a few kills per run until the batch is finished, and return how often it was resumed."""
    runs = 0
    while True:
        grader = start_autograder("grade", course, "-o", out, "--jobs", 2, *(["--resume"] if runs else []))
        for _ in range(min(random.randint(1, 6), kills - sum(done.values()))):
            wait_a_while(grader)
            level = random.randrange(len(LEVELS))
            found = victims(grader, level)
            if found and kill(random.choice(found)):
                done[LEVELS[level]] += 1
        grader.wait()
        runs += 1
        if grader.returncode in (0, 1) and set(finished(out)) == {row["student"] for row in rows(out)}:
            return runs - 1
        if grader.returncode not in (0, 1, 2, -signal.SIGKILL):
            raise SystemExit(f"a grader ended with {grader.returncode}")


def victims(grader: "subprocess.Popen[bytes]", level: int) -> list[int]:
    """Return the processes of a level as soon as there are any; a child lives for moments only."""
    patience = time.monotonic() + 5
    while grader.poll() is None and time.monotonic() < patience:
        below = levels(grader.pid)
        if len(below) > level:
            return below[level]
    return []


def wait_a_while(grader: "subprocess.Popen[bytes]") -> None:
    """Wait until the grader has worked for a random time, or has ended."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        grader.wait(random.uniform(0.1, 2.5))


def is_right(out: Path, expected: bytes, size: int) -> bool:
    """Tell whether every row is there once and the grades are the expected bytes."""
    students = finished(out)
    return (out / "grades.csv").read_bytes() == expected and len(students) == len(set(students)) == size


def finished(out: Path) -> list[str]:
    """Return the students of the rows that stand, leaving out those given up for having been killed too often."""
    last = {row["student"]: row for row in rows(out)}
    given_up = {name for name, row in last.items() if (row["rejected"] or {}).get("code") == "grading.given_up"}
    return [row["student"] for row in rows(out) if row["sha256"] and row["student"] not in given_up]


if __name__ == "__main__":
    sys.exit(main())
