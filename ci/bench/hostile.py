#!/usr/bin/env python3
"""Run every hostile sample on every kind of machine and print a table; ``--batch N`` measures throughput instead.

With ``--burning`` the hostile ones of the batch are those that use up every budget there is. Needs root, to become the
other kinds of machine. Exit status 1 when anything is not as it must be.
"""

import argparse
import csv
import json
import shutil
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "ci" / "tests")]

from hostile_suite import ENVIRONMENTS, HOSTILE, MEMORY_GROWTH, NEIGHBOUR, Run, expected_points, run_suite  # noqa: E402
from processes import Cost, measure  # noqa: E402

BURNING = [
    "dies-late-in-every-case.py", "first-thread-ends.py", "idle-class.py", "large-numbers-that-collide.py",
    "loop-in-every-method.py", "many-threads-burn.py", "messages-that-never-end.py", "nearly-too-much-each-time.py",
    "notes-that-collide.py", "waits-as-if-for-a-disk.py",
]  # fmt: skip
LONGEST_S = 20.0
SHARE = 27  # samples behind one fork-server, so that a slow machine still ends in time


def main() -> int:
    """Parse, run, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, metavar="N", help="grade N submissions, every tenth hostile, and N honest")
    parser.add_argument("--burning", action="store_true", help="with --batch: those that use up every budget")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    attacks = BURNING if options.burning else sorted(expected_points())
    return batch(options.batch, options.jobs, attacks) if options.batch else suite(options.jobs)


def suite(jobs: int) -> int:
    """Print one line per sample and a summary of the whole."""
    expected = expected_points()
    names = sorted(expected)
    shares = [(e, names[i : i + SHARE]) for e in ENVIRONMENTS for i in range(0, len(names), SHARE)]
    started = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        runs = list(zip(shares, pool.map(lambda share: run_suite(*share), shares), strict=True))
    wall = time.monotonic() - started
    outcomes = {(environment, o.name): o for (environment, _), run in runs for o in run.outcomes}
    print(f"{'sample':34}{'points':>7}  " + "".join(f"{e or 'here':>18}" for e in ENVIRONMENTS) + "   (wall s / CPU s)")
    for name in names:
        cells = [outcomes[environment, name] for environment in ENVIRONMENTS]
        marks = "".join(f"{o.wall_s:>10.2f} /{o.cpu_s:6.2f}" for o in cells)
        wrong = "" if {o.points for o in cells} == {expected[name]} else f"  EARNED {[o.points for o in cells]}"
        print(f"{name:34}{expected[name]:>7}  {marks}{wrong}")
    found = {
        "breaches": sum(o.points != expected[o.name] for o in outcomes.values())
        + sum(len(r.breaches) for _, r in runs),
        "survivors": sum(len(o.survivors) for o in outcomes.values()),
        "files left": sum(len(o.files) for o in outcomes.values()),
        "disturbed neighbours": sum(not o.neighbour_same for o in outcomes.values()),
        "grown graders": sum(_grown(run) for _, run in runs),
    }
    print(f"\n{len(names)} samples x {len(ENVIRONMENTS)} environments in {wall:.0f} s: "
          + ", ".join(f"{count} {what}" for what, count in found.items()))  # fmt: skip
    return int(any(found.values()))


def _grown(run: Run) -> bool:
    return run.memory_growth >= MEMORY_GROWTH


def batch(count: int, jobs: int, attacks: list[str]) -> int:
    """Compare a batch with every tenth submission hostile with one that has honest submissions in their places."""
    with tempfile.TemporaryDirectory() as folder:
        costs, rows, longest, memory = {}, {}, {}, {}
        for kind in ("honest", "hostile"):
            submissions = Path(folder, kind)
            submissions.mkdir()
            for i in range(count):
                attack = HOSTILE / attacks[i * len(attacks) // count]
                source = attack if kind == "hostile" and i % 10 == 9 else NEIGHBOUR
                shutil.copyfile(source, submissions / f"student{i:04}{source.suffix}")
            out = Path(folder, f"out-{kind}")
            with Watch() as watch:
                costs[kind], rows[kind] = _grade(submissions, out, jobs)
            memory[kind] = watch.most
            longest[kind] = max(json.loads(p.read_bytes())["wall_s"] for p in out.glob("students/*/timing.json"))
    honest = [i for i in range(count) if i % 10 != 9]
    same = all(rows["honest"][f"student{i:04}"] == rows["hostile"][f"student{i:04}"] for i in honest)
    part = costs["honest"].wall_s / costs["hostile"].wall_s
    grown = memory["hostile"] / memory["honest"] - 1
    for kind, cost in costs.items():
        print(
            f"{kind:8} {count} in {cost.wall_s:.1f} s, {cost.cpu_s:.1f} s of CPU: {count / cost.wall_s:.1f} a second; "
            f"longest {longest[kind]:.1f} s; workers at most {memory[kind] / 1e6:.0f} MB"
        )
    print(
        f"throughput with every tenth hostile: {part:.0%} of all honest; memory {grown:+.1%}; "
        f"honest rows {'identical' if same else 'DIFFER'}"
    )
    return int(not same or part < 0.5 or longest["hostile"] > LONGEST_S or grown >= MEMORY_GROWTH)


class Watch(threading.Thread):
    """Samples the memory of the grader's trusted processes: this program's grandchildren, which are the workers."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = 0
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(0.02):
            for grader in psutil.Process().children():
                try:
                    self.most = max(self.most, *(w.memory_info().rss for w in grader.children()), 0)
                except psutil.Error:
                    continue

    def __enter__(self) -> "Watch":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()


def _grade(submissions: Path, out: Path, jobs: int) -> tuple[Cost, dict[str, list[str]]]:
    program = "from autograder.cli import main; main()"
    command = [sys.executable, "-c", program, "grade", str(submissions), "-o", str(out), "--jobs", str(jobs)]
    cost = measure(command, ROOT)
    with (out / "grades.csv").open(encoding="utf-8-sig") as file:
        return cost, {line[0]: line for line in csv.reader(file)}


if __name__ == "__main__":
    sys.exit(main())
