"""Replies of a child, checked by exact type before anyone relies on them."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from autograder.contract.closed_lists import CONTRACT_NAMES
from autograder.sandbox.limits import MOST_NOTES
from autograder.sandbox.protocol import Frame, ProtocolError

Trace = list[dict[str, Any]]
"""Per operation: ``returned``, ``raised`` or ``ends``, and ``state``; a tensor's ``blob`` has become its ``bytes``."""

_MAX_DEPTH, _MAX_TEXT, _MAX_LINE = 12, 400, 1 << 31
_MAX_ITEMS = 4096  # of a sequence, as the worker's encoder has it
_MAX_DIMENSIONS = 64
_MAX_LARGE = 64  # numbers above 64 bits in one sequence: many could be made to hash alike
_PARTS = (
    ("managers", {"num_blocks", "block_size", "free", "pool"}),
    ("requests", {"seq_len", "table"}),
)
_FAILED, _BROKEN = {"error", "text", "line"}, {"line", "column", "code", "text"}
_NOTES = {
    "cell.failed": _FAILED,
    "cell.went_on": _FAILED,
    "cell.syntax": _BROKEN,
    "cell.newer": {"line", "python"},
    "cell.absent": {"package"},
    "cell.magic": {"magic"},
    "cell.more": {"count"},
}
_NUMBERS = ("line", "column", "count")
_STATE = {"managers", "requests"}
_INTS = {int}
_LARGE = 1 << 63
NOTED_BYTES = 4000
"""What a submission may say in its own words, all its cells together."""
_OBSERVATIONS = ({"returned", "state"}, {"raised", "state"}, {"ends", "raised", "state"})
_RETURNED = {"returned": None}


def traces_of(frame: Frame, counts: Sequence[int]) -> list[Trace]:
    """Return one trace per case, of so many operations each; ProtocolError for anything else.

    ``state`` is given in full each time.
    """
    traces = _exact(frame.data.get("traces"), list)
    _require(len(frame.data) == 1 and len(traces) == len(counts), "another number of traces")
    return [_trace(trace, count, frame) for trace, count in zip(traces, counts, strict=True)]


def _trace(observed: object, count: int, frame: Frame) -> Trace:
    observations = _exact(observed, list)
    _require(len(observations) == count, "a trace of another length")
    trace: Trace = []
    state: dict[str, Any] = {"managers": {}, "requests": {}}
    for observation in observations:
        seen = _exact(observation, dict)
        _require(seen.keys() in _OBSERVATIONS, "not an observation")
        if seen["state"] is not None:
            state = _changed(state, seen["state"], frame.blobs)
        if "ends" in seen:
            trace.append({"ends": _ends(seen["ends"], seen["raised"]), "state": state})
        elif "returned" in seen:
            trace.append({"returned": _value(seen["returned"], frame.blobs, 0), "state": state})
        else:
            trace.append({"raised": _raised(seen["raised"]), "state": state})
    return trace


def notes_of(loaded: object, cells: int) -> list[dict[str, Any]]:
    """Return what was noted while a submission's cells ran, in their order: a code each, and the details that belong
    to it, their texts cut where all together are too long."""
    notes: list[dict[str, Any]] = _exact(loaded, list)
    _require(len(notes) <= MOST_NOTES + 1, "too many notes")
    last, left = 1, NOTED_BYTES
    for note in notes:
        _require(_exact(note, dict).keys() == {"code", "details"}, "not a note")
        code, details = _text(note["code"]), _exact(note["details"], dict)
        _require(code in _NOTES and details.keys() == {"cell", *_NOTES[code]}, "not a note")
        _require(last <= _exact(details["cell"], int) <= cells, "not the same or the next cell")
        last = details["cell"]
        for name in _NOTES[code]:
            if name in _NUMBERS:
                _require(0 <= _exact(details[name], int) < _MAX_LINE, "not a number")
                continue
            details[name] = _text(details[name]).encode("utf-8", "replace")[:left].decode("utf-8", "ignore")
            left -= len(details[name].encode())
    return notes


