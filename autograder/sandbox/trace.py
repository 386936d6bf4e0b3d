"""Replies of a child, checked by exact type before anyone relies on them."""

from collections.abc import Callable, Sequence
from typing import Any

from autograder.sandbox.protocol import Frame, ProtocolError

Trace = list[dict[str, Any]]
"""Per operation: ``returned`` or ``raised``, and ``state``; a tensor's ``blob`` has become its ``bytes``."""

_MAX_DEPTH, _MAX_TEXT = 12, 400
_MANAGER = {"num_blocks", "block_size", "free", "pool"}
_REQUEST = {"seq_len", "table"}


def trace_of(frame: Frame, count: int) -> Trace:
    """Return the trace of ``count`` operations, ``state`` given in full each time. ProtocolError for anything else."""
    observations = _exact(frame.data.get("trace"), list)
    _require(len(frame.data) == 1 and len(observations) == count, "a trace of another length")
    trace: Trace = []
    state: dict[str, Any] = {"managers": {}, "requests": {}}
    for observation in observations:
        seen = _exact(observation, dict)
        _require(seen.keys() in ({"returned", "state"}, {"raised", "state"}), "not an observation")
        if seen["state"] is not None:
            state = _changed(state, seen["state"], frame.blobs)
        if "returned" in seen:
            trace.append({"returned": _value(seen["returned"], frame.blobs, 0), "state": state})
        else:
            trace.append({"raised": _raised(seen["raised"]), "state": state})
    return trace


def errors_of(loaded: object) -> list[dict[str, Any]]:
    """Return the errors noted while a submission's cells ran."""
    errors: list[dict[str, Any]] = _exact(_exact(loaded, dict).get("errors"), list)
    for error in errors:
        _require(_exact(error, dict).keys() == {"cell", "name", "line", "text"}, "not an error of a cell")
        _exact(error["cell"], int), _text(error["name"]), _text(error["text"])
        _require(error["line"] is None or type(error["line"]) is int, "not a line")
    return errors


def _changed(state: dict[str, Any], changes: object, blobs: Sequence[bytes]) -> dict[str, Any]:
    """Return the state after ``changes``; what did not change stays the same object."""
    both = _exact(changes, dict)
    _require(both.keys() == {"managers", "requests"}, "not a state")
    after = {}
    for kind, names in (("managers", _MANAGER), ("requests", _REQUEST)):
        after[kind] = dict(state[kind])
        for label, parts in _exact(both[kind], dict).items():
            if parts is None:
                after[kind].pop(label, None)
                continue
            _require(_exact(parts, dict).keys() == names, "not a state")
            after[kind][label] = {name: _value(parts[name], blobs, 0) for name in names}
    return after


def _value(value: Any, blobs: Sequence[bytes], depth: int) -> Any:
    if type(value) is int or value is None:
        return value
    _require(type(value) is dict and len(value) == 1 and depth <= _MAX_DEPTH, "not a value")
    [(tag, content)] = value.items()
    check = _CHECKS.get(tag)
    _require(check is not None, "an unknown tag")
    assert check is not None
    return {tag: check(content, blobs, depth)}


def _items(content: Any, blobs: Sequence[bytes], depth: int) -> Any:
    if set(map(type, _exact(content, list))) <= {int}:
        return content
    return [_value(item, blobs, depth + 1) for item in content]


def _entries(content: Any, blobs: Sequence[bytes], depth: int) -> Any:
    return {key: _value(item, blobs, depth + 1) for key, item in _exact(content, dict).items()}


def _tensor(content: Any, blobs: Sequence[bytes], _: int) -> Any:
    tensor = _exact(content, dict)
    _require(tensor.keys() | {"blob"} == {"dtype", "shape", "device", "blob"}, "not a tensor")
    _text(tensor["dtype"]), _text(tensor["device"])
    _require(set(map(type, _exact(tensor["shape"], list))) <= {int}, "not a shape")
    if "blob" not in tensor:
        return tensor
    index = _exact(tensor.pop("blob"), int)
    _require(0 <= index < len(blobs), "no such blob")
    tensor["bytes"] = blobs[index]
    return tensor


def _float(content: Any, *_: object) -> str:
    try:
        float.fromhex(_text(content))
    except (ValueError, OverflowError):
        raise ProtocolError("not a float") from None
    return str(content)


def _word(content: Any, *_: object) -> str:
    return _text(content)


_CHECKS: dict[str, Callable[[Any, Sequence[bytes], int], Any]] = {
    "list": _items,
    "tuple": _items,
    "sequence": _items,
    "dict": _entries,
    "tensor": _tensor,
    "float": _float,
    "str": _word,
    "other": _word,
}


def _raised(raised: object) -> dict[str, Any]:
    error: dict[str, Any] = _exact(raised, dict)
    _require(error.keys() == {"name", "bases", "text", "oom", "blank", "missing"}, "not an exception")
    _text(error["name"]), _text(error["text"]), _exact(error["oom"], bool)
    for name in ("blank", "missing"):
        _require(error[name] is None or type(error[name]) is str, "not a name")
    _require(set(map(type, _exact(error["bases"], list))) <= {str}, "not names of classes")
    return error


def _text(value: object) -> str:
    text: str = _exact(value, str)
    _require(len(text) <= _MAX_TEXT, "too long a text")
    return text


def _exact(value: Any, kind: type) -> Any:
    _require(type(value) is kind, f"not a {kind.__name__}")
    return value


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ProtocolError(otherwise)
