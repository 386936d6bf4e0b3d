"""A class list as a platform exports it, its kind known by its header."""

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.classroom.headings import MEANINGS, meaning
from autograder.tables import SheetError, Table, read_table


@dataclass(frozen=True, slots=True)
class Person:
    """Someone enrolled: ``ids`` are all ids that the list gives, the platform's own first; ``row`` is their line.

    ``groups`` are texts of their line that may name the group they hand in with.
    """

    ids: tuple[str, ...]
    name: str = ""
    login: str = ""
    email: str = ""
    row: int = 0
    groups: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """How to speak of them in one line."""
        return " ".join(part for part in (self.name, f"({self.ids[0]})" if self.ids else "") if part)


@dataclass(frozen=True)
class Roster:
    """A class list: which platform made it, the table itself, and everyone in it."""

    platform: str
    table: Table
    people: tuple[Person, ...]


_Row = Mapping[str, str]
NUMBER = re.compile(r"\d+(?:[.,]\d+)?")
_PARTICIPANT = re.compile(r"(?P<word>[^\d]*[^\d\s])\s*(?P<id>\d+)")


def _canvas(row: _Row) -> Person | None:
    student = row.get("Student", "")
    if not row.get("ID") or student.startswith("Points Possible") or student == "Student, Test":
        return None
    last, comma, first = student.partition(",")
    return Person(
        (row["ID"], *_some(row, "SIS User ID", "Integration ID")),
        f"{first.strip()} {last.strip()}".strip() if comma else student,
        row.get("SIS Login ID", ""),
    )


def _canvas_groups(row: _Row) -> Person | None:
    ids = _some(row, "canvas_user_id", "user_id")
    return Person(ids, row.get("name", ""), row.get("login_id", ""), groups=_some(row, "group_name"))


def _gradescope(row: _Row) -> Person | None:
    name = row.get("Name") or _full(row, "First Name", "Last Name")
    return Person(_some(row, "SID", "Email"), name, row.get("Email", "").partition("@")[0], row.get("Email", ""))


def _brightspace(row: _Row) -> Person | None:
    ids = tuple(value.removeprefix("#") for value in _some(row, "OrgDefinedId", "Username"))
    login = row.get("Username", "").removeprefix("#")
    return Person(ids, _full(row, "First Name", "Last Name"), login, row.get("Email", ""))


def _blackboard(row: _Row) -> Person | None:
    return Person(
        _some(row, "Username", "Student ID"), _full(row, "First Name", "Last Name"), row.get("Username", ""),
    )  # fmt: skip


def _github(row: _Row) -> Person | None:
    ids = _some(row, "github_username", "identifier")
    return Person(ids, row.get("name", ""), row.get("github_username", ""))


def _classroom50(row: _Row) -> Person | None:
    name = _full(row, "first_name", "last_name")
    return Person(_some(row, "username"), name, row["username"], row.get("email", ""))


def _nbgrader(row: _Row) -> Person:
    name = _full(row, "first_name", "last_name")
    return Person(_some(row, "student_id"), name, row["student_id"], row.get("email", ""))


def _plain(row: _Row) -> Person | None:
    row = {meaning(heading): value for heading, value in row.items()}
    name = row.get("name") or _full(row, "first name", "last name")
    return Person(_some(row, "id", "login", "email"), name, row.get("login", ""), row.get("email", ""))


def _some(row: _Row, *names: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row[name] for name in names if row.get(name)))


def _full(row: _Row, *names: str) -> str:
    return " ".join(row[name] for name in names if row.get(name))


# The first kind whose headings are all there; the more telling ones stand first.
_KINDS: tuple[tuple[str, frozenset[str], Callable[[_Row], Person | None]], ...] = (
    ("brightspace", frozenset({"End-of-Line Indicator"}), _brightspace),
    ("canvas", frozenset({"Student", "ID", "Section"}), _canvas),
    ("canvas", frozenset({"canvas_user_id", "group_name"}), _canvas_groups),
    ("gradescope", frozenset({"SID", "Email"}), _gradescope),
    ("classroom50", frozenset({"username", "first_name", "last_name"}), _classroom50),
    ("github", frozenset({"identifier", "github_username"}), _github),
    ("nbgrader", frozenset({"student_id"}), _nbgrader),
    ("blackboard", frozenset({"Username", "Last Name", "First Name"}), _blackboard),
)
_MOST_ABOVE = 10
# Blackboard's columns keep their order in every language, and what is graded its number.
_BLACKBOARD_ITEM = re.compile(r".*\|\s*\d+")
_BLACKBOARD_WHO = ("Last Name", "First Name", "Username", "Student ID")


