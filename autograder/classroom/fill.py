"""The file a platform exported, with the points filled in: headings, ids, order and encoding stay as they were."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autograder.classroom.roster import NUMBER, Roster, worksheet_maximum
from autograder.tables import SheetError

_TITLE = {
    "canvas": re.compile(r".* \(\d+\)\s*"),
    "brightspace": re.compile(r".* Points Grade.*"),
    "blackboard": re.compile(r".*\[.*?(?P<max>\d+(?:[.,]\d+)?).*\].*"),
    "gradescope": re.compile(r"Total Score"),
    "nbgrader": re.compile(r"score"),
}
_BRIGHTSPACE_MAX = re.compile(r"MaxPoints:\s*(?P<max>\d+(?:[.,]\d+)?)")


@dataclass(frozen=True)
class Mark:
    """What one student gets, and out of how much."""

    points: float
    max_points: float


@dataclass(frozen=True)
class Column:
    """Where the points go: the column's number, what it is out of where the file says so, and its decimal point."""

    at: int
    maximum: float | None = None
    point: str = "."


def find_column(roster: Roster, wanted: str) -> Column:
    """Return the column to fill; raise :class:`SheetError` where none or several could be meant."""
    table = roster.table
    if roster.platform == "moodle":
        return _worksheet_column(roster)
    pattern = _TITLE.get(roster.platform)
    if pattern is None:
        raise SheetError(
            f"{table.path} is a class list without a column for points; give the platform's gradebook export."
        )
    fits = [n for n, heading in enumerate(table.header) if pattern.fullmatch(heading)]
    if wanted and len(fits) > 1:
        fits = [n for n in fits if wanted.casefold() in table.header[n].casefold()]
        exact = [n for n in fits if table.header[n] == wanted]
        fits = exact or fits
    if len(fits) != 1:
        some = ", ".join(f"'{table.header[n]}'" for n in fits[:4]) or "none"
        raise SheetError(
            f"{table.path} has {len(fits)} columns that points could go to ({some}); name one with --column."
        )
    return Column(fits[0], _maximum(roster, fits[0]))


def _worksheet_column(roster: Roster) -> Column:
    """The grade stands left of the maximum, the column with one and the same number in every row."""
    at = worksheet_maximum(roster.table)
    if at is None:
        raise SheetError(
            f"{roster.table.path} has no column with the maximum grade; export the grading worksheet again."
        )
    number = next(row[at].strip() for row in roster.table.rows if len(row) > at)
    return Column(at - 1, float(number.replace(",", ".")), "," if "," in number else ".")


def _maximum(roster: Roster, at: int) -> float | None:
    heading = roster.table.header[at]
    if roster.platform == "canvas":
        row = next((r for r in roster.table.rows if r[0].strip().startswith("Points Possible")), None)
        text = row[at].strip() if row and len(row) > at else ""
    elif roster.platform == "brightspace":
        text = match["max"] if (match := _BRIGHTSPACE_MAX.search(heading)) else ""
    else:
        match = _TITLE[roster.platform].fullmatch(heading)
        text = match.groupdict().get("max") or "" if match else ""
    return float(text.replace(",", ".")) if NUMBER.fullmatch(text) else None


def fill(roster: Roster, column: Column, marks: Mapping[int, Mark | None], scale: bool | None) -> bytes:
    """Return the file with a mark in each of the given rows, None leaving it empty; other rows stay as they are."""
    table = roster.table
    rows = [list(row) + [""] * (len(table.header) - len(row)) for row in table.rows]
    for at, mark in marks.items():
        value = "" if mark is None else _number(_scaled(mark, column, scale, roster), column.point)
        rows[at][column.at] = value
        if mark:
            _beside(rows[at], table.header, roster.platform, mark)
    return table.with_rows(table.header, rows)


def _scaled(mark: Mark, column: Column, scale: bool | None, roster: Roster) -> float:
    if column.maximum is None or column.maximum == mark.max_points or scale is False:
        return mark.points
    if scale is None:
        raise SheetError(
            f"{roster.table.path} wants points out of {_number(column.maximum, '.')}, and these are out of "
            f"{_number(mark.max_points, '.')}; say --scale to convert them or --no-scale to write them as they are."
        )
    return mark.points * column.maximum / mark.max_points if mark.max_points else 0


def _beside(row: list[str], header: Sequence[str], platform: str, mark: Mark) -> None:
    """What two platforms keep beside the points, where the file has a column for it."""
    told = {
        "gradescope": {"Max Points": _number(mark.max_points, "."), "Status": "Graded"},
        "nbgrader": {"raw_score": _number(mark.points, "."), "max_score": _number(mark.max_points, ".")},
    }.get(platform, {})
    for heading, value in told.items():
        if heading in header:
            row[header.index(heading)] = value


def _number(value: float, point: str) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return text.replace(".", point)
