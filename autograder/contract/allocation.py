"""The laws of allocation: who owns which block after a call, compared without caring which ids were chosen."""

from collections.abc import Iterable
from typing import Any

from autograder.contract.model import ReferenceModel, ReferencePool, ReferenceRequest
from autograder.contract.observations import State, ids_of, is_int, kind_of
from autograder.findings import Finding

SIZES = ("num_blocks", "block_size")
COMPARED = (("requests", ("table", "seq_len")), ("managers", (*SIZES, "pool", "free")))
NOTHING: dict[str, Any] = {}


def unchanged(
    before: State, after: State, code: str, operation: str, except_for: tuple[str, ...] = ()
) -> Finding | None:
    """Demand the very same state, the free list's order included; name the first thing that differs."""
    for group, fields in COMPARED:
        now = after[group]
        for name, old in before[group].items():
            new = now.get(name, NOTHING)
            if new is old or name in except_for:
                continue
            for field in fields:
                if old.get(field) != new.get(field):
                    return Finding(code, {"operation": operation, "what": field})
    return None


def others_unchanged(before: State, after: State, operation: str, touched: tuple[str, ...]) -> Finding | None:
    """Demand that a call left alone every request and manager it was not about, and the sizes of its own."""
    found = unchanged(before, after, "changed.other", operation, except_for=touched)
    if found:
        return found
    for name in touched:
        old, new = before["managers"].get(name, NOTHING), after["managers"].get(name, NOTHING)
        for field in SIZES if new is not old else ():
            if old.get(field) != new.get(field):
                return Finding("changed.other", {"operation": operation, "what": field})
    return None


def tokens_unchanged(
    pool: ReferencePool, holders: Iterable[ReferenceRequest], before: Any, after: Any, operation: str
) -> Finding | None:
    """Demand that the rows which hold tokens kept their bytes; what else is in the pool is nobody's concern."""
    if before == after:
        return None
    old, new = (content_of(tensor) for tensor in (before, after))
    if len(old) != len(new):
        return Finding("changed.pool", {"operation": operation})
    for holder in holders:
        if pool.rows(holder.table, holder.seq_len, old) != pool.rows(holder.table, holder.seq_len, new):
            return Finding("changed.pool", {"operation": operation})
    return None


def content_of(tensor: Any) -> bytes:
    """Return the bytes of an observed tensor, empty where there are none."""
    described = tensor.get("tensor") if isinstance(tensor, dict) else None
    content = described.get("bytes") if isinstance(described, dict) else None
    return content if isinstance(content, bytes) else b""


def free_blocks(pool: ReferencePool, seen: dict[str, Any], initial: bool = False) -> Finding | None:
    """Demand that the free list holds exactly the blocks nobody owns, in any order."""
    free = ids_of(seen.get("free"))
    if free is None:
        return Finding("blocks.kind", {"what": "free_blocks", "kind": kind_of(seen.get("free"))})
    if sorted(free) == sorted(pool.free):
        return None
    if initial:
        return Finding("new.initial", {"what": "free_blocks"})
    if any(not 0 <= b < pool.num_blocks for b in free):
        return Finding("blocks.invalid")
    if len(set(free)) != len(free):
        return Finding("blocks.twice")
    return Finding("blocks.shared" if set(free) - set(pool.free) else "blocks.lost")


class TableChange:
    """Compares one request's table after a call with the model, then lets the model adopt the ids that were chosen."""

    def __init__(self, model: ReferenceModel, m: str, r: str, free_before: list[int], table_before: list[int]) -> None:
        self.pool, self.request = model.pools[m], model.requests[r]
        self.free_before, self.table_before = free_before, table_before

    def check(self, operation: str, seen: dict[str, Any]) -> Finding | None:
        """Return what is wrong with the request after ``operation``, or None."""
        table = ids_of(seen.get("table"))
        if table is None:
            return Finding("blocks.kind", {"what": "block_table", "kind": kind_of(seen.get("table"))})
        expected = self.request.table
        if len(table) != len(expected):
            return Finding(wrong_length(operation, len(table) > len(expected)))
        kept = min(len(self.table_before), len(expected))
        if table[:kept] != self.table_before[:kept]:
            return Finding("decode.order")
        chosen = table[kept:]
        if any(not 0 <= b < self.pool.num_blocks for b in chosen):
            return Finding("blocks.invalid")
        if len(set(chosen)) != len(chosen) or not set(chosen) <= set(self.free_before):
            return Finding("blocks.twice")
        if operation in ("prefill", "decode"):
            self.request.table = list(table)
            taken = set(chosen)
            self.pool.free = [b for b in self.free_before if b not in taken]
        return self._check_length(operation, seen.get("seq_len"))

    def _check_length(self, operation: str, seq_len: Any) -> Finding | None:
        if not is_int(seq_len):
            return Finding("blocks.kind", {"what": "seq_len", "kind": kind_of(seq_len)})
        if seq_len != self.request.seq_len:
            return Finding({"prefill": "prefill.length", "decode": "decode.length"}.get(operation, "request.initial"))
        return None


def wrong_length(operation: str, too_long: bool) -> str:
    """Return the rule that ``operation`` broke when it left a table of another length."""
    if operation == "decode":
        return "decode.early" if too_long else "decode.late"
    return {"prefill": "prefill.count", "release": "release.table"}.get(operation, "request.initial")
