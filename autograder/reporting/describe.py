"""Operations in words, for the numbered steps of an example."""

from collections.abc import Sequence
from typing import Any

from autograder.reporting.words import Words

ARGUMENTS: dict[str, tuple[str, ...]] = {
    "new": ("manager", "num_blocks", "block_size", "head_dim", "dtype", "device"),
    "request": ("request", "request_id", "prompt_len"),
    "prefill": ("manager", "request"),
    "decode": ("manager", "request"),
    "release": ("manager", "request"),
    "report": ("manager", "request"),
    "read": ("manager", "request"),
    "fill": ("manager",),
    "poison": ("manager", "request"),
    "place": ("request", "ids", "seq_len"),
    "seize": ("manager", "request", "ids"),
    "vacate": ("manager", "request"),
    "attributes": ("label",),
    "real_size": ("num_blocks", "block_size", "calls"),
}


def describe(operation: Sequence[Any], words: Words) -> str:
    """Return one operation, as it travels on the wire, in words."""
    name, *arguments = operation
    if name == "ledger":
        shown = [_by_keyword(entry) if isinstance(entry, dict) else str(entry) for entry in arguments]
        return words.text("step.ledger", arguments=", ".join(shown))
    details = dict(zip(ARGUMENTS.get(name, ()), arguments, strict=False))
    return words.text(f"step.{name}" if name in ARGUMENTS else "step.any", name=name, **details)


def _by_keyword(entry: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in entry.items())
