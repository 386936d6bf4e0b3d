"""A class of 150 with namesakes, as each platform's download holds it: who handed in what, in which attempt."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from classes import CEILING, solution
from odd_files import ipynb, zipped

SIZE = 150
NB = "paged_attention.ipynb"
NAMES = (
    "Wei Zhang,Wei Zhang,Zhang Wei,José García,Jose Garcia,Ji_ho Kim,Mai Đặng,Anna Late,An 2 Nguyen,Siobhán O'Connor,"
    "Iain McDonald,Iain Mcdonald,太郎 山田,Anne-Marie Smith-Jones,María José García Núñez"
).split(",")


@dataclass(frozen=True)
class Student:
    """One of the class; every platform knows them by another number."""

    n: int

    @property
    def first(self) -> str:
        return NAMES[self.n].rpartition(" ")[0] if self.n < len(NAMES) else f"First{self.n}"

    @property
    def last(self) -> str:
        return NAMES[self.n].rpartition(" ")[2] if self.n < len(NAMES) else f"Last{self.n}"

    @property
    def login(self) -> str:
        return f"user{self.n}"

    @property
    def full(self) -> str:
        return f"{self.first} {self.last}"


CLASS = [Student(n) for n in range(SIZE)]
Files = dict[str, str]
"""Places and what lies there: the tag of a notebook, such as ``7`` or ``7-old``, or after a ``=`` the text itself."""


@dataclass(frozen=True)
class Download:
    """What a platform gives out: ``found`` leads from the id that it knows an author by to the tag that counts.

    ``members`` leads from such an id to the students who get its points, ``book`` names the gradebook that they go to.
    """

    name: str
    files: Files
    found: Mapping[str, str]
    members: Mapping[str, tuple[int, ...]]
    book: str = ""
    packed_layout: str = "auto"


def downloads(size: int) -> list[Download]:
    """Return every download of a class of whom the first ``size`` handed in."""
    people = CLASS[:size]
    return [make(people) for make in _MAKERS]


def _each(name: str, people: list[Student], ident: Callable[[Student], str], files: Files, **more: str) -> Download:
    found = {ident(s): str(s.n) for s in people}
    return Download(name, files, found, {ident(s): (s.n,) for s in people}, **more)


def _resubmits(s: Student) -> bool:
    return s.n % 5 == 1


def _canvas(people: list[Student]) -> Download:
    files = {}
    for s in people:
        name = "".join(c for c in f"{s.last}, {s.first}".lower() if c.isalnum() or c == "_")
        front = f"{name}{'_LATE' * (s.n % 7 == 3)}_{4000 + s.n}"
        files[f"{front}_{90000 + s.n}_{NB}"] = f"{s.n}-old" if _resubmits(s) else str(s.n)
        if _resubmits(s):
            files[f"{front}_{91000 + s.n}_paged_attention-1.ipynb"] = str(s.n)
    return _each("canvas", people, lambda s: str(4000 + s.n), files, book="canvas")


def _canvas_blind(people: list[Student]) -> Download:
    files = {f"{'LATE_' * (s.n % 3 == 0)}anon_x{s.n}_{90000 + s.n}_{NB}": str(s.n) for s in people}
    return _each("canvas, blind", people, lambda s: f"anon_x{s.n}", files)


def _pairs(people: list[Student], start: int) -> tuple[dict[str, str], dict[str, tuple[int, ...]]]:
    groups = {str(start + s.n): (s.n, s.n + 1) for s in people[: len(people) // 2 * 2] if s.n % 2 == 0}
    return {group: str(members[0]) for group, members in groups.items()}, groups


def _canvas_groups(people: list[Student]) -> Download:
    found, members = _pairs(people, 50000)
    files = {f"group{int(g) - 50000}_{g}_{90000 + int(tag)}_{NB}": tag for g, tag in found.items()}
    return Download("canvas, groups", files, found, members, "canvas")


def _moodle(people: list[Student], name: str = "moodle", flat: bool = False) -> Download:
    between = "_" if flat else "/"
    files = {
        f"{s.full.replace('_', ' ')}_{7000 + s.n}_assignsubmission_file{between}{NB}": str(s.n) for s in people
    } | {
        f"{s.full.replace('_', ' ')}_{7000 + s.n}_assignsubmission_onlinetext{between}onlinetext.html": "=<p>Hello"
        for s in people[::4]
    }
    return _each(name, people, lambda s: str(7000 + s.n), files, book="moodle")


def _moodle_teams(people: list[Student]) -> Download:
    found, members = _pairs(people, 7000)  # as many as people have, so that only names tell them apart
    files = {f"Team {int(g) - 7000}_{g}_assignsubmission_file/{NB}": tag for g, tag in found.items()}
    return Download("moodle, teams", files, found, members, "moodle, teams")


def _gradescope(people: list[Student]) -> Download:
    files, told = {}, "---\n"
    for s in people:
        if s.n % 10 == 9 and s.n + 1 < len(people):
            continue  # handed in with the next one
        own = [CLASS[s.n - 1], s] if s.n % 10 == 0 and s.n else [s]
        files[f"assignment_5_export/submission_{s.n}/{NB}"] = str(s.n)
        told += f"submission_{s.n}:\n  :submitters:\n" + "".join(
            f"  - :name: {p.full}\n    :sid: '{2000 + p.n}'\n    :email: {p.login}@x.edu\n" for p in own
        )
    files["assignment_5_export/submission_metadata.yml"] = f"={told}"
    found = {str(2000 + s.n): str(s.n + (s.n % 10 == 9 and s.n + 1 < len(people))) for s in people}
    return Download("gradescope", files, found, {str(2000 + s.n): (s.n,) for s in people}, "gradescope")


def _blackboard(people: list[Student]) -> Download:
    files = {}
    for s in people:
        for day, tag in ((30, f"{s.n}-old"), (31, str(s.n))):
            front = f"paged_attention_{s.login}_attempt_2026-10-{day}-12-00-00"
            if day == 31 or _resubmits(s):
                files |= {f"{front}_{NB}": tag, f"{front}.txt": f"=Name: {s.full} ({s.login})\nAssignment: x\n"}
    return _each("blackboard", people, lambda s: s.login, files, book="blackboard")


def _brightspace(people: list[Student], name: str = "brightspace", flat: bool = False) -> Download:
    files = {"index.html": "=<html>"}
    for s in people:
        for day, tag in ((1, f"{s.n}-old"), (2, str(s.n))):
            if day == 2 or _resubmits(s):
                gap, between = ("", " - ") if flat else (" ", "/")
                files[f"397063-{2557000 + s.n} - {s.full}{gap}- Nov {day}, 2026 1215 PM{between}{NB}"] = tag
    return _each(name, people, lambda s: str(2557000 + s.n), files, book="brightspace")


def _nbgrader(people: list[Student]) -> Download:
    files = {"course/nbgrader_config.py": "=c = get_config()", f"course/source/paged_attention/{NB}": "source"}
    for s in people:
        files[f"course/submitted/{s.login}/paged_attention/{NB}"] = str(s.n)
        files[f"course/submitted/{s.login}/paged_attention/timestamp.txt"] = "=2026-11-01 11:58:20.123456 UTC"
    return _each("nbgrader", people, lambda s: s.login, files, book="nbgrader")


def _github(people: list[Student]) -> Download:
    files = {}
    for s in people:
        clone = f"paged-attention-submissions/paged-attention-{s.login}"
        files |= {f"{clone}/{NB}": str(s.n), f"{clone}/.git/HEAD": "=ref: refs/heads/main"}
    return _each("github", people, lambda s: s.login, files)


def _teams(people: list[Student]) -> Download:
    alone = [s for s in people if s.n not in (1, 11)]  # a folder has no two of one name
    files = {}
    for s in alone:
        for version, tag in ((9, f"{s.n}-old"), (10, str(s.n))):
            files[f"Submitted files/{s.full}/Paged Attention/Version {version}/{NB}"] = tag
    return _each("teams", alone, lambda s: s.full, files)


def _google(people: list[Student]) -> Download:
    alone = [s for s in people if s.n not in (1, 11)]
    files = {f"{s.full} - {NB}": str(s.n) for s in alone} | {"Wei Zhang - paged_attention (1).ipynb": "1"}
    google = _each("google", alone, lambda s: s.full, files)
    return Download("google", files, {**google.found, "Wei Zhang (1)": "1"}, {**google.members, "Wei Zhang (1)": (1,)})


def _plain(people: list[Student]) -> Download:
    files = {f"{s.login}.ipynb": str(s.n) for s in people}
    return _each("plain", people, lambda s: s.login, files, packed_layout="plain")


_MAKERS: tuple[Callable[[list[Student]], Download], ...] = (
    _canvas,
    _canvas_blind,
    _canvas_groups,
    _moodle,
    lambda people: _moodle(people, "moodle, flat", flat=True),
    _moodle_teams,
    _gradescope,
    _blackboard,
    _brightspace,
    lambda people: _brightspace(people, "brightspace, flat", flat=True),
    _nbgrader,
    _github,
    _teams,
    _google,
    _plain,
)

RIGHT = solution()
WRONG = solution((CEILING, "needed_blocks = req.seq_len // self.block_size"))


def content(what: str) -> bytes:
    """Return the bytes of a file: text as it stands, or a notebook with a tag, of which every third is wrong."""
    if what.startswith("="):
        return what[1:].encode()
    wrong = what.isdecimal() and int(what) % 3 == 0
    return ipynb([WRONG if wrong else RIGHT, f"# tag: {what}"])


def lay_out(download: Download, root: Path, packed: bool) -> Path:
    """Write a download below ``root``, as a zip or unpacked; return its place."""
    files = {name: content(what) for name, what in download.files.items()}
    place = root / f"{download.name}{'.zip' * packed}"
    if packed:
        place.write_bytes(zipped(files))
        return place
    for name, data in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)
    return place
