#!/usr/bin/env python3
"""Side by side in one run: `otter run`, nbgrader's autograde, and ours with one and two workers, on the same notebook.

    .venv/bin/python ci/bench/peers.py [--rounds 5] [--notebooks 2] [--batch 200]

Every round runs each grader once, in turn. Ours is measured on two batches that differ only in size: the slope is what
one more submission costs in a warm batch, the rest is start-up. The floor stands
beside it: `import torch`, and a bare fork.
"""

import argparse
import json
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import jupytext
import nbformat
from processes import BIN, ENVIRONMENT, measure

ROOT = Path(__file__).resolve().parents[2]
FORK = (
    "import gc, os, sys, time; import torch; torch.set_num_threads(1); gc.freeze()\n"
    "for _ in range(int(sys.argv[1])):\n"
    "    pid = os.fork()\n"
    "    if not pid: torch.zeros(8).sum().item(); os._exit(0)\n"
    "    os.waitpid(pid, 0)"
)
MARKERS = re.compile(r'^ *# (?:BEGIN|END) SOLUTION.*\n|^ *""" # BEGIN PROMPT(?s:.*?)# END PROMPT\n', re.M)
PLAIN_FILE = """from otter.test_files import test_case

OK_FORMAT = False

name = "{question}"
points = 1


@test_case(points=1)
def test_plain(env):
    manager, request = env["KVCacheManager"](6, 4, 3), env["Request"](1, 6)
    {body}
"""
PLAIN_TESTS = {
    "q1": "assert env['estimate_kv_cache_bytes'](4, 4, 2, 8, 16)['total_cache_bytes'] == 16384",
    "q2": "manager.allocate_for_prefill(request); assert len(request.block_table) == 2",
    "q3": "manager.allocate_for_prefill(request); manager.allocate_for_decode(request); assert request.seq_len == 7",
    "q4": "request.block_table = [3, 1]; assert manager.get_physical_cache(request).shape == (6, 3)",
}


