"""What ``get_ipython()`` returns: magics that run code do so, those that define modules too, the rest does nothing."""

import importlib
import io
import os
import shlex
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

from autograder.sandbox.inside.helper_modules import HelperModules, helper_name, remember
from autograder.sandbox.inside.inert import INERT, Inert

_RUN_THEIR_CELL = frozenset("time timeit prun debug memit snakeviz pyinstrument ipytest wandb".split())
_RUN_THEIR_LINE = frozenset(("time", "prun", "debug"))
_SILENT = frozenset("html HTML javascript js latex markdown svg SVG".split())  # they show something and run no Python

Run = Callable[[str, int], None]
Remark = Callable[[str, dict[str, str | int]], None]


class ZMQInteractiveShell(Inert):
    """A shell by the name that notebooks look for; commands of the system give empty output."""

    def __init__(self, names: dict[str, Any], run: Run, remark: Remark, helpers: HelperModules) -> None:
        self.user_ns = self.user_global_ns = names
        self._run, self._remark, self._helpers = run, remark, helpers
        self._own: dict[str, dict[str, Any]] = {"line": {}, "cell": {}}

    def system(self, *_: Any) -> None:
        """``!command``"""
        self.user_ns["_exit_code"] = 0

    def getoutput(self, *_: Any, **__: Any) -> "CommandOutput":
        """``!!command`` and ``x = !command``"""
        return CommandOutput()

    def run_line_magic(self, name: str, line: str, *_: Any) -> Any:
        """``%name line``"""
        if own := self._own["line"].get(name):
            return own(line)
        if name in _RUN_THEIR_LINE and line:
            return self._evaluate(line)
        if name == "run" and line:
            return self._run_file(shlex.split(line)[0])
        if name in ("load_ext", "reload_ext") and self._helpers.find_spec(line.strip(), None):
            return importlib.import_module(line.strip()).load_ipython_extension(self)
        if name in ("env", "set_env") and "=" in line:
            variable, value = line.split("=", 1)
            os.environ[variable.strip()] = value.strip()
        return os.getcwd() if name == "pwd" else CommandOutput() if name in ("sx", "system") else INERT

    def run_cell_magic(self, name: str, line: str, cell: str) -> Any:
        """``%%name line`` over a cell"""
        if own := self._own["cell"].get(name):
            return own(line, cell)
        if name in _RUN_THEIR_CELL:
            return self._run(cell, sys._getframe(1).f_lineno)
        if name == "capture":
            return self._capture(line.split(), cell, sys._getframe(1).f_lineno)
        if name in ("writefile", "file") and line:
            options, path = line.split()[:-1], line.split()[-1].strip("'\"")
            before = self._helpers.texts.get(path, "") if "-a" in options else ""
            self._helpers.texts[path] = before + cell
            if "KVCacheManager" not in cell:
                return None
        if name not in _SILENT:
            self._remark("cell.magic", {"magic": f"%%{name}"})
        return None

    def magic(self, line: str) -> Any:
        """The older spelling of a line magic"""
        name, _, rest = line.lstrip("%").partition(" ")
        return self.run_line_magic(name, rest)

    def run_cell(self, source: str, *_: Any, **__: Any) -> Inert:
        """Run a cell within a cell"""
        self._run(source, 0)
        return INERT

    ex = safe_execfile = run_cell

    def ev(self, expression: str) -> Any:
        """Return an expression's value"""
        return eval(expression, self.user_ns)

    def push(self, names: dict[str, Any], *_: Any, **__: Any) -> None:
        """Define names"""
        self.user_ns.update(names)

    def register_magic_function(self, function: Any, magic_kind: str = "line", magic_name: str | None = None) -> Any:
        """Let a function of the student's be a magic"""
        for kind in ("line", "cell") if magic_kind == "line_cell" else (magic_kind,):
            self._own[kind][magic_name or function.__name__] = function
        return function

    def get_ipython(self) -> "ZMQInteractiveShell":
        """Return itself"""
        return self

    def module(self) -> dict[str, Any]:
        """Return what the modules of IPython have to offer."""

        def decorator(kind: str) -> Callable[[Any], Any]:
            def register(function: Any) -> Any:
                if isinstance(function, str):
                    return lambda real: self.register_magic_function(real, kind, function)
                return self.register_magic_function(function, kind)

            return register

        registers = {f"register_{kind}_magic": decorator(kind) for kind in ("line", "cell", "line_cell")}
        return {**registers, "get_ipython": self.get_ipython}

    def _evaluate(self, line: str) -> Any:
        """Run a line where the magic stands, and return its value if it has one."""
        frame = sys._getframe(2)
        try:
            code = compile(line, frame.f_code.co_filename, "eval", dont_inherit=True)
        except SyntaxError:
            exec(line, frame.f_globals, frame.f_locals)
            return None
        return eval(code, frame.f_globals, frame.f_locals)

    def _run_file(self, path: str) -> None:
        path = os.path.normpath(path if path.endswith(".py") else f"{path}.py")
        if path not in self._helpers.texts:
            raise FileNotFoundError(f"{path} was not handed in beside the notebook")
        exec(compile(remember(path, self._helpers.texts[path]), helper_name(path), "exec"), self.user_ns)

    def _capture(self, words: list[str], cell: str, lines_above: int) -> None:
        captured = Captured()
        with redirect_stdout(captured.out), redirect_stderr(captured.err):
            self._run(cell, lines_above)
        for word in words:
            if word.isidentifier():
                self.user_ns[word] = captured


class Captured(Inert):
    """What ``%%capture`` keeps."""

    def __init__(self) -> None:
        self.out, self.err = io.StringIO(), io.StringIO()
        self.outputs: list[Any] = []

    @property
    def stdout(self) -> str:
        """Return the text printed."""
        return self.out.getvalue()

    @property
    def stderr(self) -> str:
        """Return the text printed as errors."""
        return self.err.getvalue()


class CommandOutput(list[str]):
    """The lines of a command that was not run: there are none, and each of them is empty."""

    n: str = ""
    s: str = ""

    @property
    def l(self) -> "CommandOutput":  # noqa: E743
        """The lines."""
        return self

    def grep(self, *_: Any, **__: Any) -> "CommandOutput":
        """Return some of the lines."""
        return self

    fields = get_list = grep

    def __getitem__(self, index: Any) -> Any:
        return "" if isinstance(index, int) else self
