"""Comparing the capacity ledger, each level judged on the one below it, so that one slip costs its own line only."""

from collections.abc import Sequence
from typing import Any

from autograder.contract.model import ReferenceModel
from autograder.contract.observations import ids_of, is_int, kind_of
from autograder.contract.operations import LEDGER_KEYS, Operation
from autograder.findings import Finding

TOKEN, BLOCK, TOTAL, LAYOUT = LEDGER_KEYS
CODES = {TOKEN: "ledger.token", BLOCK: "ledger.block", TOTAL: "ledger.total"}


def compare_ledger(operation: Operation, returned: Any, focus: Sequence[str]) -> Finding | None:
    """Return what is wrong with the entries in ``focus``, or None.

    A block is right when it equals the model's or the student's own token times the block size; a total likewise.
    """
    entries = returned.get("dict") if isinstance(returned, dict) else None
    if not isinstance(entries, dict):
        return Finding("ledger.answer", {"kind": kind_of(returned)})
    expected = ReferenceModel().apply(operation).value
    num_blocks, block_size = operation.args[:2]
    for key in focus:
        if key not in entries:
            return Finding("ledger.keys", {"name": key})
        value = entries[key]
        if key == LAYOUT:
            if ids_of(value) != expected[LAYOUT]:
                return Finding("ledger.layout")
            continue
        if not is_int(value):
            return Finding("ledger.kind", {"name": key, "kind": kind_of(value)})
        below = {BLOCK: (TOKEN, block_size), TOTAL: (BLOCK, num_blocks)}.get(key)
        follows = below is not None and is_int(entries.get(below[0])) and value == entries[below[0]] * below[1]
        if value != expected[key] and not follows:
            return Finding(CODES[key])
    return None
