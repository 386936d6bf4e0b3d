"""Looking at one object of a submission again and again, and encoding it only when something in it has changed.

After every operation every object is looked at, and most of the time most of them are as they were. So what the usual
kinds of values hold (ints, lists of ints, tensors on the CPU) is compared as it is, a fraction of the work of encoding.
"""

from collections.abc import Callable
from typing import Any

import torch

from autograder.sandbox.encode import raw_bytes

# Taken before student code runs.
_type, _int, _list, _set, _map, _tuple = type, int, list, set, map, tuple
_getattr, _Tensor = getattr, torch.Tensor
_NOTHING, _INTS = frozenset[type](), frozenset((int,))
_UNKNOWN = object()


class View:
    """One object, and how it was when it was last looked at; ``fields`` are (name on the wire, attribute)."""

    __slots__ = ("_held", "_owner", "encoded", "fields")

    def __init__(self, owner: Any, fields: tuple[tuple[str, str], ...]) -> None:
        self._owner, self.fields = owner, fields
        self._held: dict[str, Any] = {}
        self.encoded: dict[str, Any] = {}

    def look(self, encode: Callable[[Any], Any]) -> bool:
        """Bring ``encoded`` up to date; return whether anything in it changed."""
        changed = False
        for name, attribute in self.fields:
            try:
                value = _getattr(self._owner, attribute)
                held = _hold(value)
                if held is not _UNKNOWN and self._held.get(name, _UNKNOWN) == held:
                    continue
                encoded = encode(value)
            except BaseException:
                held, encoded = _UNKNOWN, {"other": "missing"}
            self._held[name] = held
            if name not in self.encoded or self.encoded[name] != encoded:
                self.encoded = {**self.encoded, name: encoded}
                changed = True
        return changed


def _hold(value: Any) -> Any:
    """Return a value's content for comparison, of types that compare honestly, or ``_UNKNOWN`` for other kinds."""
    kind = _type(value)
    if kind is _int:
        return value
    if kind is _list:
        return _tuple(value) if _set(_map(_type, value)) in (_NOTHING, _INTS) else _UNKNOWN
    if kind is _Tensor and value.is_cpu:
        content = raw_bytes(value)
        return _UNKNOWN if content is None else (content, value.dtype, _tuple(value.shape))
    return _UNKNOWN
