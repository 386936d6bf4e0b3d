"""What a notebook finds around it (display, input, sleep, Colab, plots, Otter), inert, so that its usual lines pass."""

import builtins
import importlib.abc
import importlib.machinery
import sys
import time
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any

_INERT_PACKAGES = frozenset(
    "otter paged_lesson google IPython ipywidgets matplotlib seaborn plotly requests nest_asyncio".split()
)


class Inert:
    """Takes every call, attribute and index, and gives itself back."""

    def __call__(self, *_: Any, **__: Any) -> "Inert":
        return self

    def __getattr__(self, name: str) -> "Inert":
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, _: Any) -> "Inert":
        return self

    def __setitem__(self, *_: Any) -> None:
        return None

    def __iter__(self) -> Iterator["Inert"]:
        return iter((self, self))  # `figure, axes = plt.subplots()`

    def __enter__(self) -> "Inert":
        return self

    def __exit__(self, *_: Any) -> None:
        return None

    def __mro_entries__(self, _: Any) -> tuple[type]:
        return (InertObject,)  # `class Grader(otter.Notebook)`

    def __repr__(self) -> str:
        return ""


INERT = Inert()


class _InertClass(type):
    def __call__(cls, *_: Any, **__: Any) -> Any:
        return INERT


class InertObject(metaclass=_InertClass):
    """What a notebook's own classes derive from when their base is inert: they make inert objects too."""


class _InertModules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] not in _INERT_PACKAGES:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__getattr__"] = INERT.__getattr__


def furnish() -> ModuleType:
    """Return a fresh ``__main__`` for a notebook, registered, with the stand-ins in place."""
    module = ModuleType("__main__")
    module.__dict__.update(
        __builtins__=builtins, get_ipython=INERT, display=INERT, exit=INERT, quit=INERT, In=[], Out={}
    )
    builtins.input = lambda *_: ""
    time.sleep = lambda _: None  # a demonstration that takes its time is not a hang
    sys.modules["__main__"] = module
    sys.meta_path.insert(0, _InertModules())
    return module
