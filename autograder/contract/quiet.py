"""Quiet calls: a stretch of calls of which only the ends are noted, and one look at the state afterwards.

Looking after every call costs more than the call, and lists of a thousand free blocks are long. So cases of real size
look at checkpoints only. What a checkpoint shows is compared up to renaming of blocks, as everywhere; a case that fails
is asked for again with its calls spoken aloud, and that comparison tells which call was wrong, and how.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from autograder.contract import allocation
from autograder.contract.model import Expected, ReferenceModel, ReferenceRequest
from autograder.contract.observations import State, ids_of, is_int, not_a_number, not_ids
from autograder.contract.operations import QUIET_CALLS, Operation
from autograder.findings import Finding

CHANGES_A_REQUEST = frozenset({"prefill", "decode", "release", "seize", "vacate"})


def calls_of(operation: Operation) -> tuple[Operation, ...]:
    """Return the calls of a quiet operation as operations of their own; any other operation is its only one."""
    if operation.name != "quiet":
        return (operation,)
    return tuple(Operation(name, tuple(args)) for name, *args in operation.args[0])


def spoken_aloud(operations: Iterable[Operation]) -> tuple[Operation, ...]:
    """Return the same calls with every quiet one made a plain operation, after which the state is observed."""
    return tuple(call for operation in operations for call in calls_of(operation))


def quietly(operations: Iterable[Operation]) -> Operation:
    """Return one quiet operation that carries out ``operations``."""
    return Operation("quiet", ([operation.to_wire() for operation in operations],))


def hushed(operations: Iterable[Operation]) -> tuple[Operation, ...]:
    """Return the same calls with every stretch that may be quiet made one operation."""
    stretches = groupby(operations, key=lambda operation: operation.name in QUIET_CALLS)
    return tuple(o for quiet, stretch in stretches for o in ((quietly(stretch),) if quiet else stretch))


def without(operation: Operation, name: str | None) -> Operation | None:
    """Return an operation without the calls of this name; None where nothing is left."""
    kept = [call for call in calls_of(operation) if call.name != name]
    if operation.name != "quiet":
        return operation if kept else None
    return quietly(kept)


def renamed(operation: Operation, names: dict[str, str]) -> Operation:
    """Return an operation whose calls of these names have become calls of the others, on the same request."""
    if operation.name == "quiet":
        return quietly(renamed(call, names) for call in calls_of(operation))
    if operation.name not in names:
        return operation
    return replace(operation, name=names[operation.name], args=operation.args[:2])


@dataclass
class Stretch:
    """The model on its way from one checkpoint to the next.

    Blocks chosen on the way have the model's names until the checkpoint shows the submission's. ``before`` holds every
    request as it was: the entries of its table, as long as it is the same table, are named alike on both sides.
    """

    model: ReferenceModel
    managers: dict[str, str] = field(default_factory=dict)
    last_call: dict[str, str] = field(default_factory=dict)
    before: dict[str, tuple[list[int], int, int]] = field(default_factory=dict)
    made: set[str] = field(default_factory=set)

    def run(self, calls: Sequence[Operation]) -> list[Expected]:
        """Carry out ``calls`` on the model and return how each must end."""
        self.made.clear()
        self.before = {r: (q.table, len(q.table), q.seq_len) for r, q in self.model.requests.items()}
        return [self._carry_out(call) for call in calls]

    def _carry_out(self, call: Operation) -> Expected:
        expected = self.model.apply(call)
        self.note(call, expected)
        if call.name == "new":
            self.made.add(call.args[0])
        elif call.name == "seize":
            request = self.model.requests[call.args[1]]
            self.before[call.args[1]] = (request.table, len(request.table), request.seq_len)
        return expected

    def note(self, call: Operation, expected: Expected) -> None:
        """Remember whose manager a request uses, and which call was the last to change it."""
        if call.name == "request":
            self.last_call[call.args[0]] = call.name
        elif call.name in CHANGES_A_REQUEST:
            self.managers[call.args[1]] = call.args[0]
            if expected.outcome == "ok":
                self.last_call[call.args[1]] = call.name

    def known(self, r: str) -> ReferenceRequest:
        """Return the part of a request that was there before and still is."""
        table, length, seq_len = self.before.get(r, ([], 0, 0))
        return ReferenceRequest(seq_len, table[:length] if self.model.requests[r].table is table else [])


def compare_checkpoint(stretch: Stretch, before: State, after: State) -> Finding | None:
    """Return what is wrong with the state after a stretch, or None; then the model has adopted the blocks seen."""
    model = stretch.model
    tables: dict[str, list[int]] = {}
    for r, request in model.requests.items():
        table = ids_of(after["requests"].get(r, {}).get("table"))
        if table is None:
            return not_ids("block_table", after["requests"].get(r, {}).get("table"))
        found = _of_request(stretch, r, table, after["requests"][r].get("seq_len"))
        if found:
            return found
        if request.table:
            tables[r] = table
    for m in model.pools:
        held = {r: table for r, table in tables.items() if stretch.managers.get(r) == m}
        found = _of_manager(stretch, m, held, before["managers"].get(m, {}), after["managers"].get(m, {}))
        if found:
            return found
    for r, table in tables.items():
        model.requests[r].table = list(table)
    return None


def _of_request(stretch: Stretch, r: str, table: list[int], seq_len: Any) -> Finding | None:
    request, call = stretch.model.requests[r], stretch.last_call.get(r, "")
    if len(table) != len(request.table):
        return Finding(allocation.wrong_length(call, len(table) > len(request.table)))
    known = stretch.known(r).table
    if table[: len(known)] != known:
        return Finding("decode.order")
    if call in ("release", "vacate"):
        return None
    if not is_int(seq_len):
        return not_a_number("seq_len", seq_len)
    if seq_len != request.seq_len:
        return Finding({"prefill": "prefill.length", "decode": "decode.length"}.get(call, "request.initial"))
    return None


def _of_manager(
    stretch: Stretch, m: str, held: dict[str, list[int]], old: dict[str, Any], new: dict[str, Any]
) -> Finding | None:
    pool, owned = stretch.model.pools[m], [b for table in held.values() for b in table]
    for name, size in (("num_blocks", pool.num_blocks), ("block_size", pool.block_size)):
        if not is_int(new.get(name)) or new[name] != size:
            return Finding("changed.other", {"operation": "new", "what": name})
    if any(not 0 <= b < pool.num_blocks for b in owned):
        return Finding("blocks.invalid")
    if len(set(owned)) != len(owned):
        return Finding("blocks.twice")
    pool.free = sorted(set(range(pool.num_blocks)) - set(owned))
    kept = [known for r in held if (known := stretch.known(r)).table]
    found = allocation.free_blocks(pool, new)
    if found or not kept or m in stretch.made:
        return found
    return allocation.tokens_unchanged(pool, kept, old.get("pool"), new.get("pool"), "decode")
