"""The table of questions (``questions.toml``) as data: what each question is about, and its cases with their points."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from autograder.errors import GraderError

TABLE = Path(__file__).with_name("questions.toml")


class TableError(GraderError):
    """The table of questions contradicts itself; the text says where and what to do."""


@dataclass(frozen=True)
class Case:
    """One hidden test case; it is judged once the cases in ``after`` are settled."""

    id: str
    points: int
    after: tuple[str, ...]
    given: bool = False

    @property
    def question(self) -> str:
        """The question that the case belongs to."""
        return question_of(self.id)


@dataclass(frozen=True)
class Question:
    """One question; what is said of its TODO stands at its CPU ``twin`` where it has one."""

    id: str
    about: str
    part: str
    file: str
    cases: tuple[Case, ...]
    todo: int | None = None
    call: str | None = None
    blanks: frozenset[str] = frozenset()
    twin: str | None = None

    @property
    def points(self) -> int:
        """What the question is worth."""
        return sum(case.points for case in self.cases)


@dataclass(frozen=True)
class Questions:
    """Every question, in the order in which reports show them."""

    parts: Mapping[str, int]
    by_id: Mapping[str, Question]

    def __iter__(self) -> Iterator[Question]:
        return iter(self.by_id.values())

    def __getitem__(self, question: str) -> Question:
        return self.by_id[question]

    def of(self, part: str) -> tuple[str, ...]:
        """Return the questions of a part."""
        return self._of_parts.get(part, ())

    @cached_property
    def _of_parts(self) -> Mapping[str, tuple[str, ...]]:
        parts = dict.fromkeys(question.part for question in self)
        return {part: tuple(question.id for question in self if question.part == part) for part in parts}

    def files(self, part: str) -> tuple[str, ...]:
        """Return the names of the part's Otter test files."""
        return tuple(dict.fromkeys(question.file for question in self if question.part == part))

    def judged_as(self, question: str) -> Question:
        """Return the question of the CPU part whose rules hold for ``question``."""
        return self.by_id[self.by_id[question].twin or question]

    @cached_property
    def cases(self) -> Mapping[str, Case]:
        """Every case by its id."""
        return {case.id: case for question in self for case in question.cases}

    @cached_property
    def with_todo(self) -> tuple[str, ...]:
        """The questions that are about a TODO."""
        return tuple(question.id for question in self if question.todo is not None)

    @cached_property
    def owner(self) -> Mapping[str, str]:
        """Whose TODO an operation exercises; an operation that is not named is given code."""
        return {question.call: question.id for question in self if question.call is not None}

    @cached_property
    def given_code(self) -> str:
        """The question that judges the code students were given: the one of the CPU part without a TODO."""
        return next(question.id for question in self if question.part == "cpu" and question.todo is None)


def question_of(case: str) -> str:
    """Return the question that a case belongs to, by its id."""
    return case.partition(".")[0]


@cache
def questions() -> Questions:
    """Return the table; raise TableError where it contradicts itself."""
    return read_table(TABLE)


def read_table(path: Path) -> Questions:
    """Return the table in a file; raise TableError where it contradicts itself."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        parts = data.pop("parts")
        table = Questions(parts, {id: _question(id, entry) for id, entry in data.items()})
    except (tomllib.TOMLDecodeError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise TableError(f"{path.name} is no table of questions ({error!r}); mend it and try again.") from error
    for contradiction in _contradictions(table):
        raise TableError(f"{path.name}: {contradiction}; mend it and try again.")
    return table


def _question(id: str, entry: dict[str, Any]) -> Question:
    before_all = entry.pop("after", [])
    cases = tuple(_case(case, before_all) for case in entry.pop("cases"))
    blanks = frozenset(entry.pop("blanks", ()))
    return Question(id=id, cases=cases, blanks=blanks, **entry)


def _case(entry: dict[str, Any], before_all: list[str]) -> Case:
    after = entry.get("after", [] if entry["id"] in before_all else before_all)
    return Case(**{**entry, "after": tuple(after)})


def _contradictions(table: Questions) -> Iterator[str]:
    listed = [case for question in table for case in question.cases]
    for question in table:
        if not question.cases:
            yield f"{question.id} has no case"
        if question.part not in table.parts:
            yield f"{question.id} belongs to no part"
        if question.twin is not None and question.twin not in table.by_id:
            yield f"{question.id} has an unknown twin, {question.twin}"
    for number, case in enumerate(listed):
        if case.question not in table.by_id or case not in table[case.question].cases:
            yield f"{case.id} stands under another question"
        if type(case.points) is not int or case.points < 0:
            yield f"{case.id} has no whole number of points"
        earlier = {other.id for other in listed[:number]}
        if case.id in earlier:
            yield f"{case.id} stands there twice"
        for other in case.after:
            if other not in earlier:
                yield f"{case.id} comes after {other}, which is no case before it"
    for part, points in table.parts.items():
        total = sum(table[question].points for question in table.of(part))
        if total != points:
            yield f"the cases of part {part} add up to {total} points, not to {points}"
