"""What each sample submission must end in, as solutions/submissions/*/expected.toml tells it.

A sample names the cases that it loses, or a question for all of its cases, and the status of every question that is not
passed. Points follow from the table of questions, so that moving points there moves them here.
"""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from autograder.contract.questions import questions

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "solutions" / "submissions"


@dataclass(frozen=True)
class Expected:
    """One sample: why it cannot be graded, or what it loses; ``kernel`` and ``absent`` are about a plain kernel."""

    rejected: str = ""
    lost: list[str] = field(default_factory=list)
    status: dict[str, str] = field(default_factory=dict)
    kernel: str = ""
    absent: str = ""

    @property
    def questions(self) -> dict[str, tuple[int, str]]:
        """Points and status of every question of the CPU part."""
        return {id: (self._points(id), self.status.get(id, "passed")) for id in questions().of("cpu")}

    @property
    def points(self) -> int:
        """All points of the CPU part together."""
        return sum(points for points, _ in self.questions.values())

    def _points(self, question: str) -> int:
        return sum(
            case.points
            for case in questions()[question].cases
            if case.id not in self.lost and question not in self.lost
        )


def expectations(folder: str) -> dict[str, Expected]:
    """Return what every sample of a folder must end in, by its name; a folder without a table has none."""
    path = SAMPLES / folder / "expected.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {name: Expected(**wanted) for name, wanted in table.items()}
