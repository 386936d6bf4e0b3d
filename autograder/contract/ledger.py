"""Comparing the capacity ledger, each level judged on the one below it, so that one slip costs its own line only."""

import ctypes
from collections.abc import Sequence
from typing import Any

from autograder.contract.model import ReferenceModel
from autograder.contract.observations import ids_of, is_int, kind_of
from autograder.contract.operations import LEDGER_KEYS, Operation
from autograder.findings import Finding

TOKEN, BLOCK, TOTAL, LAYOUT = LEDGER_KEYS
CODES = {TOKEN: "ledger.token", BLOCK: "ledger.block", TOTAL: "ledger.total"}
DIMENSIONS = 5
OTHER_DEFAULTS = (4, 8)


def compare_ledger(operation: Operation, returned: Any, focus: Sequence[str]) -> Finding | None:
    """Return what is wrong with the entries in ``focus``, or None.

    A block is right when it equals the model's or the student's own token times the block size; a total likewise. What
    it is built on has to be a positive integer: nothing follows from nothing.
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
        below, factor = {BLOCK: (TOKEN, block_size), TOTAL: (BLOCK, num_blocks)}.get(key, (None, 0))
        base = entries.get(below)
        if value == expected[key] or (is_int(base) and base > 0 and value == base * factor):
            continue
        exact = [expected[key], base * factor] if is_int(base) else [expected[key]]
        if any(value in _inexact(product) for product in exact):
            return Finding("ledger.overflow", {"name": key})
        if len(operation.args) == DIMENSIONS and value in [expected[key] // 2 * size for size in OTHER_DEFAULTS]:
            return Finding("ledger.default")
        return Finding(CODES[key])
    return None


def _inexact(product: int) -> set[int]:
    """Return what becomes of a product in 32 and 64 bits, and in a float; none of it where all of them can hold it."""
    wrapped = {ctypes.c_int32(product).value, ctypes.c_uint32(product).value, ctypes.c_int64(product).value}
    as_float = {int(float(product))} if abs(product) < 1 << 1023 else set()
    return (wrapped | as_float) - {product}
