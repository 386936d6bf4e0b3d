#!/usr/bin/env python3
"""What one submission costs in batches of 100, 1,000 and 10,000, and how the grader's memory grows.

.venv/bin/python ci/bench/scale.py [--sizes 100 1000 10000] [--cluster]

With --cluster each batch is graded a second time, on a Dask scheduler and as many workers of this machine, of which one
is killed when a third is graded; both runs must leave the same grades.csv, and nobody may be in a journal twice.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from processes import ENVIRONMENT, Cost, measure

ROOT = Path(__file__).resolve().parents[2]
AUTOGRADER = Path(sys.executable).parent / "autograder"
DASK = Path(sys.executable).parent / "dask"


def main() -> None:
    """Measure and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 10000])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cluster", action="store_true")
    options = parser.parse_args()
    notebook = (ROOT / "solutions" / "paged_attention.ipynb").read_bytes()
    print("| submissions | where | CPU ms each | wall ms each | submissions/s | peak PSS MB |")
    print("|---|---|---|---|---|---|")
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as folder:
            course = Path(folder) / "class"
            course.mkdir()
            for i in range(size):
                (course / f"student-{i:05}.ipynb").write_bytes(notebook)
            out = Path(folder) / "out"
            command = [AUTOGRADER, "grade", course, "-o", out, "--jobs", str(options.jobs)]
            show(size, "local pool", measure(command, Path(folder), sample_memory=True))
            if options.cluster:
                there = Path(folder) / "there"
                with cluster(Path(folder), options.jobs) as address, one_killed(address, there / "journal.jsonl", size):
                    command = [AUTOGRADER, "grade", course, "-o", there, "--cluster", address]
                    show(size, "Dask, without its CPU", measure(command, Path(folder), sample_memory=True))
                compare(out, there, size)


def show(size: int, where: str, cost: Cost) -> None:
    """Print a line of the table."""
    each = cost.cpu_s / size * 1e3, cost.wall_s / size * 1e3, size / cost.wall_s
    line = f"| {size:,} | {where} | {each[0]:.1f} | {each[1]:.1f} | {each[2]:.1f} | {cost.pss / 1e6:.0f} |"
    print(line, flush=True)


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[str]:
    """Give the address of a scheduler with workers of one thread each, all of them processes of this machine."""
    file = folder / "scheduler.json"
    commands = [
        [DASK, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", file],
        [DASK, "worker", "--scheduler-file", file, "--nworkers", str(workers), "--nthreads", "1", "--no-dashboard"],
    ]
    started = []
    try:
        for command in commands:
            quiet = subprocess.DEVNULL
            started.append(subprocess.Popen(command, cwd=folder, env=ENVIRONMENT, stdout=quiet, stderr=quiet))
            while not file.exists() or not file.read_text():
                time.sleep(0.1)
        address = json.loads(file.read_text())["address"]
        while len(pids(address)) < workers:
            time.sleep(0.5)
        yield address
    finally:
        for process in reversed(started):
            process.terminate()
            process.wait()


def pids(address: str) -> list[int]:
    """Return the workers' processes."""
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        return sorted(client.run(os.getpid).values())


@contextmanager
def one_killed(address: str, journal: Path, size: int) -> Iterator[None]:
    """Kill a worker when a third of the batch is graded."""
    victim, over = pids(address)[0], threading.Event()

    def watch() -> None:
        while not over.wait(0.5):
            if journal.exists() and journal.read_bytes().count(b"\n") > size // 3:
                os.kill(victim, signal.SIGKILL)
                return

    watcher = threading.Thread(target=watch)
    watcher.start()
    yield
    over.set()
    watcher.join()


def compare(here: Path, there: Path, size: int) -> None:
    """Say whether both runs graded everybody once and alike."""
    students = [json.loads(line)["student"] for line in (there / "journal.jsonl").open()]
    same = (here / "grades.csv").read_bytes() == (there / "grades.csv").read_bytes()
    once = len(students) == len(set(students)) == size
    grades = "the same" if same else "DIFFERS"
    print(f"One worker killed; grades.csv {grades}; everybody is {'there once' if once else 'NOT there once'}.")
    if not same or not once:
        sys.exit(1)


if __name__ == "__main__":
    main()