def _ends(numbers: object, raised: object) -> list[dict[str, Any]]:
    """Return how each call of a quiet operation ended; equal endings are one object."""
    endings: list[dict[str, Any]] = [_RETURNED, *({"raised": _raised(one)} for one in _exact(raised, list))]
    ends = _exact(numbers, list)
    _require(set(map(type, ends)) <= _INTS and (not ends or 0 <= min(ends) <= max(ends) < len(endings)), "not ends")
    return [endings[number] for number in ends]


def _changed(state: dict[str, Any], changes: Any, blobs: Sequence[bytes]) -> dict[str, Any]:
    """Return the state after ``changes``; what did not change stays the same object."""
    if type(changes) is not dict or changes.keys() != _STATE:
        raise ProtocolError("not a state")
    after = {}
    for kind, names in _PARTS:
        changed = changes[kind]
        if type(changed) is not dict:
            raise ProtocolError("not a state")
        if not changed:
            after[kind] = state[kind]
            continue
        after[kind] = now = dict(state[kind])
        for label, parts in changed.items():
            if parts is None:
                now.pop(label, None)
                continue
            if type(parts) is not dict:
                raise ProtocolError("not a state")
            fields = {name: _value(part, blobs, 0) for name, part in parts.items()}
            now[label] = {**now.get(label, {}), **fields}
            if now[label].keys() != names:
                raise ProtocolError("not a state")
    return after


def _value(value: Any, blobs: Sequence[bytes], depth: int) -> Any:
    if type(value) is int or value is None:
        return value
    if type(value) is not dict or len(value) != 1 or depth > _MAX_DEPTH:
        raise ProtocolError("not a value")
    [(tag, content)] = value.items()
    check = _CHECKS.get(tag)
    if check is None:
        raise ProtocolError("an unknown tag")
    return {tag: check(content, blobs, depth)}


def _items(content: Any, blobs: Sequence[bytes], depth: int) -> Any:
    if type(content) is not list:
        raise ProtocolError("not a list")
    if len(content) > _MAX_ITEMS:
        raise ProtocolError("too long a list")
    if set(map(type, content)) <= _INTS:
        if len(content) > _MAX_LARGE and sum(not -_LARGE < number < _LARGE for number in content) > _MAX_LARGE:
            raise ProtocolError("too many large numbers")
        return content
    return [_value(item, blobs, depth + 1) for item in content]


def _entries(content: Any, blobs: Sequence[bytes], depth: int) -> Any:
    return {key: _value(item, blobs, depth + 1) for key, item in _exact(content, dict).items()}


def _tensor(content: Any, blobs: Sequence[bytes], _: int) -> Any:
    tensor = _exact(content, dict)
    _require(tensor.keys() | {"blob"} == {"dtype", "shape", "device", "blob"}, "not a tensor")
    _text(tensor["dtype"]), _text(tensor["device"])
    shape = _exact(tensor["shape"], list)
    _require(set(map(type, shape)) <= _INTS and len(shape) <= _MAX_DIMENSIONS, "not a shape")
    _require(all(0 <= size < _LARGE for size in shape), "not a shape")
    if "blob" not in tensor:
        return tensor
    index = _exact(tensor.pop("blob"), int)
    _require(0 <= index < len(blobs), "no such blob")
    tensor["bytes"] = blobs[index]
    return tensor


def _float(content: Any, *_: object) -> str:
    try:
        _require(math.isfinite(float.fromhex(_text(content))), "not a float")
    except (ValueError, OverflowError):
        raise ProtocolError("not a float") from None
    return str(content)


def _word(content: Any, *_: object) -> str:
    return _text(content)


_CHECKS: dict[str, Callable[[Any, Sequence[bytes], int], Any]] = {
    "list": _items,
    "tuple": _items,
    "sequence": _items,
    "set": _items,
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
    _require(error["missing"] is None or error["missing"] in CONTRACT_NAMES, "not a name of the contract")
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
