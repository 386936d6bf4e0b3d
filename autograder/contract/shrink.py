"""Shrinking a failing scenario to the shortest one that breaks the same rule, in a fixed number of trials.

A small shrinker of our own rather than a library's: operations refer to one another (a read needs its table, a fill its
pool's shape), so most blind deletions are illegal, and the model can tell that for free before a child is asked.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from autograder.contract.cell_bytes import NAN, poison, unique_cells
from autograder.contract.compare import Deviation
from autograder.contract.model import ReferenceModel
from autograder.contract.operations import DTYPE_BYTES, Operation

Operations = tuple[Operation, ...]
Trial = Callable[[Operations], Deviation | None]


def shrink(operations: Sequence[Operation], deviation: Deviation, run: Trial, trials: int) -> Operations:
    """Return the shortest variant found that still breaks the rule of ``deviation``, using at most ``trials`` runs."""
    best = tuple(operations[: deviation.step + 1])
    improved = True
    while improved:
        improved = False
        for candidate in map(legal_part, _smaller(best)):
            if not candidate:
                continue
            if trials == 0:
                return best
            trials -= 1
            found = run(candidate)
            if found and found.finding.code == deviation.finding.code:
                best, improved = candidate[: found.step + 1], True
                break
    return best


def drop_chunks(operations: Operations, fails: Callable[[Operations], bool], trials: int, few: int) -> Operations:
    """Return a part of long ``operations`` that still fails: halves are left out, then quarters, until few are left."""
    size = len(operations) // 2
    while size:
        start = 0
        while start < len(operations) > few:
            candidate = legal_part(operations[:start] + operations[start + size :])
            if trials == 0:
                return operations
            trials -= 1
            if candidate and fails(candidate):
                operations = candidate
            else:
                start += size
        size //= 2
    return operations


def legal_part(operations: Operations) -> Operations:
    """Return the calls that the contract rules on where those before them happened: objects exist, tables fit."""
    model, legal = ReferenceModel(), []
    for operation in operations:
        try:
            if _is_ruled(model, operation):
                model.apply(operation)
                legal.append(operation)
        except (KeyError, IndexError, ValueError):
            continue
    return tuple(legal)


def _is_ruled(model: ReferenceModel, operation: Operation) -> bool:
    name, args = operation.name, operation.args
    if name == "new":
        return bool(min(args[1:4]) > 0)
    if name == "request":
        return args[0] not in model.requests or not model.requests[args[0]].table
    if name == "fill":
        pool = model.pools[args[0]]
        return len(operation.payload) == pool.num_blocks * pool.block_size * pool.row_bytes
    if name == "place":
        return args[2] > 0 and args[0] in model.requests and len(set(args[1])) == len(args[1])
    if name in ("ledger", "release", "prefill"):
        return True
    pool, request = model.pools[args[0]], model.requests[args[1]]
    room = len(request.table) * pool.block_size
    if name == "seize":
        room = len(args[2]) * pool.block_size
        available = set(args[2]) <= set(pool.free) and len(set(args[2])) == len(args[2])
        return available and not request.table and room - pool.block_size < request.seq_len <= room
    if name == "read":
        bad_table = not request.table or any(not 0 <= b < pool.num_blocks for b in request.table)
        return bad_table or room - pool.block_size < request.seq_len <= room
    return bool(request.table)


def _smaller(operations: Operations) -> Iterator[Operations]:
    labels = dict.fromkeys(a for o in operations for a in o.args[:2] if isinstance(a, str))
    for label in labels:
        yield tuple(o for o in operations if label not in o.args)
    size = len(operations) // 2
    while size:
        for start in range(0, len(operations), size):
            yield operations[:start] + operations[start + size :]
        size //= 2
    for i, operation in enumerate(operations):
        for smaller in _smaller_arguments(operation):
            yield refit((*operations[:i], smaller, *operations[i + 1 :]))


def _smaller_arguments(operation: Operation) -> Iterator[Operation]:
    for i, argument in enumerate(operation.args):
        values: Sequence[object] = ()
        if type(argument) is int:
            values = sorted({v for v in (1, 2, argument // 2, argument - 1) if 0 < v < argument})
        elif isinstance(argument, list):
            shorter = [argument[:-1], argument[1:]] if argument else []
            lower = ([*argument[:j], b, *argument[j + 1 :]] for j, a in enumerate(argument) for b in range(max(a, 0)))
            values = [*shorter, *lower]
        for value in values:
            yield replace(operation, args=(*operation.args[:i], value, *operation.args[i + 1 :]))


def refit(operations: Operations) -> Operations:
    """Return operations with every fill made anew for the shape its pool now has."""
    shapes: dict[str, tuple[int, int, int, str]] = {}
    fitted = []
    for i, operation in enumerate(operations):
        if operation.name == "new":
            shapes[operation.args[0]] = operation.args[1:5]
        elif operation.name == "fill":
            operation = replace(operation, payload=_content(shapes[operation.args[0]], operation, operations[i:]))
        fitted.append(operation)
    return tuple(fitted)


def _content(shape: tuple[int, int, int, str], fill: Operation, rest: Operations) -> bytes:
    num_blocks, block_size, head_dim, dtype = shape
    seed = fill.payload[: DTYPE_BYTES[dtype]]
    content = unique_cells(num_blocks * block_size * head_dim, dtype, seed=sum(seed) % 3)
    nan = NAN[dtype].to_bytes(DTYPE_BYTES[dtype], "little")
    if nan not in fill.payload:
        return content
    kept = next((o.args for o in rest if o.name == "place"), ("", [], 0))
    rows = [block * block_size + i for block in kept[1] for i in range(block_size)][: kept[2]]
    return poison(content, head_dim * DTYPE_BYTES[dtype], dtype, set(rows))
