"""Looking at one object of a submission again and again, and encoding only what has changed in it.

After every operation every object is looked at, and most of the time most of them are as they were. So the usual kinds
of values (ints, lists of ints, tensors on the CPU) are compared as they are, a fraction of the work of encoding.
"""

import marshal
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import torch

from autograder.sandbox.inside.encode import raw_bytes

# Taken before student code runs.
_type, _len, _getattr, _enumerate, _Tensor, _dumps = type, len, getattr, enumerate, torch.Tensor, marshal.dumps
_NO_REFERENCES = 2  # the newest version of marshal's format in which equal values have equal bytes
_NOTHING = object()

Fields = tuple[tuple[str, str], ...]
"""Pairs of a name on the wire and an attribute."""
Hold = Callable[[Any], Any]
Part = tuple[Fields, Hold]
"""Fields that are compared together, and what says how they are now: None where only encoding them can tell."""


class ChangeTracker:
    """One object, and how it was when it was last looked at."""

    __slots__ = ("_encoded", "_held", "_owner", "_parts")

    def __init__(self, owner: Any, parts: tuple[Part, ...]) -> None:
        self._owner, self._parts = owner, parts
        self._held: list[Any] = [None] * _len(parts)
        self._encoded: dict[str, Any] = {}

    def look(self, encode: Callable[[Any], Any]) -> dict[str, Any]:
        """Return the fields that are not as they were at the last look, encoded."""
        changed: dict[str, Any] = {}
        for i, (fields, hold) in _enumerate(self._parts):
            held = hold(self._owner)
            if held is None or held != self._held[i]:
                self._held[i] = held
                self._note_changes(fields, encode, changed)
        return changed

    def _note_changes(self, fields: Fields, encode: Callable[[Any], Any], changed: dict[str, Any]) -> None:
        for name, attribute in fields:
            try:
                encoded = encode(_getattr(self._owner, attribute))
            except BaseException:
                encoded = {"other": "missing"}
            if self._encoded.get(name, _NOTHING) != encoded:
                self._encoded[name] = changed[name] = encoded


def plain(*fields: tuple[str, str]) -> Part:
    """Return a part of numbers and lists of them."""
    get = attrgetter(*(attribute for _, attribute in fields))

    def hold(owner: Any) -> bytes | None:
        try:
            return _dumps(get(owner), _NO_REFERENCES)
        except BaseException:  # marshal takes exact builtin types alone
            return None

    return fields, hold


def tensor(name: str, attribute: str) -> Part:
    """Return a part that is one tensor."""

    def hold(owner: Any) -> Any:
        try:
            value = _getattr(owner, attribute)
            content = raw_bytes(value) if _type(value) is _Tensor and value.is_cpu else None
            return None if content is None else (content, value.dtype, value.shape)
        except BaseException:
            return None

    return ((name, attribute),), hold
