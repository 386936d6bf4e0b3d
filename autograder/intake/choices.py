"""The TA's word on which of a student's files counts: ``choose.csv`` with ``id,file``."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from autograder.findings import Finding
from autograder.intake.discover import Entry
from autograder.intake.listing import Archive, Folder, notebooks
from autograder.intake.submission import UsageError
from autograder.outside.names import printable
from autograder.tables import Columns, read_records

CHOICES = Columns(("id", "file"), ("reason", "by", "date"))


def choose_files(entries: Sequence[Entry], path: Path) -> list[Entry]:
    """Let each row's file be the one that is graded; raise :class:`UsageError` for a row of nobody."""
    chosen = list(entries)
    for row in read_records(path, CHOICES):
        at = [n for n, entry in enumerate(chosen) if row["id"] in _names(entry)]
        if len(at) != 1:
            what = "nobody" if not at else f"{len(at)} students"
            raise UsageError(f"{path} chooses for '{printable(row['id'])}', which is {what} here; mend that row.")
        chosen[at[0]] = _only(chosen[at[0]], row, path)
    return chosen


def _names(entry: Entry) -> set[str]:
    return {entry.student, entry.who.id, entry.who.login} - {""}


def _only(entry: Entry, row: Mapping[str, str], path: Path) -> Entry:
    listing = Archive(entry.path, "") if entry.path.is_file() else Folder(entry.path, "")
    parts = [*entry.parts, *entry.left_out]
    inside = [p for part in parts for p in (notebooks(listing, part) or [part])]
    wanted = [place for place in dict.fromkeys(inside) if f"/{place}".endswith(f"/{row['file']}")]
    if len(wanted) != 1:
        how = "is not among" if not wanted else "fits several of"
        raise UsageError(
            f"{path}: '{printable(row['file'])}' {how} the files of '{printable(row['id'])}'; mend that row."
        )
    others = tuple(printable(place) for place in inside if place != wanted[0])
    remark = Finding("intake.chosen", {"file": printable(wanted[0])})
    return replace(entry, file=printable(wanted[0]), parts=(wanted[0],), refusal="", left_out=others, remarks=(remark,))
