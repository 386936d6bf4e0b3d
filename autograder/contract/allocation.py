"""The laws of allocation: who owns which block after a call, compared without caring which ids were chosen."""

from collections.abc import Collection, Iterable
from typing import Any

from autograder.contract.model import ReferenceModel, ReferencePool, ReferenceRequest
from autograder.contract.observations import COLLECTIONS, State, ids_of, is_int, not_a_number, not_ids
from autograder.findings import Finding

SIZES = ("num_blocks", "block_size")
COMPARED = (("requests", ("table", "seq_len")), ("managers", (*SIZES, "pool", "free")))
NOTHING: dict[str, Any] = {}


def unchanged(
    before: State,
    after: State,
    code: str,
    operation: str,
    own: Collection[str] | None = None,
    except_for: Collection[str] = (),
) -> Finding | None:
    """Demand the very same state, the free list's order included; name the first thing that differs.

    ``own`` are the labels that the call was about: a part of another request or manager is named as another's.
    """
    for group, fields in COMPARED:
        now = after[group]
        told_apart = own is not None and any(label in before[group] or label in now for label in own)
        for name, old in before[group].items():
            new = now.get(name, NOTHING)
            if new is old or name in except_for:
                continue
            for field in fields:
                if old.get(field) != new.get(field):
                    others = told_apart and name not in (own or ())
                    return Finding(code, {"operation": operation, "what": f"other_{field}" if others else field})
    return None


def others_unchanged(before: State, after: State, operation: str, touched: tuple[str, ...]) -> Finding | None:
    """Demand that a call left alone every request and manager it was not about, and the sizes of its own."""
    found = unchanged(before, after, "changed.other", operation, own=touched, except_for=touched)
    if found:
        return found
    for name in before["managers"].keys() & set(touched):
        old, new = before["managers"][name], after["managers"].get(name, NOTHING)
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


def pool_shape(pool: ReferencePool, seen: dict[str, Any]) -> Finding | None:
    """Demand a pool with one entry per block, slot and number of the head dimension, in this order."""
    described = seen.get("pool")
    tensor = described.get("tensor") if isinstance(described, dict) else None
    if not isinstance(tensor, dict):
        return Finding("pool.missing")
    right = tensor.get("shape") == [pool.num_blocks, pool.block_size, pool.head_dim]
    return None if right else Finding("pool.shape")


def free_blocks(
    pool: ReferencePool, seen: dict[str, Any], initial: bool = False, operation: str = ""
) -> Finding | None:
    """Demand that the free blocks are exactly those nobody owns, in any collection and any order."""
    free = ids_of(seen.get("free"), COLLECTIONS)
    if free is None:
        return not_ids("free_blocks", seen.get("free"), COLLECTIONS)
    if sorted(free) == sorted(pool.free):
        return None
    if initial:
        return Finding("new.blocks")
    if any(not 0 <= b < pool.num_blocks for b in free):
        return Finding("blocks.invalid")
    twice, listed = len(set(free)) != len(free), set(free)
    if operation == "release" and (twice or listed < set(pool.free)):
        return Finding("release.blocks")
    if twice:
        return Finding("blocks.twice")
    return Finding("blocks.shared" if listed - set(pool.free) else "blocks.lost")


class TableChange:
    """Compares one request's table after a call with the model, then lets the model adopt the ids that were chosen."""

    def __init__(self, model: ReferenceModel, m: str, r: str, free_before: list[int], table_before: list[int]) -> None:
        self.pool, self.request = model.pools[m], model.requests[r]
        self.free_before, self.table_before = free_before, table_before

    def check(self, operation: str, seen: dict[str, Any]) -> Finding | None:
        """Return what is wrong with the request after ``operation``, or None."""
        table = ids_of(seen.get("table"))
        if table is None:
            return not_ids("block_table", seen.get("table"))
        expected = self.request.table
        if operation == "prefill" and not table and self.request.seq_len >= self.pool.block_size:
            return Finding("prefill.commit")
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
        if operation in ("release", "vacate"):
            return None  # what a request that has left says of its length is nobody's concern
        if not is_int(seq_len):
            return not_a_number("seq_len", seq_len)
        if seq_len != self.request.seq_len:
            return Finding({"prefill": "prefill.length", "decode": "decode.length"}.get(operation, "blocks.by_hand"))
        return None


def wrong_length(operation: str, too_long: bool) -> str:
    """Return the rule that ``operation`` broke when it left a table of another length."""
    if operation == "decode":
        return "decode.early" if too_long else "decode.late"
    rules = {"prefill": "prefill.count", "release": "release.table", "request": "request.initial"}
    return rules.get(operation, "blocks.by_hand")
