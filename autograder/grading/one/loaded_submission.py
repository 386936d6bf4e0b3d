"""One submission's child: its cells loaded once, a fresh child whenever the old one cannot be trusted any more."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from autograder.contract.operations import Operation
from autograder.findings import Finding
from autograder.sandbox.client import Child, Died, Reply, Request, Server, only_trace, request_for

MAX_SKIPPED_CELLS = 3
MOST_NOTES = 40
MAX_CPU_SECONDS = 20.0


class LoadedSubmission:
    """Runs operations on a submission's cells; a cell that hangs or kills the child is left out and noted."""

    def __init__(self, server: Server, cells: Sequence[str]) -> None:
        server.begin_submission()
        self._server, self._cells = server, cells
        self._child: Child | None = None
        self._skip: tuple[int, ...] = ()
        self._stopped: dict[int, Finding] = {}
        self._errors: Sequence[dict[str, Any]] | None = None
        self._tried_again: set[str | int | None] = set()
        self._unloadable: Died | None = None
        self.cpu_s = 0.0

    @property
    def notes(self) -> tuple[Finding, ...]:
        """Cells that failed or were left out, in order, as it was before the submission was asked for anything."""
        failed = {error["cell"]: _note(error) for error in self._errors or ()}
        notes = tuple(finding for _, finding in sorted({**failed, **self._stopped}.items()))
        more = len(notes) - MOST_NOTES
        return (*notes[:MOST_NOTES], Finding("cell.more", {"count": more})) if more > 0 else notes

    def why_missing(self, name: str, todo: int) -> Finding:
        """Say why a name of the contract is not there: the cell that defines it failed, or there is none."""
        definition = re.compile(rf"^\s*(?:async\s+def|def|class)\s+{name}\b", re.MULTILINE)
        for note in self.notes:
            cell = note.details.get("cell")
            if isinstance(cell, int) and cell <= len(self._cells) and definition.search(self._cells[cell - 1]):
                code = "open.cell" if note.code == "cell.failed" else "open.stopped"
                return Finding(code, {**note.details, "name": name, "todo": todo})
        return Finding("open.missing", {"name": name, "todo": todo})

    @property
    def next_is_alone(self) -> bool:
        """Whether whatever runs next has a fresh child."""
        return self._child is None

    def run(self, operations: Sequence[Operation], alone: bool, patience: float = 1.0) -> list[Any]:
        """Return the trace of ``operations``, in the shared child or ``alone`` in a fresh one; raise ``Died``.

        A fresh child is the shared one from then on: on a GPU each costs seconds.
        ``patience`` is the part of the usual time they may take.
        """
        return only_trace(self.answers([request_for([operations])], alone, patience))

    def answers(self, requests: Sequence[Request], alone: bool = False, patience: float = 1.0) -> Iterator[Reply]:
        """Yield the reply to each request, every one within the time of a case; raise ``Died``."""
        if self.cpu_s > MAX_CPU_SECONDS:
            raise Died("run.budget", {})
        if alone:
            self.close()
        child = self._child or self._load()
        try:
            yield from child.answers(requests, patience)
        except Died:
            self.close()
            raise

    def close(self) -> None:
        """End the child, if there is one."""
        if self._child:
            self._child.kill()
            self.cpu_s += self._child.cpu_s
            self._child = None

    def _load(self) -> Child:
        while True:
            if self._unloadable:
                raise self._unloadable
            self._child = self._server.spawn()
            try:
                errors = self._child.load(self._cells, self._skip)
                self._errors = errors if self._errors is None else self._errors
            except Died as died:
                self.close()
                self._leave_out(died)
            else:
                return self._child

    def _leave_out(self, died: Died) -> None:
        cell = died.finding.details.get("cell")
        if died.finding.code == "run.memory" and cell not in self._tried_again:  # maybe for the greed of others
            self._tried_again.add(cell)
            return
        if not isinstance(cell, int) or len(self._skip) == MAX_SKIPPED_CELLS:
            self._unloadable = died
            return
        self._skip = (*self._skip, cell)
        self._stopped[cell] = Finding("cell.stopped", {"cell": cell, "why": died.finding.code})


def _note(error: Mapping[str, Any]) -> Finding:
    details = {"cell": error["cell"], "error": error["name"], "text": error["text"], "line": error["line"] or "?"}
    return Finding("cell.failed", details)
