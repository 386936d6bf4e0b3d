"""Who is enrolled and who handed in: the class list that stays with a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from autograder.classroom.match import match
from autograder.classroom.roster import read_roster
from autograder.reporting.files import write_atomic
from autograder.reporting.gradebook import Absent
from autograder.reporting.results import SubmissionResult

ROSTER = "roster.csv"


@dataclass(frozen=True)
class Enrolled:
    """What a class list says about a run: who is missing, whom it does not explain, and people's full names."""

    absent: tuple[Absent, ...] = ()
    problems: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)


def enrolled(out: Path, given: Path | None, results: Mapping[str, SubmissionResult]) -> Enrolled:
    """Match a run with the list ``given``, which stays with it as ``out/roster.csv``, or with the one that did."""
    path = given or out / ROSTER
    if not path.is_file():
        return Enrolled()
    roster = read_roster(path)
    matches = match(((student, result.who) for student, result in results.items()), roster)
    if given and given.resolve() != (out / ROSTER).resolve():
        write_atomic(out / ROSTER, given.read_bytes())
    problems = [f"'{student}' is nobody's on the class list." for student in matches.strangers]
    for student, people in matches.ambiguous:
        problems.append(f"'{student}' could be {' or '.join(person.label for person in people[:3])} on the class list.")
    unsure = {person.row for _, people in matches.ambiguous for person in people}
    absent = [Absent(p.ids[0], p.name, p.login, p.email) for p in matches.missing if p.row not in unsure]
    by_row = {person.row: person.name for person in roster.people}
    return Enrolled(tuple(absent), tuple(problems), {student: by_row[row] for row, student in matches.pairs.items()})


def addresses(out: Path, given: Path | None, results: Mapping[str, SubmissionResult]) -> dict[str, str]:
    """Return every student's address that the download or the class list tells."""
    known = {student: result.who.email for student, result in results.items() if result.who.email}
    path = given or out / ROSTER
    if path.is_file():
        roster = read_roster(path)
        people = {person.row: person for person in roster.people}
        matches = match(((student, result.who) for student, result in results.items()), roster)
        known |= {student: people[row].email for row, student in matches.pairs.items() if people[row].email}
    return known
