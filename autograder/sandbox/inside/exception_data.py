"""An exception of a submission as plain data."""

import builtins
import re
from typing import Any

from autograder.sandbox.inside.encode import MAX_TEXT, type_name

_type, _str, _len = type, str, len
_mro = type.__dict__["__mro__"].__get__
_BUILTIN = {
    error: error.__name__
    for error in vars(builtins).values()
    if isinstance(error, type) and issubclass(error, BaseException)
}
_QUOTED = re.compile(r"'(\w+)'")


def exception_data(error: BaseException) -> dict[str, Any]:
    """Return name, builtin base classes, text, and what else the trusted side asks about an exception."""
    text = message(error)
    bases = [_BUILTIN[kind] for kind in _mro(_type(error)) if kind in _BUILTIN]
    return {
        "name": type_name(error),
        "bases": bases,
        "text": text[:MAX_TEXT],
        "oom": "OOM" in text,
        "blank": _blank(bases, text),
        "missing": None,
    }


def _blank(bases: list[str], text: str) -> str | None:
    """Return the name that a NameError is about; ``...`` where a blank of the starter got into a calculation."""
    if "NameError" in bases:
        name = _QUOTED.search(text)
        return name[1] if name else None
    return "..." if "TypeError" in bases and "ellipsis" in text else None


class Endings:
    """The different ways in which the calls of one quiet operation raised, each told once, and without its text."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self.described: list[dict[str, Any]] = []

    def number(self, error: BaseException) -> int:
        """Return the number of the ending that ``error`` is, from 1."""
        key = (_type(error), "OOM" in message(error))
        number = self._numbers.get(key)
        if number is None:
            self.described.append({**exception_data(error), "text": ""})
            number = self._numbers[key] = _len(self.described)
        return number

    def number_of_missing(self, description: dict[str, Any]) -> int:
        """Return the number of the ending that a name or an object was not there, from 1."""
        if description not in self.described:
            self.described.append(description)
        return self.described.index(description) + 1


def missing(name: str | None, error: str) -> dict[str, Any]:
    """Return the description of a contract name that the submission does not define; None for an object of ours."""
    return {"name": error, "bases": [error], "text": "", "oom": False, "blank": None, "missing": name}


def message(error: BaseException) -> str:
    """Return the exception's text as an exact str, empty when its own code fails."""
    try:
        return _str.__str__(_str(error))
    except BaseException:
        return ""
