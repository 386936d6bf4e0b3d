"""Modules that were handed in beside the notebook: imported from their text, since a child may read no file of them."""

import importlib.abc
import importlib.machinery
import linecache
from collections.abc import Mapping, Sequence
from types import ModuleType


class HelperModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds ``name.py`` and ``name/__init__.py`` among the texts, by their paths beside the notebook."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a helper; a folder with helpers in it is a package too."""
        place = name.replace(".", "/")
        package = f"{place}/__init__.py"
        if f"{place}.py" in self.texts and package not in self.texts:
            return importlib.machinery.ModuleSpec(name, self, origin=f"{place}.py")
        if any(text.startswith(f"{place}/") for text in self.texts):
            return importlib.machinery.ModuleSpec(name, self, origin=package, is_package=True)
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Run the helper's text; a folder without ``__init__.py`` has none."""
        assert module.__spec__
        assert module.__spec__.origin
        path = module.__spec__.origin
        exec(compile(remember(path, self.texts.get(path, "")), helper_name(path), "exec"), module.__dict__)


def helper_name(path: str) -> str:
    """Return the file name under which a helper's lines appear in tracebacks."""
    return f"<{path}>"


def remember(path: str, text: str) -> str:
    """Keep a helper's text for tracebacks and ``inspect.getsource``, and return it."""
    linecache.cache[helper_name(path)] = (len(text), None, text.splitlines(keepends=True), helper_name(path))
    return text
