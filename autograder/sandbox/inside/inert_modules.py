"""Packages that are not here, made inert where the student's own code imports them, and those that always are.

An import that the student guards (``try: import google.colab`` ... ``except ImportError``, or ``with suppress(...)``),
where it stands or where it is called from, fails as it does anywhere else where the package is missing: the branch
taken is the one for it.
"""

import ast
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Mapping, Sequence
from types import FrameType, ModuleType
from typing import Any

from autograder.sandbox.inside.cells import source_of
from autograder.sandbox.inside.helper_modules import HelperModules
from autograder.sandbox.inside.inert import INERT, PROGRESS
from autograder.sandbox.limits import INERT_PACKAGES

_ELSEWHERE = ("google",)
"""What is there on Colab only, and nobody's fault: not worth a remark."""
_IMPORT_ERRORS = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
_IMPORT_SYSTEM = ("<frozen importlib._bootstrap", importlib.import_module.__code__.co_filename)


def let_imports_pass(helpers: HelperModules, furniture: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Put furniture, helpers and inert packages where imports look; return the list that will name what was absent.

    ``furniture`` holds the names that a package's modules have for true.
    """
    inert = _Furniture({"tqdm": PROGRESS, **furniture})
    absent = _Absent(inert)
    sys.meta_path.insert(0, inert)
    sys.meta_path.insert(sys.meta_path.index(importlib.machinery.PathFinder), helpers)
    sys.meta_path.append(absent)
    return absent.packages


class _Furniture(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, names: Mapping[str, Mapping[str, Any]]) -> None:
        self._names = names

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        return self.spec(name) if name.partition(".")[0] in INERT_PACKAGES else None

    def spec(self, name: str) -> importlib.machinery.ModuleSpec:
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__.update(__getattr__=INERT.__getattr__, __version__="0")
        module.__dict__.update(self._names.get(module.__name__.partition(".")[0], {}))


class _Absent(importlib.abc.MetaPathFinder):
    def __init__(self, inert: _Furniture) -> None:
        self._inert = inert
        self.packages: list[str] = []

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        parent, _, _ = name.rpartition(".")
        importer = _importer()
        if importer is None or (parent and not _is_inert(parent)) or _guarded(importer):
            return None
        if not parent and name not in _ELSEWHERE:
            self.packages.append(name)
        return self._inert.spec(name)


def _is_inert(name: str) -> bool:
    spec = getattr(sys.modules.get(name), "__spec__", None)
    return isinstance(getattr(spec, "loader", None), _Furniture)


def _importer() -> FrameType | None:
    """Return the frame whose import this is when it runs the student's code; libraries look for one another in vain."""
    frame: FrameType | None = sys._getframe(2)
    while frame and frame.f_code.co_filename.startswith(_IMPORT_SYSTEM):
        frame = frame.f_back
    name = frame.f_code.co_filename if frame else ""
    return frame if name.startswith("<") and not name.startswith("<frozen") else None


def _guarded(importer: FrameType) -> bool:
    """Tell whether the import, or a call that led to it, stands in a block that is meant to catch its failure."""
    frame: FrameType | None = importer
    while frame:
        if frame.f_code.co_filename.startswith("<") and _is_guarded(frame.f_code.co_filename, frame.f_lineno):
            return True
        frame = frame.f_back
    return False


def _is_guarded(name: str, line: int) -> bool:
    try:
        tree = ast.parse(source_of(name))
    except (SyntaxError, ValueError):
        return False
    return any(
        _catches(node) and node.body[0].lineno <= line <= (node.body[-1].end_lineno or line)
        for node in ast.walk(tree)
        if isinstance(node, ast.Try | ast.With)
    )


def _catches(block: ast.Try | ast.With) -> bool:
    if isinstance(block, ast.With):
        suppressed = [item.context_expr for item in block.items if "suppress" in ast.unparse(item.context_expr)]
        return any(map(_names_import_errors, suppressed))
    return any(handler.type is None or _names_import_errors(handler.type) for handler in block.handlers)


def _names_import_errors(expression: ast.expr) -> bool:
    return any(isinstance(node, ast.Name) and node.id in _IMPORT_ERRORS for node in ast.walk(expression))
