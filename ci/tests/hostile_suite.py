"""Grades the hostile samples on one kind of machine, and looks after each for anything it did beside failing."""

import ctypes
import json
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from environments import played, run_in
from expected import expectations

from autograder.config import Config
from autograder.grading.one.grade_one import Graded, grade_one
from autograder.intake.discover import discover
from autograder.intake.read import read
from autograder.reporting.schema import to_bytes, to_json
from autograder.reporting.words import Words
from autograder.sandbox.client import ForkServer

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = ROOT / "solutions" / "submissions" / "hostile"
NEIGHBOUR = ROOT / "solutions" / "submissions" / "odd" / "percent.py"
ENVIRONMENTS = played("root", "user", "container")
MEMORY_GROWTH = 0.05

_MARK = "breach"
"""What every file that an attack leaves behind has in its name."""
_PLACES = ("/", "/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "/run/lock")
_SUBREAPER = 36
_WORDS = Words("en")


@dataclass(frozen=True)
class Outcome:
    """What one hostile sample earned, and what it did beside that."""

    name: str
    points: int
    codes: list[str]
    wall_s: float
    cpu_s: float
    survivors: list[int]
    files: list[str]
    neighbour_same: bool


@dataclass(frozen=True)
class Run:
    """A run over many samples behind one fork-server."""

    outcomes: list[Outcome]
    memory_before: int
    memory_after: int
    layers: dict[str, str]
    breaches: list[str]

    @property
    def memory_growth(self) -> float:
        """Return by which part the grader has grown."""
        return self.memory_after / self.memory_before - 1


def expected_points() -> dict[str, int]:
    """Return what each sample must earn."""
    return {name: wanted.points for name, wanted in expectations("hostile").items()}


def run_suite(environment: str, names: Sequence[str]) -> Run:
    """Grade the named samples in an environment of :mod:`environments`."""
    body = f"import hostile_suite\nhostile_suite.print_run(server, {list(names)!r})"
    data = run_in(environment, body)
    return Run(**{**data, "outcomes": [Outcome(**outcome) for outcome in data["outcomes"]]})


def print_run(server: ForkServer, names: Sequence[str]) -> None:
    """Grade and print a :class:`Run` as JSON; called in the environment itself."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)  # whoever loses its parent becomes a child of this process
    neighbour = _grade(server, NEIGHBOUR)
    reference = _results(neighbour)
    for _ in range(3):
        _grade(server, NEIGHBOUR)
    known, memory = set(_descendants()), _resident()
    outcomes = []
    for name in names:
        graded = _grade(server, HOSTILE / name)
        findings = [test.finding for test in graded.result.tests if test.finding]
        outcomes.append(
            Outcome(
                name=name,
                points=sum(test.points for test in graded.result.tests),
                codes=sorted({finding.code for finding in (*findings, *graded.result.notes)}),
                wall_s=round(graded.timing["wall_s"], 2),
                cpu_s=round(graded.timing["child_cpu_s"], 2),
                survivors=_survivors(known),
                files=sorted(_left_files()),
                neighbour_same=_results(_grade(server, NEIGHBOUR)) == reference,
            )
        )
    run = Run(outcomes, memory, _resident(), server.layers, server.breaches)
    print(json.dumps(asdict(run)))


def _grade(server: ForkServer, path: Path) -> Graded:
    [entry] = discover([path])
    return grade_one(server, read(entry), Config(), _WORDS)


def _results(graded: Graded) -> bytes:
    return to_bytes(to_json(graded.result, _WORDS))


def _survivors(known: set[int]) -> list[int]:
    """Return the processes of this grader that live and are not among the known ones, after a moment to end in."""
    for _ in range(20):
        alive = sorted(set(_descendants()) - known)
        if not alive:
            break
        time.sleep(0.05)
    return alive


def _descendants() -> Iterable[int]:
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                state, parent = Path(entry.path, "stat").read_text(errors="replace").rpartition(") ")[2].split()[:2]
            except OSError:
                continue
            if state != "Z":
                children.setdefault(int(parent), []).append(int(entry.name))
    found, todo = [], [os.getpid()]
    while todo:
        born = children.get(todo.pop(), [])
        found += born
        todo += born
    return found


def _left_files() -> Iterator[str]:
    standard_library = os.path.dirname(os.__file__)
    for place in (*_PLACES, str(Path.home()), os.getcwd(), tempfile.gettempdir(), standard_library):
        if os.access(place, os.R_OK):
            yield from (entry.path for entry in os.scandir(place) if _MARK in entry.name)
    yield from (str(path) for path in (ROOT / "autograder").rglob(f"*{_MARK}*"))


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
