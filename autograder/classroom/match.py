"""Which submission is whose on a class list: by ids first; by name only where nobody else could be meant."""

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable
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
    """``pairs`` leads from a person's row to a student; the others match nobody, or more than one.

    A group is one student with the rows of all its members.
    """

    pairs: dict[int, str] = field(default_factory=dict)
    missing: list[Person] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)
    ambiguous: list[tuple[str, list[Person]]] = field(default_factory=list)


def match(students: Iterable[tuple[str, Identity]], roster: Roster, settled: Path | None = None) -> Matches:
    """Match students with the people of a class list; ``settled`` is the TA's word, a CSV with student,id."""
    authors = dict(students)
    found = Matches()
    index = _Index(roster)
    by_hand = _settled(settled, authors, roster) if settled else {}
    candidates: dict[str, list[Person]] = {}
    for student, who in authors.items():
        own = by_hand.get(student) or index.by_id_or_group(who, student)
        if own:
            for person in own:
                if found.pairs.setdefault(person.row, student) != student:
                    found.ambiguous.append((student, [person]))
        else:
            candidates[student] = index.by_name(who, student)
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


class _Index:
    """The people of a class list by everything that may name them."""

    def __init__(self, roster: Roster) -> None:
        self._platform = roster.platform
        self._ids, self._logins, self._emails, self._names = (defaultdict[str, dict[int, Person]](dict) for _ in "ilen")
        self._groups: dict[str, dict[str, list[Person]]] = defaultdict(lambda: defaultdict(list))
        for person in roster.people:
            for place, values in (
                (self._ids, person.ids),
                (self._logins, (person.login, *person.ids)),
                (self._emails, (person.email,)),
                (self._names, _names(person)),
            ):
                for value in values:
                    place[value.casefold()][person.row] = person
            for group in person.groups:
                self._groups["".join(_words(group))][group].append(person)

    def by_id_or_group(self, who: Identity, student: str) -> list[Person]:
        """The one person with the same id, login or address, or a group's members.

        A plain file's name is tried as each of them. Where a number may be another's as well, as a group's is, or one
        in a list that is no platform's, names must not contradict it.
        """
        people, members = self._by_id(who, student), self._members(who)
        in_doubt = members or (self._platform == "plain" and who.platform not in _ANYWHERE)
        if people and not (in_doubt and who.name and people[0].name and people[0] not in self.by_name(who, student)):
            return people
        return members

    def _by_id(self, who: Identity, student: str) -> list[Person]:
        own = ""
        if who.platform == self._platform or who.platform in _ANYWHERE or self._platform == "plain":
            own = (who.id or student) if who.platform in ("", "pattern") else who.id
        login = who.login or (student if not who.platform else "")
        for place, value in ((self._ids, own), (self._logins, login), (self._emails, who.email)):
            people = list(place.get(value.casefold(), {}).values()) if value else []
            if len(people) == 1:
                return people
        return []

    def _members(self, who: Identity) -> list[Person]:
        """Everyone in the group of that name, unless two groups are called alike."""
        groups = self._groups.get("".join(_words(who.name)), {}) if who.platform == self._platform else {}
        return next(iter(groups.values())) if len(groups) == 1 else []

    def by_name(self, who: Identity, student: str) -> list[Person]:
        """Everyone who may be called as the author is."""
        words = _words(who.name or student)
        found: dict[int, Person] = {}
        for name in {" ".join(sorted(words)), "".join(words)} - {""}:
            found |= self._names.get(name, {})
        return [found[row] for row in sorted(found)]


def _names(person: Person) -> set[str]:
    words = _words(person.name)
    return {
        " ".join(sorted(words)),
        "".join(words),
        *("".join(words[n:] + words[:n]) for n in range(1, len(words))),
    } - {""}


def _words(name: str) -> list[str]:
    """The parts of a name; accents stay, since García and Garcia may be two people."""
    kept = unicodedata.normalize("NFC", name.casefold())
    return "".join(char if char.isalnum() else " " if char.isspace() or char in ",._" else "" for char in kept).split()
