"""What ``autograder grade`` prints: a bar on a terminal, one line per submission elsewhere, a table at the end."""

import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Table

from autograder.contract.questions import questions
from autograder.intake.discover import Entry
from autograder.outside.text import for_terminal
from autograder.reporting.results import GradeLine, QuestionResult
from autograder.reporting.words import Words

LONGEST_TABLE = 300


class Progress:
    """Shows a batch as it is graded."""

    def __init__(self, total: int, words: Words) -> None:
        self._words = words
        self._console = Console(highlight=False, markup=False, soft_wrap=True)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        # Workers are forked while the bar is up, so it must not run a thread of its own.
        self._bar = Bar(*columns, console=self._console, auto_refresh=False, disable=not sys.stdout.isatty())
        self._task = self._bar.add_task(words.text("progress.grading.text"), total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _t: TracebackType | None) -> None:
        self._bar.refresh()
        self._bar.stop()

    def advance(self, line: GradeLine) -> None:
        """Count one graded submission."""
        self._bar.advance(self._task)
        self._bar.refresh()
        if self._bar.disable:
            self._console.print(f"{for_terminal(line.student)}: {self._outcome(line)}")

    def _outcome(self, line: GradeLine) -> str:
        if line.rejected:
            return self._words.sentence(line.rejected)
        if line.questions and not line.max_points:
            passed = sum(question.status == "passed" for question in line.questions.values())
            return self._words.text("readiness.line", passed=passed, count=len(line.questions))
        return self._words.text(
            "progress.points.text", points=line.points, max_points=line.max_points, pending=line.pending_points
        )

    def summary(self, lines: Sequence[GradeLine], out: Path) -> None:
        """Print the class as a table, what could not be graded, and where to look."""
        if len(lines) <= LONGEST_TABLE:
            self._console.print(_table(lines))
        for line in lines:
            if line.rejected:
                self._console.print(f"{for_terminal(line.student)}: {self._outcome(line)}", style="bold")
        graded = sum(line.status == "graded" for line in lines)
        self._console.print(
            self._words.text("progress.summary.text", graded=graded, total=len(lines), grades=str(out / "grades.csv"),
                             students=str(out / "students"))
        )  # fmt: skip


def show_entries(entries: Sequence[Entry]) -> None:
    """Print who was found, from which file and attempt, and what of theirs is left out; tabs part the columns."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    console.print("\t".join(("student", "id", "received", "attempt", "file", "left out, or why not")))
    for entry in entries:
        who = entry.who
        seen = f"{who.attempt or 'the newest'} of {who.attempts_seen}" if who.attempts_seen > 1 else who.attempt
        why = ", ".join(
            (*([entry.refusal] * bool(entry.refusal)), *(remark.code for remark in entry.remarks), *entry.left_out)
        )
        archive = f"{entry.path.name}/" if entry.parts and entry.path.is_file() else ""
        cells = (entry.student, who.id, "late" if who.late else who.received, seen, archive + entry.file, why)
        console.print("\t".join(for_terminal(cell or "-") for cell in cells))
    platforms = ", ".join(sorted({entry.who.platform or "plain names" for entry in entries}))
    console.print(f"{len(entries)} found, by {platforms}.")


def _table(lines: Sequence[GradeLine]) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("student")
    graded = [q for q in questions().by_id if any(q in line.questions for line in lines)]
    for name in (*graded, "points"):
        table.add_column(name, justify="right")
    for line in lines:
        cells = [_cell(line.questions.get(q)) for q in graded]
        table.add_row(for_terminal(line.student), *cells, "-" if line.rejected else f"{line.points}/{line.max_points}")
    return table


def _cell(question: QuestionResult | None) -> str:
    """Return a question's points, or for readiness, which gives none, its status."""
    if question is None:
        return "-"
    return str(question.points) if question.max_points else question.status