def read_roster(path: Path) -> Roster:
    """Read a class list; raise :class:`SheetError` for one of no known kind, or with an id that two people have.

    Lines above the headings, such as a title, are passed over.
    """
    table = read_table(path)
    starts = (table.starting_at(line) for line in range(min(len(table.rows), _MOST_ABOVE) + 1))
    roster = next((roster for start in starts if (roster := _known(start))), None)
    if roster is None:
        raise SheetError(
            f"{path} has the headings of no class list known here ({', '.join(table.header)[:120]}); export it from "
            "the platform again, or write a CSV with id,name,login,email."
        )
    if not roster.people:
        raise SheetError(f"{path} lists nobody; export it from the platform again.")
    first, count = Counter(person.ids[0].casefold() for person in roster.people).most_common(1)[0]
    if count > 1:
        raise SheetError(f"{path} has the id '{first}' {count} times; every student needs an id of their own.")
    return roster


def _known(table: Table) -> Roster | None:
    """The list as its headings, or in any language its cells, say whose export it is."""
    header = {heading.strip() for heading in table.header}
    if kind := next(((name, read) for name, needed, read in _KINDS if needed <= header), None):
        return _listed(*kind, table)
    meant = set(map(meaning, header)) & set(MEANINGS)
    # Below the first line, one word may as well be somebody's name.
    is_plain = bool({"id", "login", "email"} & meant) and len(meant) > bool(table.above)
    if _is_worksheet(table) and not (is_plain and worksheet_maximum(table) is None):
        return _worksheet(table)
    if any(_BLACKBOARD_ITEM.fullmatch(heading) for heading in table.header) and len(table.header) > len(
        _BLACKBOARD_WHO
    ):
        named = replace(table, header=(*_BLACKBOARD_WHO, *table.header[len(_BLACKBOARD_WHO) :]))
        return replace(_listed("blackboard", _blackboard, named), table=table)
    return _listed("plain", _plain, table) if is_plain else None


def _listed(platform: str, read: Callable[[_Row], Person | None], table: Table) -> Roster:
    people = ((read(record), number) for number, record in enumerate(table.records()))
    found = [replace(person, row=number) for person, number in people if person and person.ids]
    if platform == "nbgrader":  # a student has a row for each assignment; the first says who they are
        found = list({person.ids: person for person in reversed(found)}.values())[::-1]
    return Roster(platform, table, tuple(found))


def of_assignment(roster: Roster, wanted: str) -> Roster:
    """Return nbgrader's list with everyone's row of one assignment; raise :class:`SheetError` where several are meant.

    Any other list is returned as it is.
    """
    if roster.platform != "nbgrader":
        return roster
    names = [record.get("assignment", "") for record in roster.table.records()]
    own = wanted if wanted in names else names[0]
    if len(set(names)) > 1 and wanted not in names:
        some = ", ".join(f"'{name}'" for name in sorted(set(names))[:4])
        raise SheetError(f"{roster.table.path} has {len(set(names))} assignments ({some}); name one with --column.")
    rows = [record if name == own else {} for record, name in zip(roster.table.records(), names, strict=True)]
    people = [replace(_nbgrader(row), row=number) for number, row in enumerate(rows) if row]
    return replace(roster, people=tuple(people))


def _is_worksheet(table: Table) -> bool:
    """Whether it is Moodle's grading worksheet, whose headings are in the site's language: "Participant 731000"."""
    matches = [_PARTICIPANT.fullmatch(row[0].strip()) for row in table.rows if row]
    return bool(matches) and all(matches) and len({m["word"] for m in matches if m}) == 1 and len(table.header) >= 4


def worksheet_maximum(table: Table) -> int | None:
    """Return the column of a worksheet with the maximum grade: one number in every row, right of the grades."""
    for at in range(3, len(table.header)):
        values = {row[at].strip() for row in table.rows if len(row) > at}
        grades = {row[at - 1].strip() for row in table.rows if len(row) > at} - {"", "-"}
        if len(values) == 1 and all(map(NUMBER.fullmatch, values | grades)):
            return at
    return None


def _worksheet(table: Table) -> Roster:
    names = _name_column(table)
    people = []
    for number, row in enumerate(table.rows):
        match = _PARTICIPANT.fullmatch(row[0].strip())
        assert match
        email = next((cell.strip() for cell in row[1:5] if re.fullmatch(r"\S+@\S+", cell.strip())), "")
        name = row[1].strip() if names else ""
        # The site's language names the column of the team, so every text is one that may.
        groups = tuple(cell.strip() for cell in row[1 + names :] if cell.strip() and not cell.strip()[0].isdigit())
        people.append(Person((match["id"],), name, email.partition("@")[0], email, number, groups))
    return Roster("moodle", table, tuple(people))


def with_groups(roster: Roster, listed: Roster) -> Roster:
    """Return ``roster`` with the groups that another list of the same platform tells."""
    if roster.platform != listed.platform:
        return roster
    told = {person.ids[0].casefold(): person.groups for person in listed.people if person.groups}
    people = (replace(p, groups=p.groups or told.get(p.ids[0].casefold(), ())) for p in roster.people)
    return replace(roster, people=tuple(people))


def _name_column(table: Table) -> bool:
    """Under blind marking the second column is the status, which has few different values."""
    values = [row[1] for row in table.rows if len(row) > 1]
    return len(set(values)) > len(values) / 2
