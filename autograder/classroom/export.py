"""From a run and the platform's own file to a gradebook that the platform takes back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from autograder.classroom.fill import Mark, fill, find_column
from autograder.classroom.match import Matches, match
from autograder.classroom.roster import Roster, of_assignment, read_roster, with_groups
from autograder.reporting.results import SubmissionResult
from autograder.reporting.standing import Standing
from autograder.tables import SheetError

Worth = Literal["refuse", "skip", "zero"]


@dataclass(frozen=True)
class Terms:
    """What the course says about points that are not there: refuse the export, leave the cell empty, or a zero."""

    column: str = ""
    pending: Worth = "refuse"
    ungradable: Worth = "refuse"
    missing: Literal["skip", "zero"] = "skip"
    scale: bool | None = None
    settled: Path | None = None


@dataclass
class Filled:
    """The file, and who is not in it."""

    content: bytes
    filled: int
    matches: Matches
    held: list[str] = field(default_factory=list)


def export(
    results: Mapping[str, SubmissionResult],
    standings: Mapping[str, Standing],
    path: Path,
    terms: Terms,
    listed: Roster | None = None,
) -> Filled:
    """Fill the points into the file that a platform exported; raise :class:`SheetError` rather than guess or hide.

    ``listed`` is the run's class list, which may tell who is in which group.
    """
    roster = of_assignment(read_roster(path), terms.column)
    roster = with_groups(roster, listed) if listed else roster
    column = find_column(roster, terms.column)
    matches = match(((student, result.who) for student, result in results.items()), roster, terms.settled)
    if matches.ambiguous:
        raise SheetError(_ambiguous(matches, roster))
    marks: dict[int, Mark | None] = {}
    for row, student in matches.pairs.items():
        if not standings[student].held:
            marks[row] = _mark(results[student], standings[student], terms)
    if terms.missing == "zero":
        most = max((r.max_points + r.pending_points for r in results.values()), default=0)
        marks |= {person.row: Mark(0, most) for person in matches.missing}
    held = [student for student in matches.pairs.values() if standings[student].held]
    filled = sum(mark is not None for mark in marks.values())
    return Filled(fill(roster, column, marks, terms.scale), filled, matches, held)


def _mark(result: SubmissionResult, standing: Standing, terms: Terms) -> Mark | None:
    if result.rejected:
        if terms.ungradable == "refuse":
            raise SheetError(
                f"{result.student} could not be graded; settle that, or say what it is worth with --ungradable."
            )
        return Mark(0, result.max_points) if terms.ungradable == "zero" else None
    if result.pending_points and terms.pending == "refuse":
        raise SheetError(
            f"{result.student} has {result.pending_points} points pending; merge the GPU run, or say what they "
            "are worth with --pending skip or zero."
        )
    pending = result.pending_points if terms.pending == "zero" else 0
    return Mark(standing.final, result.max_points + pending)


def _ambiguous(matches: Matches, roster: Roster) -> str:
    student, people = matches.ambiguous[0]
    whose = " or ".join(person.label for person in people[:3])
    more = f" (and {len(matches.ambiguous) - 1} more)" if len(matches.ambiguous) > 1 else ""
    said = f"'{student}' could be {whose} of {roster.table.path}{more}"
    return f"{said}; write student,id into a CSV and give it with --match."
