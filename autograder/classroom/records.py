"""What TAs keep beside a run, in OUT: tables and comments, each checked against the run before anything is written."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from autograder.classroom.late import Extension
from autograder.outside.text import for_csv
from autograder.reporting.gradebook import NO_LIST, ClassList
from autograder.reporting.results import SubmissionResult
from autograder.reporting.standing import STATES, Override, Request
from autograder.reporting.words import Words
from autograder.tables import Columns, SheetError, read_records

OVERRIDES = Columns(("id", "question", "points", "reason"), ("by", "date"))
EXTENSIONS = Columns(("id",), ("due", "free_days", "received", "reason", "by", "date"))
HOLDS = Columns(("id",), ("reason", "by", "date"))
PINS = Columns(("rule", "sentence"), ("by", "date"))
REQUESTS = Columns(("id", "case", "state"), ("answer", "by", "date"))
TABLES = ("overrides", "extensions", "holds", "pins", "requests", "roster")
COMMENTS = "comments"
_LONGEST_COMMENT = 20_000


@dataclass
class Records:
    """Everything kept beside a run, by student; ``pins`` by the rule's code."""

    overrides: dict[str, list[Override]] = field(default_factory=dict)
    extensions: dict[str, Extension] = field(default_factory=dict)
    holds: dict[str, str] = field(default_factory=dict)
    requests: dict[str, list[Request]] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    pins: dict[str, str] = field(default_factory=dict)


def read_records_of(out: Path, results: Mapping[str, SubmissionResult], listed: ClassList = NO_LIST) -> Records:
    """Read what lies beside the run in ``out``; raise :class:`SheetError` for a row that fits nobody or nothing."""
    records = Records()
    students = Students(results, listed)
    for row, path in _rows(out / "overrides.csv", OVERRIDES):
        student = students.called(row["id"], path)
        own = records.overrides.setdefault(student, [])
        own.append(_override(row, results[student], own, path))
    for row, path in _rows(out / "extensions.csv", EXTENSIONS):
        student = students.called(row["id"], path)
        if student in records.extensions or not re.fullmatch(r"\d*", row["free_days"]):
            raise SheetError(f"{path}: '{row['id']}' has two rows, or free days that are no number; mend that row.")
        if wrong := next((row[name] for name in ("due", "received") if row[name] and not _is_time(row[name])), ""):
            raise SheetError(f"{path}: '{wrong}' of '{row['id']}' is no time; write it as 2026-11-01T23:59:00-05:00.")
        records.extensions[student] = Extension(row["due"], row["free_days"], row["received"], row["reason"])
    for row, path in _rows(out / "holds.csv", HOLDS):
        records.holds[students.called(row["id"], path)] = row["reason"] or "-"
    for row, path in _rows(out / "requests.csv", REQUESTS):
        if row["state"] not in STATES:
            raise SheetError(f"{path}: the state '{row['state']}' is none of {', '.join(STATES)}; mend that row.")
        student = students.called(row["id"], path)
        if row["case"] not in {test.id for test in results[student].tests}:
            raise SheetError(
                f"{path}: '{row['id']}' has no case '{row['case']}'; `autograder cases` lists all of them."
            )
        records.requests.setdefault(student, []).append(Request(row["case"], row["state"], row["answer"]))
    for row, path in _rows(out / "pins.csv", PINS):
        if f"{row['rule']}.sentence" not in Words("en") or row["rule"] in records.pins:
            raise SheetError(f"{path}: '{row['rule']}' is no rule, or has two rows; class.html lists the broken rules.")
        records.pins[row["rule"]] = row["sentence"]
    for path in sorted((out / COMMENTS).glob("*.md")):
        records.comments[students.called(path.stem, path)] = _comment(path)
    return records


def kept_beside(runs: Iterable[Path]) -> dict[str, bytes]:
    """Return what lies beside the runs, by name; raise :class:`SheetError` where two runs say different things."""
    kept: dict[str, bytes] = {}
    for run in runs:
        for path in (*(run / f"{name}.csv" for name in TABLES), *sorted((run / COMMENTS).glob("*.md"))):
            if path.is_file():
                name = str(path.relative_to(run))
                if kept.setdefault(name, path.read_bytes()) != path.read_bytes():
                    raise SheetError(f"{path} is not the same in all runs; keep the one that counts and merge again.")
    return kept


class Students:
    """Students of a run by every name that a row may give: folder, id, login or address.

    A group is one of them; a row that names one of its members alone is refused, since it would hold for all.
    """

    def __init__(self, results: Mapping[str, SubmissionResult], listed: ClassList = NO_LIST) -> None:
        self._known: dict[str, set[str]] = {}
        self._groups: dict[str, str] = {}
        for student, result in results.items():
            who, people = result.who, listed.people.get(student, ())
            names = {student, who.id, who.login, who.email}
            inside = {*who.members, *(name for one in people for name in (one.id, one.name, one.login, one.email))}
            if who.members or len(people) > 1:
                self._groups |= dict.fromkeys(inside - names - {""}, student)
            for name in {*names, *map(for_csv, names)} - {""}:  # as our own tables write them
                self._known.setdefault(name, set()).add(student)

    def called(self, name: str, path: Path) -> str:
        """Return the one student of that name; raise :class:`SheetError` where it is nobody's, or several students'."""
        found = self._known.get(name, set())
        if len(found) != 1:
            what = "nobody" if not found else f"{len(found)} students"
            how = "write the student as the first column of grades.csv does"
            if group := self._groups.get(name):
                what, how = f"one of the group '{group}'", f"a row holds for all of a group, so write '{group}'"
            raise SheetError(f"{path} speaks of '{name}', which is {what} in this run; {how}.")
        return next(iter(found))


def _rows(path: Path, columns: Columns) -> list[tuple[Mapping[str, str], Path]]:
    return [(row, path) for row in read_records(path, columns)] if path.is_file() else []


def _override(row: Mapping[str, str], result: SubmissionResult, own: Collection[Override], path: Path) -> Override:
    question = result.questions.get(row["question"])
    where = f"{path}: '{row['id']}', {row['question'] or 'no question'}"
    if question is None:
        known = ", ".join(result.questions) or "none"
        raise SheetError(f"{where}: there is no such question in that result ({known}); mend that row.")
    if not re.fullmatch(r"\d+(?:\.\d+)?", row["points"]) or float(row["points"]) > question.max_points:
        raise SheetError(
            f"{where}: {row['points']!r} is not between 0 and {question.max_points} points; mend that row."
        )
    if not row["reason"]:
        raise SheetError(f"{where}: a change needs a reason, which the student will see; mend that row.")
    if any(earlier.question == row["question"] for earlier in own):
        raise SheetError(f"{where}: changed twice; keep one of the two rows.")
    return Override(row["question"], float(row["points"]), row["reason"], row["by"], row["date"])


def _is_time(text: str) -> bool:
    """Whether it is a date with a time of day: a date alone leaves open whether its own hours still count."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return ":" in text


def _comment(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")[:_LONGEST_COMMENT].strip()
    except ValueError as error:
        raise SheetError(f"{path} is not UTF-8; save it as that.") from error
