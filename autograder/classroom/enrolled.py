"""Who is enrolled and who handed in: the class list that stays with a run."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.classroom.match import match
from autograder.classroom.roster import Person, Roster, read_roster
from autograder.identity import Identity
from autograder.reporting.files import write_atomic
from autograder.reporting.gradebook import NO_LIST, ClassList, Listed
from autograder.reporting.results import SubmissionResult

ROSTER = "roster.csv"


@dataclass(frozen=True)
class Enrolled:
    """What a class list says about authors: who is missing, whom it does not explain, and who they are."""

    listed: ClassList = NO_LIST
    problems: tuple[str, ...] = ()


def kept_list(out: Path) -> Roster | None:
    """Return the class list that stays with a run, None where none was given."""
    return read_roster(out / ROSTER) if (out / ROSTER).is_file() else None


def keep_list(out: Path, given: Path | None) -> None:
    """Let the list ``given`` stay with a run from now on."""
    if given and given.resolve() != (out / ROSTER).resolve():
        write_atomic(out / ROSTER, given.read_bytes())


def enrolled(out: Path, given: Path | None, results: Mapping[str, SubmissionResult]) -> Enrolled:
    """Match a run with the list ``given``, or with the one that stays with it as ``out/roster.csv``."""
    roster = read_roster(given) if given else kept_list(out)
    if roster is None:
        return Enrolled()
    return on_list(((student, result.who) for student, result in results.items()), roster)


def on_list(authors: Iterable[tuple[str, Identity]], roster: Roster) -> Enrolled:
    """Return what a class list says about the authors of submissions."""
    matches = match(authors, roster)
    problems = [f"'{student}' is nobody's on the class list." for student in matches.strangers]
    for student, people in matches.ambiguous:
        problems.append(f"'{student}' could be {' or '.join(person.label for person in people[:3])} on the class list.")
    unsure = {person.row for _, people in matches.ambiguous for person in people}
    missing = tuple(_listed(person) for person in matches.missing if person.row not in unsure)
    by_row = {person.row: _listed(person) for person in roster.people}
    behind: dict[str, tuple[Listed, ...]] = {}
    for row, student in matches.pairs.items():
        behind[student] = (*behind.get(student, ()), by_row[row])
    return Enrolled(ClassList(behind, missing), tuple(problems))


def _listed(person: Person) -> Listed:
    return Listed(person.ids[0], person.name, person.login, person.email)


def addresses(out: Path, given: Path | None, results: Mapping[str, SubmissionResult]) -> dict[str, str]:
    """Return every student's address that the download or the class list tells; a group's are parted by commas."""
    told: dict[str, list[str]] = {student: [r.who.email] for student, r in results.items() if r.who.email}
    roster = read_roster(given) if given else kept_list(out)
    if roster:
        people = {person.row: person for person in roster.people}
        matches = match(((student, result.who) for student, result in results.items()), roster)
        listed: dict[str, list[str]] = defaultdict(list)
        for row, student in matches.pairs.items():
            if people[row].email:
                listed[student].append(people[row].email)
        told |= listed
    return {student: ", ".join(found) for student, found in told.items()}