def main() -> None:
    """Measure and print a table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--notebooks", type=int, default=2, help="per round, for the peers")
    parser.add_argument("--batch", type=int, default=200, help="submissions in our larger batch")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), options.notebooks, options.batch)
        rows: dict[str, list[tuple[float, float, int]]] = {name: [] for name in bench.graders}
        for _ in range(options.rounds):
            for name, grade in bench.graders.items():
                rows[name].append(grade())
        print_table(rows, options.rounds)


class Bench:
    """One notebook, handed in many times; every grader returns CPU and wall seconds per submission, and peak memory."""

    def __init__(self, folder: Path, notebooks: int, batch: int) -> None:
        self.folder, self.count, self.batch = folder, notebooks, batch
        self.notebook = folder / "solution.ipynb"
        nbformat.write(handed_in(), self.notebook)
        for name, size in (("small", 20), ("large", 20 + batch)):
            (folder / name).mkdir()
            for i in range(size):
                (folder / name / f"student-{i:05}.ipynb").write_bytes(self.notebook.read_bytes())
        self._prepare_otter()
        self._prepare_nbgrader()
        self.graders: dict[str, Callable[[], tuple[float, float, int]]] = {
            "import torch": lambda: self._peer(1, [sys.executable, "-c", "import torch"]),
            "bare fork of a torch process": self._fork,
            "otter run": lambda: self._peer(notebooks, *[self._otter()] * notebooks),
            "nbgrader autograde": lambda: self._peer(notebooks, self._nbgrader()),
            "autograder, one cold": lambda: self._peer(1, self._ours("one", self.notebook, 1)),
            "autograder, warm, 1 worker": lambda: self._warm(1),
            "autograder, warm, 2 workers": lambda: self._warm(2),
        }

    def _peer(self, submissions: int, *commands: list[str]) -> tuple[float, float, int]:
        costs = [measure(command, self.folder, sample_memory=True) for command in commands]
        cpu, wall = sum(c.cpu_s for c in costs) / submissions, sum(c.wall_s for c in costs) / submissions
        return cpu, wall, max(c.pss for c in costs)

    def _prepare_otter(self) -> None:
        """Build a plain Otter autograder: one visible test per question, run beside the student's code."""
        tests = self.folder / "tests"
        tests.mkdir()
        for question, body in PLAIN_TESTS.items():
            (tests / f"{question}.py").write_text(PLAIN_FILE.format(question=question, body=body))
        made = [str(BIN / "otter"), "generate", "-t", str(tests), "-o", str(self.folder / "plain.zip")]
        subprocess.run(made, cwd=self.folder, env=ENVIRONMENT, check=True, capture_output=True)

    def _otter(self) -> list[str]:
        return [str(BIN / "otter"), "run", "-a", str(self.folder / "plain.zip"), str(self.notebook)]

    def _ours(self, out: str, path: Path, jobs: int) -> list[str]:
        return [str(BIN / "autograder"), "grade", str(path), "-o", str(self.folder / out), "--jobs", str(jobs)]

    def _warm(self, jobs: int) -> tuple[float, float, int]:
        small = measure(self._ours("out-small", self.folder / "small", jobs), self.folder)
        large = measure(self._ours("out-large", self.folder / "large", jobs), self.folder, sample_memory=True)
        return (large.cpu_s - small.cpu_s) / self.batch, (large.wall_s - small.wall_s) / self.batch, large.pss

    def _fork(self) -> tuple[float, float, int]:
        few, many = (measure([sys.executable, "-c", FORK, str(n)], self.folder) for n in (10, 210))
        return (many.cpu_s - few.cpu_s) / 200, (many.wall_s - few.wall_s) / 200, 0

    def _prepare_nbgrader(self) -> None:
        course = self.folder / "course"
        source = nbformat.read(self.notebook, as_version=4)
        test = nbformat.v4.new_code_cell("assert estimate_kv_cache_bytes(4, 4, 2, 8, 16)['total_cache_bytes'] == 16384")
        test.metadata["nbgrader"] = {
            "grade": True, "grade_id": "q1", "points": 15, "locked": True, "schema_version": 3, "solution": False,
            "task": False, "cell_type": "code",
        }  # fmt: skip
        source.cells.append(test)
        for part in ["source/pa", *[f"submitted/s{i}/pa" for i in range(self.count)]]:
            (course / part).mkdir(parents=True)
            nbformat.write(source, course / part / "solution.ipynb")
        made = [str(BIN / "nbgrader"), "generate_assignment", "pa", "--force", f"--course-dir={course}"]
        subprocess.run(made, cwd=course, env=ENVIRONMENT, check=True, capture_output=True)

    def _nbgrader(self) -> list[str]:
        return [str(BIN / "nbgrader"), "autograde", "pa", "--force", f"--course-dir={self.folder / 'course'}"]


def handed_in() -> nbformat.NotebookNode:
    """Return the solved notebook as a student hands it in, without the markers of the master."""
    notebook = jupytext.read(ROOT / "solutions" / "paged_attention.py")
    for cell in notebook.cells:
        cell.source = MARKERS.sub("", cell.source)
    return notebook


def print_table(rows: dict[str, list[tuple[float, float, int]]], rounds: int) -> None:
    """Print one line per grader: medians, and the ratio to ours within each round with its spread."""
    ours = [cpu for cpu, _, _ in rows["autograder, warm, 1 worker"]]
    print("| | CPU ms | wall ms | submissions/s | peak PSS MB | CPU, times ours (lowest to highest) |")
    print("|---|---|---|---|---|---|")
    for name, measured in rows.items():
        cpu, wall = (statistics.median(m[i] for m in measured) for i in (0, 1))
        ratios = sorted(m[0] / own for m, own in zip(measured, ours, strict=True))
        spread = f"{statistics.median(ratios):.1f} ({ratios[0]:.1f} to {ratios[-1]:.1f})"
        memory = f"{max(m[2] for m in measured) / 1e6:.0f}" if any(m[2] for m in measured) else "-"
        print(f"| {name} | {cpu * 1e3:.1f} | {wall * 1e3:.1f} | {1 / wall:.1f} | {memory} | {spread} |")
    print(f"\n{rounds} rounds, alternating; medians.", json.dumps({"cores": psutil_cores()}))


def psutil_cores() -> int:
    """Return how many cores there are."""
    import os

    return len(os.sched_getaffinity(0))


if __name__ == "__main__":
    main()
