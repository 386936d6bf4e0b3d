"""Reading observations: whatever came back from a child becomes exact values here, or ``None``."""

import math
from typing import Any, TypeGuard

from autograder.contract.closed_lists import CONTRACT_NAMES, EXCEPTIONS, KINDS, known
from autograder.findings import Finding

State = dict[str, dict[str, dict[str, Any]]]
EMPTY_STATE: State = {"managers": {}, "requests": {}}
BLANK = {"other": "ellipsis"}
LARGEST = 2**63 - 1
ORDERED, COLLECTIONS = ("list", "tuple", "sequence"), ("list", "tuple", "sequence", "set")


def is_int(value: Any) -> TypeGuard[int]:
    """An int is an int: a bool, a float and a tagged value are not."""
    return type(value) is int


def kind_of(value: Any) -> str:
    """Return the name of a value's type, from a closed list."""
    if value is None:
        return "None"
    if isinstance(value, dict) and len(value) == 1:
        tag, content = next(iter(value.items()))
        return known(content if tag == "other" else tag, KINDS)
    return known(type(value).__name__, KINDS)


def ids_of(value: Any, tags: tuple[str, ...] = ORDERED) -> list[int] | None:
    """Return the block ids in a collection of one of these tags, or None where it is no collection of ints."""
    items = _items_of(value, tags)
    return items if items is not None and all(is_int(item) for item in items) else None


def _items_of(value: Any, tags: tuple[str, ...]) -> list[Any] | None:
    if not isinstance(value, dict) or len(value) != 1:
        return None
    tag, items = next(iter(value.items()))
    if tag == "dict" and not items and "set" in tags:
        return []  # a dict of blocks that holds none
    return items if tag in tags and isinstance(items, list) else None


def not_ids(what: str, value: Any, tags: tuple[str, ...] = ORDERED) -> Finding:
    """Say why a value is no collection of block ids: it is not there, no collection, or has something else in it."""
    items = _items_of(value, tags)
    if items is not None:
        return Finding("blocks.entry", {"what": what, "kind": kind_of(next(i for i in items if not is_int(i)))})
    return _of_kind("blocks.kind", what, value)


def not_a_number(what: str, value: Any) -> Finding:
    """Say why a value is no integer: it is not there, or of another kind."""
    return _of_kind("blocks.number", what, value)


def _of_kind(code: str, what: str, value: Any) -> Finding:
    kind = kind_of(value)
    return (
        Finding("blocks.absent", {"what": what}) if kind == "missing" else Finding(code, {"what": what, "kind": kind})
    )


def number_of(value: Any) -> float | None:
    """Return a finite float, or an int that fits 64 bits, else None: either can be compared with any other number."""
    if is_int(value):
        return value if -LARGEST <= value <= LARGEST else None
    if isinstance(value, dict) and isinstance(value.get("float"), str):
        try:
            number = float.fromhex(value["float"])
        except (ValueError, OverflowError):
            return None
        return number if math.isfinite(number) else None
    return None


def raised_name(observation: dict[str, Any]) -> str:
    """Return the name of a builtin exception, a general word for any other, nothing where the call returned."""
    raised = observation.get("raised")
    return known(raised.get("name"), EXCEPTIONS) if isinstance(raised, dict) else ""


def is_raised(observation: dict[str, Any], base: str) -> bool:
    """Tell whether the call raised ``base`` or a subclass of it."""
    raised = observation.get("raised")
    if not isinstance(raised, dict):
        return False
    bases = raised.get("bases")
    return isinstance(bases, list) and base in bases


def is_oom(observation: dict[str, Any]) -> bool:
    """Tell whether the call was refused as P3 demands: a RuntimeError that says OOM and is not an open TODO."""
    return (
        is_raised(observation, "RuntimeError")
        and not is_raised(observation, "NotImplementedError")
        and observation["raised"].get("oom") is True
    )


def is_refusal_without_oom(observation: dict[str, Any]) -> bool:
    """Tell whether the call was refused with a RuntimeError whose text lacks the word OOM."""
    others = any(is_raised(observation, other) for other in ("NotImplementedError", "RecursionError"))
    return is_raised(observation, "RuntimeError") and not others and not is_oom(observation)


def is_removal_of_what_is_not_there(observation: dict[str, Any]) -> bool:
    """Tell whether a list was asked to remove what it does not hold, as the given lines do with wrong blocks."""
    raised = observation.get("raised")
    text = raised.get("text") if isinstance(raised, dict) else None
    return is_raised(observation, "ValueError") and isinstance(text, str) and "not in " in text


def open_todo(observation: dict[str, Any], blanks: frozenset[str]) -> Finding | None:
    """Say that a TODO is open when the call ended as the starter's does: unimplemented, missing, or still blank."""
    if is_raised(observation, "NotImplementedError"):
        return Finding("open.todo")
    raised = observation.get("raised")
    if isinstance(raised, dict):
        if raised.get("missing") in CONTRACT_NAMES:
            return Finding("open.missing", {"name": raised["missing"]})
        if raised.get("blank") in {*blanks, "..."}:
            return Finding("open.blank")
    return Finding("open.blank") if _is_blank(observation.get("returned"), blanks) else None


def _is_blank(returned: Any, blanks: frozenset[str]) -> bool:
    """Tell whether the starter's ``...`` came back, by itself or as every entry that was left blank."""
    if returned == BLANK:
        return True
    entries = returned.get("dict") if isinstance(returned, dict) else None
    own = [entries[name] for name in blanks if name in entries] if isinstance(entries, dict) else []
    return bool(own) and all(entry == BLANK for entry in own)
