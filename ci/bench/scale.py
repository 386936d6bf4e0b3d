#!/usr/bin/env python3
"""What one submission costs in batches of 100, 1,000 and 10,000, and how the grader's memory grows.

.venv/bin/python ci/bench/scale.py [--sizes 100 1000 10000] [--cluster]

With --cluster each batch is graded a second time, on a Dask scheduler and as many workers of this machine, of which one
is killed when a third is graded; both runs must leave the same grades.csv, and nobody may be in a journal twice.
With --poison as well the last submission kills every worker that it comes to, and it alone has to be given up.
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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from poison import POISON
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
    parser.add_argument("--poison", action="store_true")
    options = parser.parse_args()
    notebook = (ROOT / "solutions" / "paged_attention.ipynb").read_bytes()
    print("| submissions | where | CPU ms each | wall ms each | submissions/s | peak PSS MB |")
    print("|---|---|---|---|---|---|")
    for size in options.sizes:
        with tempfile.TemporaryDirectory() as folder:
            course = Path(folder) / "class"
            course.mkdir()
            for i in range(size):
                (course / f"{name(i)}.ipynb").write_bytes(notebook)
            if options.poison:
                (course / f"{name(size - 1)}.ipynb").write_bytes(notebook.replace(b"lang-en", POISON, 1))
            out = Path(folder) / "out"
            command = [AUTOGRADER, "grade", course, "-o", out, "--jobs", str(options.jobs)]
            show(size, "local pool", measure(command, Path(folder), sample_memory=True))
            if options.cluster:
                there = Path(folder) / "there"
                with cluster(Path(folder), options.jobs) as address, one_killed(address, there / "journal.jsonl", size):
                    command = [AUTOGRADER, "grade", course, "-o", there, "--cluster", address]
                    show(size, "Dask, without its CPU", measure(command, Path(folder), sample_memory=True))
                compare(out, there, size, [name(size - 1)] if options.poison else [])


def name(number: int) -> str:
    """Return a student's name."""
    return f"student-{number:05}"


def show(size: int, where: str, cost: Cost) -> None:
    """Print a line of the table."""
    each = cost.cpu_s / size * 1e3, cost.wall_s / size * 1e3, size / cost.wall_s
    line = f"| {size:,} | {where} | {each[0]:.1f} | {each[1]:.1f} | {each[2]:.1f} | {cost.pss / 1e6:.0f} |"
    print(line, flush=True)


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[str]:
    """Give the address of a scheduler with workers of one thread each, all of them processes of this machine."""
    file = folder / "scheduler.json"
    worker = [DASK, "worker", "--preload", Path(__file__).with_name("poison.py")]
    commands = [
        [DASK, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", file],
        [*worker, "--scheduler-file", file, "--nworkers", str(workers), "--nthreads", "1", "--no-dashboard"],
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


def compare(here: Path, there: Path, size: int, deadly: Sequence[str]) -> None:
    """Say whether both runs graded everybody once and alike, but for those whose submissions kill workers."""
    rows = [json.loads(line) for line in (there / "journal.jsonl").open()]
    students = [row["student"] for row in rows]
    given_up = [row["student"] for row in rows if (row["rejected"] or {}).get("code") == "grading.given_up"]
    same = grades(here, deadly) == grades(there, deadly)
    once = len(students) == len(set(students)) == size
    said = "the same" if same else "DIFFERS"
    print(f"One worker killed; grades.csv {said}; everybody is {'there once' if once else 'NOT there once'}; ", end="")
    print(f"given up: {', '.join(given_up) or 'nobody'}.")
    if not same or not once or given_up != deadly:
        sys.exit(1)


def grades(out: Path, but: Sequence[str]) -> list[str]:
    """Return the lines of grades.csv without those of some students."""
    return [line for line in (out / "grades.csv").read_text("utf-8").splitlines() if line.split(",")[0] not in but]


if __name__ == "__main__":
    main()
