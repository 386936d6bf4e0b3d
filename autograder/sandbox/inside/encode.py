"""Values as plain data: what is not one of the known kinds is ``other`` and equals nothing.

Subclasses of int and dict are what they are, read by the methods of int and dict and never by their own.
"""

import ctypes
import itertools
from typing import Any

import numpy
import torch

MAX_ITEMS, MAX_DEPTH, MAX_TEXT, MAX_BITS, MAX_TENSOR_BYTES = 4096, 8, 200, 4096, 4 << 20

# Taken before student code runs: it may replace any of these names elsewhere, by accident or not.
_type, _len, _map, _set, _list, _iter, _sorted = type, len, map, set, list, iter, sorted
_issubclass, _hasattr, _isfinite, _float_hex = issubclass, hasattr, numpy.isfinite, float.hex
_islice, _string_at, _int, _str = itertools.islice, ctypes.string_at, int, str
_bit_length, _true_int, _dict_len, _dict_items = int.bit_length, int.__int__, dict.__len__, dict.items
_type_name = type.__dict__["__name__"].__get__
_Tensor, _Parameter, _strided = torch.Tensor, torch.nn.Parameter, torch.strided
_base = torch._C.TensorBase
_data_ptr, _contiguous, _numel, _element_size = _base.data_ptr, _base.contiguous, _base.numel, _base.element_size
_is_contiguous, _is_neg, _resolve_neg, _detach = _base.is_contiguous, _base.is_neg, _base.resolve_neg, _base.detach
_float64 = numpy.float64
_NUMPY_INTS = frozenset(numpy.dtype(code).type for code in "bBhHiIlLqQ")
_NO_COLLECTIONS = (str, bytes, bytearray, memoryview, type, torch.Tensor)
_DTYPE_NAMES = {v: name for name, v in vars(torch).items() if isinstance(v, torch.dtype)}
_DTYPE_NAMES.update({getattr(torch, name): name for name in ("float16", "bfloat16", "float32", "float64", "int64")})


class Encoder:
    """Encodes the values of one case; the bytes of its tensors gather in ``blobs``, equal bytes once."""

    def __init__(self) -> None:
        self._index: dict[bytes, int] = {}

    @property
    def blobs(self) -> list[bytes]:
        """Return the bytes the encoded tensors refer to, in the order of their numbers."""
        return _list(self._index)

    def encode(self, value: Any, depth: int = 0) -> Any:
        """Return ``value`` as JSON data; never raises for an ordinary Exception of the value's own code."""
        kind = _type(value)
        if kind is _int:
            return value if _bit_length(value) <= MAX_BITS else {"other": "int"}
        if value is None:
            return None
        if depth > MAX_DEPTH:
            return {"other": type_name(value)}
        if kind is list:
            return {"list": self._items(value, depth)} if _len(value) <= MAX_ITEMS else {"other": "list"}
        if kind is _Tensor or kind is _Parameter:
            return self._tensor(value)
        if kind is tuple:
            return {"tuple": self._items(value, depth)} if _len(value) <= MAX_ITEMS else {"other": "tuple"}
        if kind is float or kind is _float64:
            return {"float": _float_hex(value)} if _isfinite(value) else {"other": "float"}
        if kind is _str:
            return {"str": value[:MAX_TEXT]}
        if _issubclass(kind, dict):
            return self._dict(value, depth)
        if kind in _NUMPY_INTS:
            return _int(value)
        if _issubclass(kind, _int) and kind is not bool:
            return self.encode(_true_int(value))
        return self._collection(value, depth)

    def _items(self, values: Any, depth: int) -> list[Any]:
        if _set(_map(_type, values)) == {_int} and _bit_length(max(values)) < 64:
            return _list(values)
        return [self.encode(item, depth + 1) for item in values]

    def _dict(self, value: dict[Any, Any], depth: int) -> Any:
        """Encode what a dict holds, whatever a subclass says; one of other keys than texts is a set of its keys."""
        if _dict_len(value) > MAX_ITEMS:
            return {"other": type_name(value)}
        items = _list(_dict_items(value))
        kinds = {_type(key) for key, _ in items}
        if kinds <= {_str}:
            return {"dict": {key[:MAX_TEXT]: self.encode(item, depth + 1) for key, item in items}}
        return {"set": self._unordered([key for key, _ in items], depth)}

    def _collection(self, value: Any, depth: int) -> Any:
        """Encode what is no list and no tuple but has a length and elements, in their order where it has one."""
        kind = _type(value)
        ordered = _hasattr(kind, "__getitem__")
        looks_like_one = _hasattr(kind, "__len__") and (ordered or _hasattr(kind, "__iter__"))
        if not looks_like_one or _issubclass(kind, _NO_COLLECTIONS):
            return {"other": type_name(value)}
        try:
            items = _list(_islice(_iter(value), MAX_ITEMS + 1))
        except Exception:
            return {"other": type_name(value)}
        if _len(items) > MAX_ITEMS:
            return {"other": type_name(value)}
        return {"sequence": self._items(items, depth)} if ordered else {"set": self._unordered(items, depth)}

    def _unordered(self, items: list[Any], depth: int) -> list[Any]:
        encoded = self._items(items, depth)
        return _sorted(encoded) if _set(_map(_type, encoded)) <= {_int} else encoded

    def _tensor(self, value: Any) -> Any:
        if value.layout is not _strided:
            return {"other": "Tensor"}
        device = "cpu" if value.is_cpu else _str(value.device)
        content = {"dtype": _DTYPE_NAMES.get(value.dtype, "other"), "shape": _list(value.shape), "device": device}
        if device != "cpu":
            return {"tensor": content}
        raw = raw_bytes(value)
        if raw is None:
            return {"other": "Tensor"}
        content["blob"] = self._index.setdefault(raw, _len(self._index))
        return {"tensor": content}


def raw_bytes(value: torch.Tensor) -> bytes | None:
    """Return a CPU tensor's elements as raw bytes in row-major order, None where it is not dense or too large."""
    size = _numel(value) * _element_size(value)
    if size > MAX_TENSOR_BYTES or value.layout is not _strided:
        return None
    if not _is_contiguous(value) or _is_neg(value):
        value = _contiguous(_resolve_neg(_detach(value)))
    return _string_at(_data_ptr(value), size) if size else b""


def type_name(value: object) -> str:
    """Return the name of the value's true type."""
    return _str.__str__(_type_name(_type(value)))[:80]
