"""Notebook cells as Python: what a notebook's kernel would understand and the compiler does not."""

import __future__

import json
import linecache
import re
from functools import cache
from importlib.resources import files
from types import CodeType

_PYTHON_CELL_MAGICS = frozenset(("time", "timeit", "capture", "prun", "memit", "debug"))
_PYTHON_LINE_MAGICS = frozenset(("time",))
_CELL_MAGIC = re.compile(r"^\s*%%(\w+)")
_LINE_MAGIC = re.compile(r"^(\s*)%(\w+)[ \t]*(.*)$")
_SHELL_OR_HELP = re.compile(r"^(\s*)(?:!.*|\?{1,2}\s*[\w.]+|[\w.*]+\s*\?{1,2})\s*$")
_ASSIGNED = re.compile(r"^(\s*[^=#'\"]+=)\s*[!%]\s*\w.*$")
_FUTURE_FLAGS = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


def compile_cell(source: str, number: int, flags: int) -> tuple[CodeType, int]:
    """Return the cell's code and the flags for the next cell (``from __future__`` lasts, as in a notebook).

    A cell is taken as written when it compiles; otherwise its magics and shell lines are put out of action.
    Raises SyntaxError (ValueError for a null byte) for what is not Python even then.
    """
    name = cell_name(number)
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    given = None if flags else _given().get(source)
    if given:
        return given.replace(co_filename=name), flags
    try:
        code = compile(source, name, "exec", flags, dont_inherit=True)
    except SyntaxError:
        source = without_magics(source)
        code = compile(source, name, "exec", flags, dont_inherit=True)
    return code, flags | (code.co_flags & _FUTURE_FLAGS)


@cache
def _given() -> dict[str, CodeType]:
    """Return the cells that the assignment gives to everyone, compiled: in the fork-server, once for all."""
    sources = json.loads((files("autograder.sandbox.inside") / "given_cells.json").read_text("utf-8"))
    return {source: compile(source, "<given>", "exec", dont_inherit=True) for source in sources}


def cell_name(number: int) -> str:
    """Return the file name under which a cell's lines appear in tracebacks."""
    return f"<cell {number}>"


def without_magics(source: str) -> str:
    """Return the source with magics, shell lines and help questions made harmless, line numbers unchanged."""
    lines = source.splitlines()
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    if lines and (magic := _CELL_MAGIC.match(lines[first])):
        if magic[1] not in _PYTHON_CELL_MAGICS:
            return ""
        lines[first] = ""
    plain = []
    continued = False
    for line in lines:
        neutral = "" if continued else _neutral(line)
        continued = neutral != line and line.endswith("\\")
        plain.append(neutral)
    return "\n".join(plain) + "\n"


def _neutral(line: str) -> str:
    if magic := _LINE_MAGIC.match(line):
        indent, name, rest = magic.groups()
        return f"{indent}{rest}" if name in _PYTHON_LINE_MAGICS and rest else f"{indent}pass"
    if shell := _SHELL_OR_HELP.match(line):
        return f"{shell[1]}pass"
    if assigned := _ASSIGNED.match(line):
        return f"{assigned[1]} []"
    return line
