"""A class of some forty samples, and what must become of each: the table in ``data/class_of_forty.txt``."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from classes import ROOT

from autograder.contract.questions import questions

SAMPLES = ROOT / "solutions" / "submissions"
TABLE = Path(__file__).parent / "data" / "class_of_forty.txt"
QUESTIONS = {question.id: question.points for question in questions()}
CPU, GPU = questions().of("cpu"), questions().of("gpu")
MARKS = {"": "passed", "x": "failed", "-": "not attempted", "!": "could not run"}


@dataclass(frozen=True)
class Fact:
    """What must become of one sample: per question its points and status, or why it is not gradable."""

    source: Path
    questions: dict[str, tuple[int, str]]
    broken: frozenset[str]
    notes: frozenset[str]
    reason: str

    @property
    def student(self) -> str:
        """The identity that intake gives to the sample: its name, less what a platform's export adds."""
        name = self.source.name if self.source.is_dir() else self.source.name.rpartition(".")[0]
        return re.sub(r"_\d{4}_\d\d_\d\dT[\d_]+$", "", name)

    def points(self, questions: tuple[str, ...]) -> int:
        """Return what these questions earn together."""
        return sum(self.questions[q][0] for q in questions if q in self.questions)


def facts() -> dict[str, Fact]:
    """Return the table by student."""
    lines = [line.partition("#")[0].split() for line in TABLE.read_text(encoding="utf-8").splitlines()]
    found = [_fact(line) for line in lines if line]
    return {fact.student: fact for fact in found}


def _fact(columns: list[str]) -> Fact:
    source, cells, rest = SAMPLES / columns[0].replace("␣", " "), columns[1:10], columns[10:]
    if len(cells) == 1:
        return Fact(source, {}, frozenset(), frozenset(), cells[0])
    assert len(cells) == len(QUESTIONS), columns
    told = {}
    for question, cell in zip(QUESTIONS, cells, strict=True):
        points, mark = re.fullmatch(r"(=|\d+)([x!-]?)", cell).groups()
        told[question] = (QUESTIONS[question] if points == "=" else int(points), MARKS[mark])
    broken = rest[: rest.index("+")] if "+" in rest else rest
    notes = rest[len(broken) + 1 :]
    return Fact(source, told, frozenset(broken), frozenset(notes), "")


def hand_in(folder: Path, students: dict[str, Fact]) -> Path:
    """Copy the samples of these students into ``folder``, as a class hands them in."""
    folder.mkdir(parents=True, exist_ok=True)
    for fact in students.values():
        target = folder / fact.source.name
        if fact.source.is_dir():
            shutil.copytree(fact.source, target)
        else:
            shutil.copyfile(fact.source, target)
    return folder
