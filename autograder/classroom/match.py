"""Which submission is whose on a class list: by ids first; by name only where nobody else could be meant."""

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from autograder.classroom.roster import Person, Roster
from autograder.identity import Identity
from autograder.tables import Columns, SheetError, read_records

MATCHES = Columns(("student", "id"), ("reason", "by", "date"))
# Logins and other people's ids may look alike; a platform's own id is compared with that platform's list only.
_ANYWHERE = ("", "pattern", "gradescope")


@dataclass
class Matches:
    """``pairs`` leads from a person's row to a student; the others match nobody, or more than one."""

    pairs: dict[int, str] = field(default_factory=dict)
    missing: list[Person] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    ambiguous: list[tuple[str, list[Person]]] = field(default_factory=list)


def match(students: Iterable[tuple[str, Identity]], roster: Roster, settled: Path | None = None) -> Matches:
    """Match students with the people of a class list; ``settled`` is the TA's word, a CSV with student,id."""
    authors = dict(students)
    found = Matches()
    by_hand = _settled(settled, authors, roster) if settled else {}
    candidates: dict[str, list[Person]] = {}
    for student, who in authors.items():
        own = by_hand.get(student) or _by_id(who, student, roster)
        if own:
            for person in own:
                if found.pairs.setdefault(person.row, student) != student:
                    found.ambiguous.append((student, [person]))
        else:
            candidates[student] = [p for p in roster.people if _names(p) & _own_names(student, who)]
    claims: dict[int, list[str]] = defaultdict(list)
    for student, people in candidates.items():
        for person in people:
            claims[person.row].append(student)
    for student, people in candidates.items():
        free = [person for person in people if person.row not in found.pairs or found.pairs[person.row] == student]
        if not people:
            found.strangers.append(student)
        elif len(people) == len(free) == 1 and claims[people[0].row] == [student]:
            found.pairs[people[0].row] = student
        else:
            found.ambiguous.append((student, people))
    found.missing = [person for person in roster.people if person.row not in found.pairs]
    return found


def _settled(path: Path, authors: Collection[str], roster: Roster) -> dict[str, list[Person]]:
    settled: dict[str, list[Person]] = defaultdict(list)
    for row in read_records(path, MATCHES):
        people = [person for person in roster.people if row["id"] in (*person.ids, person.login, person.email)]
        if row["student"] not in authors:
            raise SheetError(
                f"{path} names the student '{row['student']}', whom this run does not have; mend that row."
            )
        if len(people) != 1:
            raise SheetError(
                f"{path} names the id '{row['id']}', which is {len(people)} people's on the list; mend that row."
            )
        settled[row["student"]].append(people[0])
    return settled


def _by_id(who: Identity, student: str, roster: Roster) -> list[Person]:
    """The one person with the same id, login or address; a plain file's name is tried as each of them."""
    if who.platform == roster.platform or who.platform in _ANYWHERE:
        own = {who.id or student} if who.platform in ("", "pattern") else {who.id}
    else:
        own = set()
    login = who.login or (student if not who.platform else "")
    tried: tuple[tuple[set[str], Callable[[Person], set[str]]], ...] = (
        (own, lambda person: set(person.ids)),
        ({login}, lambda person: {person.login, *person.ids}),
        ({who.email}, lambda person: {person.email}),
    )
    for mine, theirs in tried:
        wanted = {value.casefold() for value in mine if value}
        people = [p for p in roster.people if wanted & {value.casefold() for value in theirs(p) if value}]
        if len(people) == 1:
            return people
    return []


def _names(person: Person) -> set[str]:
    words = _words(person.name)
    return {
        " ".join(sorted(words)),
        "".join(words),
        *("".join(words[n:] + words[:n]) for n in range(1, len(words))),
    } - {""}


def _own_names(student: str, who: Identity) -> set[str]:
    words = _words(who.name or student)
    return {" ".join(sorted(words)), "".join(words)} - {""}


def _words(name: str) -> list[str]:
    """The parts of a name; accents stay, since García and Garcia may be two people."""
    kept = unicodedata.normalize("NFC", name.casefold())
    return "".join(char if char.isalnum() else " " if char.isspace() or char in ",._" else "" for char in kept).split()
