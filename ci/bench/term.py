#!/usr/bin/env python3
"""A term from outside: who is found in every platform's download, and who gets which points in its gradebook.

.venv/bin/python ci/bench/term.py [FOLDER] [--size 20] [--students 3000]

Without FOLDER it makes the downloads of a class with namesakes; each is looked through unpacked, then as a zip graded,
exported, and imported by the platform's rules. A FOLDER of your own is looked through only. It holds downloads, packed
or not, and truth.json: {"name of the download": {"id that the platform gives": "tag in a cell '# tag: …' of what
counts"}}.
"""

import argparse
import csv
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "ci" / "tests"))

from commands import autograder  # noqa: E402
from downloads import Download, downloads, lay_out  # noqa: E402
from gradebooks import gradebook, groups, importer, write_csv  # noqa: E402
from processes import measure  # noqa: E402

from autograder.errors import GraderError  # noqa: E402
from autograder.grading.many.journal import Journal, recorded  # noqa: E402
from autograder.identity import Identity  # noqa: E402
from autograder.intake.discover import Entry, discover  # noqa: E402
from autograder.intake.read import read  # noqa: E402
from autograder.reporting.results import SubmissionResult  # noqa: E402
from autograder.reporting.schema import row  # noqa: E402

AUTOGRADER = Path(sys.executable).parent / "autograder"
COUNTS = ("students", "found", "right attempt", "merged", "invented", "marks", "right marks")


def main() -> int:
    """Measure and print tables in Markdown; return 1 where anything is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--size", type=int, default=20, help="how many of 150 handed in")
    parser.add_argument("--students", type=int, default=3000, help="a class for `report`; 0 for none")
    options = parser.parse_args()
    print("| download |", " | ".join(COUNTS), "|\n|---|" + "---|" * len(COUNTS))
    wrong = 0
    for name, counts in theirs(options.folder) if options.folder else ours(options.size):
        told = [str(counts[key]) if key in counts else "-" for key in COUNTS]
        print("|", " | ".join((name, *told)), "|", flush=True)
        wrong += counts["students"] != counts["right attempt"] or counts["merged"] + counts["invented"] > 0
        wrong += counts["marks"] != counts["right marks"]
    if options.students:
        report(options.students)
    return int(wrong > 0)


def theirs(folder: Path) -> Iterator[tuple[str, Counter[str]]]:
    """Look through somebody's downloads and count."""
    for name, found in json.loads((folder / "truth.json").read_text(encoding="utf-8")).items():
        yield name, looked_through(folder / name, "auto", found)


def ours(size: int) -> Iterator[tuple[str, Counter[str]]]:
    """Look through downloads of our own, grade them, export each and count."""
    for download in downloads(size):
        with tempfile.TemporaryDirectory() as place:
            yield download.name, looked_through(lay_out(download, Path(place), packed=False), "auto", download.found)
            out, path = Path(place) / "out", lay_out(download, Path(place), packed=True)
            done = autograder("grade", path, "-o", out, "--layout", download.packed_layout)
            if done.returncode:
                print(f"{path.name}: {done.stderr}", file=sys.stderr)
            graded = [
                (result.who.id or result.student, tag_of(out, result)) for result in recorded(out).results.values()
            ]
            counts = compared(graded, download.found)
            if download.book:
                counts.update(filled(out, download))
            yield f"{download.name}, zip, graded", counts


def looked_through(path: Path, layout: str, found: Mapping[str, str]) -> Counter[str]:
    """Count whom intake finds in a download; one that it refuses holds nobody."""
    try:
        entries = discover([path], layout)
    except GraderError as error:
        print(f"{path.name}: {error}", file=sys.stderr)
        entries = []
    return compared([(entry.who.id or entry.student, tag(entry)) for entry in entries], found)


def compared(seen: Sequence[tuple[str, str]], found: Mapping[str, str]) -> Counter[str]:
    """Count who of ``found`` is among those seen, with which file, and who should not be."""
    return Counter(
        {
            "students": len(found),
            "found": len({ident for ident, _ in seen} & found.keys()),
            "right attempt": sum(found.get(ident) == tag for ident, tag in seen),
            "merged": sum(count - 1 for count in Counter(ident for ident, _ in seen).values()),
            "invented": sum(ident not in found for ident, _ in seen),
        }
    )


def tag_of(out: Path, result: SubmissionResult) -> str:
    """The tag in the file that was kept as the graded one."""
    [entry] = discover([out / "students" / result.student / "received"], "one")
    return tag(entry)


def tag(entry: Entry) -> str:
    """The tag in the file that counts of an entry."""
    return (re.findall(r"# tag: (\S+)", "\n".join(getattr(read(entry), "cells", ()))) or ["none"])[-1]


def filled(out: Path, download: Download) -> Counter[str]:
    """Fill the platform's gradebook by the command, import it by the platform's rules and count."""
    earned = {result.who.id: str(result.points) for result in recorded(out).results.values()}
    wanted = {n: earned.get(ident, "?") for ident, members in download.members.items() for n in members}
    book, options = write_csv(out.parent / "book.csv", *gradebook(download.book)), ["--pending", "skip"]
    if download.name == "canvas, groups":
        autograder("report", out, "--roster", write_csv(out.parent / "groups.csv", *groups()))
    if download.book == "brightspace":  # a TA tells namesakes apart
        hands = [(r.student, str(2000 + download.members[r.who.id][0])) for r in recorded(out).results.values()]
        namesakes = [list(pair) for pair in hands if int(pair[1]) - 2000 in (0, 1, 2, 10, 11)]
        options += ["--match", write_csv(out.parent / "match.csv", ["student", "id"], namesakes)]
    done = autograder("export", out, "--fill", book, *options)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return Counter({"marks": len(wanted), "right marks": 0})
    got = importer(download.book, (out / "gradebook-book.csv").read_bytes())
    right = sum(got[n] == mark for n, mark in wanted.items()) - sum(bool(got[n]) for n in got.keys() - wanted.keys())
    return Counter({"marks": len(wanted), "right marks": right})


def report(students: int) -> None:
    """Print what `report` takes for a large class made of the sample submissions, and how large its page is."""
    with tempfile.TemporaryDirectory() as place:
        samples, out = Path(place) / "samples", Path(place) / "out"
        folders = [ROOT / "solutions" / "submissions" / name for name in ("honest", "partial", "alternative")]
        autograder("grade", *folders, "-o", samples, "--layout", "plain")
        found = list(recorded(samples).results.values())
        with Journal(out, resume=False) as journal:
            for n in range(students):
                who = Identity("canvas", str(4000 + n), name=f"Student {n}")
                journal.append(row(replace(found[n % len(found)], student=f"student-{n}", who=who)))
        people = [[f"{n}, Student", str(4000 + n), "", "", "S 1", ""] for n in range(students)]
        roster = write_csv(Path(place) / "roster.csv", gradebook("canvas")[0], people)
        cost = measure([AUTOGRADER, "report", out, "--roster", roster], Path(place))
        page = (out / "class.html").stat().st_size / 1e6
        rows = sum(1 for _ in csv.reader((out / "grades.csv").open(encoding="utf-8"))) - 1
    print(f"\n`report` of {rows:,} students: {cost.wall_s:.1f} s, {cost.cpu_s:.1f} s of CPU; class page {page:.2f} MB")


if __name__ == "__main__":
    sys.exit(main())
