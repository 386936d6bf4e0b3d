"""One submission's child: its cells loaded once, a fresh child whenever the old one cannot be trusted any more."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from autograder.contract.operations import Operation
from autograder.findings import Finding
from autograder.sandbox.client import Child, Died, Reply, Request, Server, only_trace, request_for

ROOM = 2
MEASURED = ("run.cpu", "run.idle", "run.wall")
"""Limits that a machine's load can reach by itself: the cells run once more, with more room, before one counts."""
MAX_CPU_SECONDS, MAX_LOADING_SECONDS = 20.0, 40.0
_NO_PYTHON = ("cell.syntax", "cell.newer")
_WHY_MISSING = {
    **dict.fromkeys(("cell.failed", "cell.went_on", *_NO_PYTHON), "open.cell"),
    **dict.fromkeys(("cell.stopped", "cell.skipped"), "open.stopped"),
    "cell.magic": "open.magic",
}


class LoadedSubmission:
    """Runs operations on a submission's cells; of a cell that hangs or kills the child the definitions are left."""

    def __init__(self, server: Server, cells: Sequence[str], helpers: Mapping[str, str] | None = None) -> None:
        server.begin_submission()
        self._server, self._cells, self._helpers = server, cells, helpers
        self._child: Child | None = None
        self._skip: frozenset[int] = frozenset()
        self._lean: frozenset[int] = frozenset()
        self._stopped: dict[int, Finding] = {}
        self._noted: Sequence[dict[str, Any]] | None = None
        self._room = 1
        self._short_of_memory: set[str | int | None] = set()
        self._unloadable: Died | None = None
        self.cpu_s = self._loading_s = 0.0
        self.tasks_added: int | None = None

    @property
    def notes(self) -> tuple[Finding, ...]:
        """What did not work in the cells, as it was before the submission was asked for anything.

        In their order, but what is no Python comes first, for it explains the most.
        """
        noted = [Finding(note["code"], note["details"]) for note in self._noted or ()]
        return tuple(sorted([*noted, *self._stopped.values()], key=_rank))

    @property
    def is_loaded(self) -> bool:
        """Whether a child with the cells is there to be asked."""
        return self._child is not None

    @property
    def pid(self) -> int | None:
        """The process that is there to be asked."""
        return self._child.pid if self._child else None

    def why_missing(self, name: str, todo: int) -> Finding:
        """Say why a name of the contract is not there: the cell that defines it failed, or there is none."""
        definition = re.compile(rf"^\s*(?:async\s+def|def|class)\s+{name}\b", re.MULTILINE)
        for note in self.notes:
            cell = note.details.get("cell")
            defines = isinstance(cell, int) and cell <= len(self._cells) and definition.search(self._cells[cell - 1])
            if defines and note.code in _WHY_MISSING:
                error = {"error": "SyntaxError"} if note.code in _NO_PYTHON else {}
                return Finding(_WHY_MISSING[note.code], {**note.details, **error, "name": name, "todo": todo})
        return Finding("open.missing", {"name": name, "todo": todo})

    def run(self, operations: Sequence[Operation], alone: bool, patience: float = 1.0) -> list[Any]:
        """Return the trace of ``operations``, in the shared child or ``alone`` in a fresh one; raise ``Died``.

        A fresh child is the shared one from then on: on a GPU each costs seconds.
        ``patience`` is the part of the usual time they may take.
        """
        return only_trace(self.answers([request_for([operations])], alone, patience))

    def answers(self, requests: Sequence[Request], alone: bool = False, patience: float = 1.0) -> Iterator[Reply]:
        """Yield the reply to each request, every one within the time of a case; raise ``Died``."""
        if self.cpu_s - self._loading_s > MAX_CPU_SECONDS or self._loading_s > MAX_LOADING_SECONDS:
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
            if self._child.tasks_added is not None:
                self.tasks_added = max(self._child.tasks_added, self.tasks_added or 0)
            self._child = None

    def _load(self) -> Child:
        while True:
            if self._unloadable:
                raise self._unloadable
            self._child = self._server.spawn()
            try:
                noted = self._child.load(self._cells, self._skip, self._helpers, self._room, self._lean)
                self._noted = noted if self._noted is None else self._noted
            except Died as died:
                self._loading_s += self._child.cpu_s
                self.close()
                self._ask_less(died)
            else:
                self._loading_s += self._child.cpu_s
                return self._child

    def _ask_less(self, died: Died) -> None:
        """Give the cells more room; then run the definitions alone: of this cell, of all from a second on, of all."""
        code, cell = died.finding.code, died.finding.details.get("cell")
        if code in MEASURED and self._room < ROOM:
            self._room = ROOM
        elif code == "run.memory" and cell not in self._short_of_memory:  # maybe for the greed of others
            self._short_of_memory.add(cell)
        elif not isinstance(cell, int):
            self._unloadable = died
        elif not self._lean:
            self._lean = frozenset({cell})
            self._stopped[cell] = Finding("cell.stopped", {"cell": cell, "why": code})
        elif cell in self._lean and (code not in MEASURED or self._lean in ({cell}, self._from(1))):
            self._skip |= {cell}
        elif len(self._lean) == 1:
            self._lean |= self._from(cell)
            self._stopped[cell] = Finding("cell.skipped", {"cell": cell, "why": code})
        else:  # the cells above took the time
            self._lean = self._from(1)

    def _from(self, first: int) -> frozenset[int]:
        return frozenset(range(first, len(self._cells) + 1))


def _rank(note: Finding) -> tuple[bool, int]:
    cell = note.details["cell"]
    return note.code not in _NO_PYTHON, cell if isinstance(cell, int) else 0
