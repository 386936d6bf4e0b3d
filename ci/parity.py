"""Grade the same submissions with Otter and autograder.zip and with our batch: gradescope.json must be the same bytes.

usage: ci/parity [PATH ...]     the folders of solutions/submissions where nothing is named

Both draw their cases from a course seed made for this run.
Notebooks and scripts go through ``otter run``. What Otter itself cannot open before any plugin is asked (a damaged
notebook, an archive, a folder) goes through the zip's ``run_autograder``, which is what Gradescope calls.
"""

import json
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from otter.run import main as otter_run

from autograder.config import load_config
from autograder.contract.seed import new_seed
from autograder.grading.many.batch import Settings, grade_batch
from autograder.grading.otter.plugin import run_autograder
from autograder.intake.discover import Entry, discover
from autograder.release.zip import build, sources
from autograder.reporting.schema import to_bytes
from autograder.system import usable_cores

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "solutions" / "submissions"


@dataclass(frozen=True)
class Compared:
    """One submission graded both ways; ``difference`` is empty where the bytes are the same."""

    student: str
    route: str
    difference: str


def main(paths: list[Path]) -> int:
    """Print every difference and a count; return the exit status."""
    entries = discover(paths or sorted(folder for folder in SAMPLES.iterdir() if folder.is_dir()))
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        course = seeded_course(work / "course")
        (work / "autograder.zip").write_bytes(build(course))
        grade_batch(entries, work / "out", Settings(load_config(course), jobs=usable_cores()), lambda line: None)
        with ProcessPoolExecutor(usable_cores(), get_context("fork")) as pool:
            compared = [_told(each) for each in pool.map(partial(compare, work), entries)]
    different = sum(bool(each.difference) for each in compared)
    routes = [each.route for each in compared]
    counts = ", ".join(f"{routes.count(route)} by {route}" for route in sorted(set(routes)))
    print(f"{len(compared) - different} of {len(compared)} the same ({counts}), {different} different")
    return 1 if different else 0


def seeded_course(course: Path) -> Path:
    """Copy what the zip is made of to ``course``, and give it a seed of its own."""
    for name in sources(ROOT):
        (course / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, course / name)
    settings, table = (ROOT / "pyproject.toml").read_text("utf-8"), "[tool.autograder]\n"
    assert table in settings
    (course / "pyproject.toml").write_text(settings.replace(table, f'{table}seed_file = "seed.txt"\n'), "utf-8")
    (course / "seed.txt").write_text(f"{new_seed()}\n", "ascii")
    return course


def _told(compared: Compared) -> Compared:
    print(f"{compared.student} ({compared.route}): {compared.difference or 'the same'}", flush=True)
    return compared


def compare(work: Path, entry: Entry) -> Compared:
    """Grade one submission with Otter and compare with what the batch left in ``work/out``."""
    route, otters = by_otter(work / "autograder.zip", entry)
    ours = (work / "out" / "students" / entry.student / "gradescope.json").read_bytes()
    if otters is None:
        return Compared(entry.student, route, "no results.json")
    return Compared(entry.student, route, "" if to_bytes(json.loads(otters)) == ours else _difference(otters, ours))


def by_otter(autograder_zip: Path, entry: Entry) -> tuple[str, bytes | None]:
    """Return how Otter came to its results.json, and that file's bytes."""
    single = entry.path if not entry.parts else entry.path / entry.parts[0]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        if len(entry.parts) < 2 and single.suffix in (".ipynb", ".py") and single.is_file():
            run = partial(otter_run, str(single), autograder=str(autograder_zip), output_dir=folder, no_logo=True)
            results = _results(run, root / "results.json")
            if results is not None:
                return "otter run", results
        lay_out(autograder_zip, root, entry)
        return "run_autograder", _results(partial(run_autograder, root), root / "results" / "results.json")


def lay_out(autograder_zip: Path, root: Path, entry: Entry) -> None:
    """Make ``root`` what /autograder is on Gradescope when run_autograder is called."""
    with zipfile.ZipFile(autograder_zip) as archive:
        archive.extractall(root / "source")
    for folder in ("submission", "results"):
        (root / folder).mkdir()
    (root / "submission_metadata.json").write_text("{}")
    for source in [entry.path / part for part in entry.parts] or [entry.path]:
        target = root / "submission" / source.name
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True)
        else:
            shutil.copy(source, target)


def _results(run: Callable[[], object], results: Path) -> bytes | None:
    """Return what ``run`` leaves at ``results``; what it prints, and an error it ends with, do not matter here."""
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), suppress(Exception):
        run()
    return results.read_bytes() if results.exists() else None


def _difference(otters: bytes, ours: bytes) -> str:
    pairs = zip(to_bytes(json.loads(otters)).decode().splitlines(), ours.decode().splitlines(), strict=False)
    theirs, own = next(((a, b) for a, b in pairs if a != b), ("one ends earlier", ""))
    return f"Otter says {theirs.strip()!r}, the batch {own.strip()!r}"


if __name__ == "__main__":
    sys.exit(main([Path(argument) for argument in sys.argv[1:]]))
