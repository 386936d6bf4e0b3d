"""Reading observations: whatever came back from a child becomes exact values here, or ``None``."""

from typing import Any, TypeGuard

from autograder.findings import Finding

State = dict[str, dict[str, dict[str, Any]]]
EMPTY_STATE: State = {"managers": {}, "requests": {}}
MAX_TEXT = 80


def is_int(value: Any) -> TypeGuard[int]:
    """An int is an int: a bool, a float and a tagged value are not."""
    return type(value) is int


def kind_of(value: Any) -> str:
    """Return the name of a value's type as the student would call it."""
    if value is None:
        return "None"
    if isinstance(value, dict) and len(value) == 1:
        tag, content = next(iter(value.items()))
        return clean(content if tag == "other" else tag)
    return type(value).__name__


def clean(text: Any) -> str:
    """Return student-made text, short and printable."""
    return "".join(c if c.isprintable() else "?" for c in str(text)[:MAX_TEXT]).encode("utf-8", "replace").decode()


def ids_of(value: Any) -> list[int] | None:
    """Return the block ids in a tagged sequence, or None where it is no sequence of ints."""
    if not isinstance(value, dict) or len(value) != 1:
        return None
    tag, items = next(iter(value.items()))
    if tag not in ("list", "tuple", "sequence") or not isinstance(items, list):
        return None
    return items if all(is_int(item) for item in items) else None


def number_of(value: Any) -> float | None:
    """Return an int or a finite float, else None."""
    if is_int(value):
        return value
    if isinstance(value, dict) and isinstance(value.get("float"), str):
        try:
            return float.fromhex(value["float"])
        except (ValueError, OverflowError):
            return None
    return None


def raised_name(observation: dict[str, Any]) -> str:
    """Return the exception's name as the student would see it, or an empty string where the call returned."""
    raised = observation.get("raised")
    return clean(raised.get("name", "?")) if isinstance(raised, dict) else ""


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


def open_todo(observation: dict[str, Any], blanks: frozenset[str]) -> Finding | None:
    """Say that a TODO is open when the call ended as the starter's does: unimplemented, missing, or still blank."""
    if is_raised(observation, "NotImplementedError"):
        return Finding("open.todo")
    raised = observation.get("raised")
    if isinstance(raised, dict):
        if isinstance(raised.get("missing"), str):
            return Finding("open.missing", {"name": clean(raised["missing"])})
        if raised.get("blank") in blanks:
            return Finding("open.blank")
    if observation.get("returned") == {"other": "ellipsis"}:
        return Finding("open.blank")
    return None
