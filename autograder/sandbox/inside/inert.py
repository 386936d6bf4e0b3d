"""An object that takes everything and does nothing: it stands in for plots, widgets and packages not here."""

from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any


class Inert:
    """Takes every call, attribute and index, and gives itself back."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        if len(given) == 1 and not named and isinstance(given[0], FunctionType | type):
            return given[0]  # a decorator leaves what it decorates as it is
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

    def __or__(self, _: Any) -> "Inert":
        return self  # `x: Float | None`

    __ror__ = __or__

    def __mro_entries__(self, _: Any) -> tuple[type]:
        return (InertObject,)  # `class Grader(otter.Notebook)`

    def __format__(self, _: str) -> str:
        return ""

    def __repr__(self) -> str:
        return ""


INERT = Inert()


class _InertClass(type):
    def __call__(cls, *_: Any, **__: Any) -> Any:
        return INERT


class InertObject(metaclass=_InertClass):
    """What a notebook's own classes derive from when their base is inert: they make inert objects too."""


class Progress(Inert):
    """``tqdm`` and its like: goes over what it was given, and draws nothing."""

    def __init__(self, iterable: Iterable[Any] = (), *_: Any, **__: Any) -> None:
        self.__dict__["iterable"] = iterable

    def __iter__(self) -> Iterator[Any]:
        return iter(self.__dict__["iterable"])

    def __len__(self) -> int:
        return len(self.__dict__["iterable"])


def steps(*bounds: int, **_: Any) -> Progress:
    """``tqdm.trange``."""
    return Progress(range(*bounds))


PROGRESS = {"tqdm": Progress, "trange": steps, "tqdm_notebook": Progress, "tnrange": steps}
