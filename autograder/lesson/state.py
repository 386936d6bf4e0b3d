"""A moment of the allocator as plain data, and what must hold at every moment."""

import operator
from typing import Any, NamedTuple

from autograder.lesson.speech import say

Tables = dict[str, tuple[tuple[int, ...], int]]  # name of a request -> (block table, seq_len)


class Snapshot(NamedTuple):
    """Everything the allocator knows at one moment; ``live`` names the requests that have been given room."""

    num_blocks: int
    block_size: int
    free: tuple[int, ...]
    tables: Tables
    live: frozenset[str] = frozenset()


def whole(value: Any) -> int:
    """Return an integer, NumPy's included, as an int, and -1 for anything else: a bool, a float, a tensor."""
    if isinstance(value, bool) or type(value).__module__ == "torch":
        return -1
    try:
        return operator.index(value)
    except TypeError:
        return -1


def snapshot(manager: Any, requests: dict[str, Any], live: frozenset[str] | None = None) -> Snapshot:
    """Copy the state of the manager and its requests; without ``live``, who holds blocks counts as alive."""
    tables = {name: (tuple(map(whole, req.block_table)), whole(req.seq_len)) for name, req in requests.items()}
    alive = frozenset(name for name, (table, _) in tables.items() if table) if live is None else live
    return Snapshot(manager.num_blocks, manager.block_size, tuple(map(whole, manager.free_blocks)), tables, alive)


def homeless(state: Snapshot) -> dict[str, int]:
    """Return how many tokens of each live request have no slot in its blocks."""
    missing = {
        name: seq_len - len(table) * state.block_size
        for name, (table, seq_len) in state.tables.items()
        if name in state.live
    }
    return {name: count for name, count in missing.items() if count > 0}


def claims(state: Snapshot, block: int) -> list[tuple[str, int]]:
    """Return who holds the block: pairs of a request and the entry of its table."""
    return [(name, i) for name, (table, _) in state.tables.items() for i, b in enumerate(table) if b == block]


def slots(state: Snapshot, block: int) -> tuple[str, str]:
    """Return one symbol per slot of a block, and the block's label.

    A letter is a used slot of that request, "." a slot it holds and does not use (tail waste), a space is free, "!" a
    block that is claimed twice, "?" a block that is lost: nobody holds it and it is not free. The label ``A[1]`` says:
    this is entry 1 of A's block table.
    """
    held, times_free = claims(state, block), state.free.count(block)
    label = " ".join([f"{name}[{i}]" for name, i in held] + [say("free", "空闲")] * times_free)
    if not label:
        return "?" * state.block_size, say("lost", "丢失")
    if len(held) + times_free > 1:
        return "!" * state.block_size, label
    if not held:
        return " " * state.block_size, label
    name, i = held[0]
    used = min(max(state.tables[name][1] - i * state.block_size, 0), state.block_size)
    return name * used + "." * (state.block_size - used), label


def broken_invariants(state: Snapshot) -> list[str]:
    """Return the broken rules of a state in words; an empty list means that all hold."""
    owned = [block for table, _ in state.tables.values() for block in table]
    everywhere = [*owned, *state.free]
    broken = []
    if any(block not in range(state.num_blocks) for block in everywhere):
        broken.append(say("A block table or the free list names a block that does not exist.", "出现了不存在的块号。"))
    if len(set(owned)) < len(owned):
        broken.append(say("A block is held twice.", "有的块被占用了两次。"))
    if set(owned) & set(state.free) or len(set(state.free)) < len(state.free):
        broken.append(say("A block is held and free at once, or free twice.", "有的块既被占用又算空闲，或者重复空闲。"))
    if not set(everywhere).issuperset(range(state.num_blocks)):
        broken.append(say("A block is lost: neither held nor free.", "有的块丢失了：既没人占用，也不在空闲列表里。"))
    for name, (table, seq_len) in state.tables.items():
        spare = len(table) * state.block_size - seq_len
        if name in state.live and spare < 0:
            broken.append(say(f"{name} has tokens without a slot.", f"{name} 有 token 没有槽位可放。"))
        if table and seq_len >= 0 and spare >= state.block_size:
            broken.append(say(f"{name} holds a block that it does not need.", f"{name} 多占了用不着的块。"))
    return broken
