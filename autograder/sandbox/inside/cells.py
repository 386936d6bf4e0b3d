"""Notebook cells as Python: a cell that is none as it stands is translated by IPython's own rules."""

import __future__

import ast
import importlib
import importlib.util
import json
import linecache
import sys
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files
from types import CodeType, ModuleType
from typing import Any

_FUTURE_FLAGS = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_AWAIT = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_COMPOUND = (ast.If, ast.With, ast.Try, ast.For, ast.While)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_WORK = (ast.Call, ast.Await, ast.ListComp, ast.SetComp, ast.DictComp)


def compile_cell(source: str, name: str, flags: int, lines_above: int = 0) -> tuple[CodeType, int, str]:
    """Return the cell's code, the flags for the next cell (``from __future__`` lasts), and the Python text of it.

    A cell is taken as written when it compiles, and otherwise as IPython translates it: with its magics and shell lines
    as calls of ``get_ipython()``, and with ``await`` at its top. Raises what the compiler raises for what is not Python
    even then; of the two complaints the one about the translated cell.
    """
    given = None if flags or lines_above else _given().get(source)
    if given:
        _remember(source, name)
        return given.replace(co_filename=name), flags, source
    source = "\n" * lines_above + source
    _remember(source, name)
    try:
        code = compile(source, name, "exec", flags, dont_inherit=True)
    except SyntaxError as error:
        if "from __future__" in str(error.msg):  # a kernel compiles statement by statement, so the order is free
            code = compile_statements(statements_of(source, name, flags), name, flags)
        else:
            source = translated(source)
            _remember(source, name)
            code = compile(source, name, "exec", flags | _AWAIT, dont_inherit=True)
    return code, flags | (code.co_flags & _FUTURE_FLAGS), source


def translated(source: str) -> str:
    """Return the cell as IPython would hand it to Python, lines where they were; what it cannot translate as it is."""
    blank = len(source) - len(source.lstrip("\n"))
    try:
        return "\n" * blank + str(_translator().transform_cell(source))
    except (SyntaxError, RuntimeError, RecursionError):  # unbalanced quotes; more magics than IPython itself bears
        return source


@lru_cache(maxsize=2)
def statements_of(source: str, name: str, flags: int) -> list[ast.stmt]:
    """Return the statements of a cell's Python text."""
    tree = compile(source, name, "exec", flags | _AWAIT | ast.PyCF_ONLY_AST, dont_inherit=True)
    assert isinstance(tree, ast.Module)
    return tree.body


def statements_after(line: int, source: str, name: str, flags: int) -> list[ast.stmt]:
    """Return the statements of a cell's Python text that begin below the one in which ``line`` lies."""
    statements = statements_of(source, name, flags)
    end = next((s.end_lineno or line for s in statements if _first_line(s) <= line <= (s.end_lineno or line)), line)
    return [statement for statement in statements if _first_line(statement) > end]


def defined_by(statements: list[ast.stmt]) -> Iterator[str]:
    """Yield the names of the functions and classes that these statements define, and ``A.b`` for what they set on A."""
    for statement in statements:
        if isinstance(statement, _DEFINITIONS):
            yield statement.name
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name | ast.Attribute):
                    yield ast.unparse(target)
        elif isinstance(statement, _COMPOUND):
            yield from defined_by([child for child in ast.iter_child_nodes(statement) if isinstance(child, ast.stmt)])


def only_definitions(statements: list[ast.stmt]) -> list[ast.stmt]:
    """Return what imports, defines or names something without calling anything, and the branches that choose among it.

    A cell magic stays, since a definition may lie in its cell. Branches are stripped in place.
    """
    return [statement for statement in statements if _defines(statement)]


def compile_statements(statements: list[ast.stmt], name: str, flags: int) -> CodeType:
    """Return the code of some of a cell's statements; what is imported from the future comes first."""
    module = ast.Module(body=sorted(statements, key=_is_late), type_ignores=[])
    code: CodeType = compile(module, name, "exec", flags | _AWAIT, dont_inherit=True)
    return code


def cell_name(number: int) -> str:
    """Return the file name under which a cell's lines appear in tracebacks."""
    return f"<cell {number}>"


def source_of(name: str) -> str:
    """Return the Python text that was compiled under this file name."""
    return "".join(linecache.getlines(name))


def _remember(source: str, name: str) -> None:
    """Keep the text for tracebacks and for ``inspect.getsource``."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)


def _defines(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.If | ast.Try):
        for part in (statement, *getattr(statement, "handlers", ())):
            for field in ("body", "orelse", "finalbody"):
                if block := getattr(part, field, None):
                    setattr(part, field, only_definitions(block) or [ast.copy_location(ast.Pass(), block[0])])
        return True
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return not any(isinstance(node, _WORK) for node in ast.walk(statement))
    if isinstance(statement, ast.Expr):
        called = getattr(statement.value, "func", None)
        return isinstance(called, ast.Attribute) and called.attr == "run_cell_magic"
    return isinstance(statement, (*_DEFINITIONS, ast.Import, ast.ImportFrom))


def _is_late(statement: ast.stmt) -> bool:
    return not (isinstance(statement, ast.ImportFrom) and statement.module == "__future__")


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


@cache
def _given() -> dict[str, CodeType]:
    """Return the cells that the assignment gives to everyone, compiled: in the fork-server, once for all."""
    sources = json.loads((files("autograder.sandbox.inside") / "given_cells.json").read_text("utf-8"))
    return {source: compile(source, "<given>", "exec", dont_inherit=True) for source in sources}


@cache
def _translator() -> Any:
    """Return IPython's input transformer, without importing the rest of IPython, which is large and does much.

    An empty package of that name stands in for it while the one module is imported, and nothing of it stays behind.
    """
    package = ModuleType("IPython")
    found = importlib.util.find_spec("IPython")
    assert found
    assert found.submodule_search_locations
    package.__path__ = list(found.submodule_search_locations)
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "IPython"}
    sys.modules["IPython"] = package
    try:
        return importlib.import_module("IPython.core.inputtransformer2").TransformerManager()
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "IPython"]:
            del sys.modules[name]
        sys.modules.update(kept)
