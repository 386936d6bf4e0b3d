"""What a student's own names held while their function ran: "needed_blocks = 4" tells more than a wrong state."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from autograder.lesson.cases import FUNCTIONS
from autograder.lesson.speech import notebook, plural, say

ASKED_FOR = ("needed_blocks", "allocated_blocks", "new_seq_len", "is_new_block_needed", "blocks", "cat_blocks")
LONGEST = 80


@contextmanager
def own_values() -> Iterator[dict[str, Any]]:
    """While active, keep the first value of each name that a TODO asks for, as it was then."""
    kept: dict[str, Any] = {}

    def note(frame: FrameType, event: str, argument: object) -> Any:
        for name in ASKED_FOR:
            if name in frame.f_locals and name not in kept:
                value = frame.f_locals[name]
                kept[name] = list(value) if isinstance(value, list) else value
        return note

    def enter(frame: FrameType, event: str, argument: object) -> Any:
        own = frame.f_globals is notebook.names and frame.f_code.co_name in FUNCTIONS.values()
        return note if own else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        yield kept
    finally:
        sys.settrace(before)


def in_short(value: Any) -> str:
    """Return a value in a few words: a tensor by its shape, many tensors by their number, anything else as Python shows it."""
    parts = list(value) if isinstance(value, (list, tuple)) else []
    if parts and all(hasattr(part, "shape") for part in parts):
        shape = list(parts[0].shape)
        return say(f"{plural(len(parts), 'tensor')} of shape {shape}", f"{len(parts)} 个形状为 {shape} 的张量")
    if hasattr(value, "shape") and list(value.shape):
        return say(f"tensor of shape {list(value.shape)}", f"形状为 {list(value.shape)} 的张量")
    text = repr(value)
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def told_values(values: dict[str, Any]) -> str:
    """Return the line that shows a student their own values, "" where there are none."""
    if not values:
        return ""
    pairs = [f"{name} = {in_short(value)}"
             for name, value in values.items()]  # fmt: skip
    return say("Your values: ", "你的变量：") + say("; ", "；").join(pairs)
