"""A notebook's cells run as a kernel runs them, except that a failing statement costs a statement."""

import builtins
import linecache
from collections.abc import Mapping
from types import CodeType
from typing import Any

from autograder.sandbox.inside.cells import (
    cell_name,
    compile_cell,
    compile_statements,
    defined_by,
    only_definitions,
    statements_after,
    statements_of,
)
from autograder.sandbox.inside.encode import MAX_TEXT, type_name
from autograder.sandbox.inside.event_loop import EventLoop
from autograder.sandbox.inside.exception_data import message
from autograder.sandbox.inside.furnish import furnish
from autograder.sandbox.inside.helper_modules import HelperModules
from autograder.sandbox.inside.inert_modules import let_imports_pass
from autograder.sandbox.inside.newer_python import newer_python
from autograder.sandbox.inside.shell import ZMQInteractiveShell
from autograder.sandbox.limits import MOST_NOTES

_exec, _eval = exec, eval
_MOST_FAILURES = 10
"""Statements of one cell that may fail until the rest of the cell is left out."""
_STOP = (SystemExit, KeyboardInterrupt, GeneratorExit)

Details = dict[str, str | int]


class Notebook:
    """One namespace, cells run in it one after another, and notes of what did not work."""

    def __init__(self, helpers: Mapping[str, str]) -> None:
        modules = HelperModules(helpers)
        self.notes: list[dict[str, Any]] = []
        self.names = furnish().__dict__
        shell = ZMQInteractiveShell(self.names, self._run, self._note, modules)
        self.names["get_ipython"] = shell.get_ipython
        setattr(builtins, "get_ipython", shell.get_ipython)  # noqa: B010 - there as well when names are cleared away
        self._absent = let_imports_pass(modules, {"IPython": shell.module()})
        self._cell = self._flags = 0
        self._lean = False
        self._inputs: list[str] = self.names["In"]
        self._loop: EventLoop | None = None

    def run(self, source: str, number: int, lean: bool = False) -> None:
        """Run one cell, or only its definitions; whatever goes wrong in it is noted, and nothing is raised."""
        self._cell, self._lean = number, lean
        self._inputs.append(source)
        try:
            self._run(source, 0)
        except BaseException as error:
            self._note("cell.failed", self._details(error))
        for package in self._absent:
            self._note("cell.absent", {"package": package})
        self._absent.clear()

    def _run(self, source: str, lines_above: int) -> None:
        """Run a cell, or one within it below some lines, and go on after statements that fail."""
        name = cell_name(self._cell)
        try:
            code, self._flags, text = compile_cell(source, name, self._flags, lines_above)
            if self._lean:
                code = compile_statements(only_definitions(statements_of(text, name, self._flags)), name, self._flags)
        except SyntaxError as error:
            self._note_syntax(error, source, lines_above)
            return
        rest: CodeType | None = code
        for _ in range(_MOST_FAILURES):
            rest = self._execute(rest, text) if rest else None

    def _execute(self, code: CodeType, text: str) -> CodeType | None:
        """Run statements of a cell's text and return those to go on with after one that failed."""
        try:
            value = _eval(code, self.names)
            if value is not None:  # a coroutine: the cell awaits something
                self._loop = self._loop or EventLoop()
                self._loop.run_until_complete(value)
        except BaseException as error:
            rest = self._rest(error, code, text)
            self._note("cell.went_on" if rest else "cell.failed", self._details(error))
            return rest
        return None

    def _rest(self, error: BaseException, code: CodeType, text: str) -> CodeType | None:
        """Return the statements after the failing one, unless they define anew what is there: a kernel keeps that."""
        line = next((t.tb_lineno for t in _frames(error) if t.tb_frame.f_code is code), None)
        if line is None or isinstance(error, _STOP) or line > text.rstrip().count("\n"):
            return None
        statements = statements_after(line, text, code.co_filename, self._flags)
        statements = only_definitions(statements) if self._lean else statements
        if not statements or any(map(self._is_there, defined_by(statements))):
            return None
        return compile_statements(statements, code.co_filename, self._flags)

    def _is_there(self, name: str) -> bool:
        base, _, attribute = name.partition(".")
        value = self.names.get(base)
        return hasattr(value, attribute) if attribute else callable(value)

    def _details(self, error: BaseException) -> Details:
        lines = [t.tb_lineno for t in _frames(error) if t.tb_frame.f_code.co_filename == cell_name(self._cell)]
        return {"error": type_name(error), "text": message(error), "line": lines[-1] if lines else 1}

    def _note_syntax(self, error: SyntaxError, source: str, lines_above: int) -> None:
        line = error.lineno if type(error.lineno) is int else 1
        text = linecache.getline(cell_name(self._cell), line).rstrip("\n")
        column = error.offset if type(error.offset) is int else 1
        details: Details = {"line": line, "column": max(column, 1), "code": text, "text": str(error.msg)}
        version = newer_python(source, line - lines_above)
        if version:
            self._note("cell.newer", {"line": line, "python": version})
        else:
            self._note("cell.syntax", details)

    def _note(self, code: str, details: Details) -> None:
        if len(self.notes) > MOST_NOTES:
            self.notes[-1]["details"]["count"] += 1
        elif len(self.notes) == MOST_NOTES:
            self.notes.append({"code": "cell.more", "details": {"cell": self._cell, "count": 1}})
        else:
            clipped = {name: text[:MAX_TEXT] if isinstance(text, str) else text for name, text in details.items()}
            self.notes.append({"code": code, "details": {"cell": self._cell, **clipped}})


def _frames(error: BaseException) -> list[Any]:
    trace, frames = error.__traceback__, []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    return frames
