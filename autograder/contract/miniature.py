"""A scenario of real size in a small world: the same calls, on pools that fit into a picture.

A mistake that has nothing to do with size shows in the miniature as well; one that shows at real size alone does not.
"""

from collections.abc import Iterable
from dataclasses import replace

from autograder.contract.model import ReferenceModel
from autograder.contract.operations import Operation
from autograder.contract.shrink import refit

BLOCKS, BLOCK_SIZE, HEAD_DIM, TABLE = 8, 4, 3, 3
"""The most that the small world has: blocks in a pool, tokens in a block, numbers in a row, blocks for a prompt."""


def miniature(operations: Iterable[Operation]) -> tuple[Operation, ...]:
    """Return the operations with every size cut down; lengths stay just below, at or just above whole blocks."""
    operations = tuple(operations)
    pool_of = {o.args[1]: o.args[0] for o in operations if o.name in ("prefill", "seize", "read")}
    sizes: dict[str, int] = {}
    model = ReferenceModel()
    small: list[Operation] = []
    for operation in operations:
        name, args = operation.name, operation.args
        if name == "new":
            sizes[args[0]] = args[2]
            limits = zip(args[1:4], (BLOCKS, BLOCK_SIZE, HEAD_DIM), strict=True)
            args = (args[0], *map(min, limits), *args[4:])
        elif name == "request" and pool_of.get(args[0]) in sizes:
            args = (*args[:2], _length(args[2], sizes[pool_of[args[0]]]))
        elif name == "seize" and args[0] in model.pools and args[1] in model.requests:
            pool, request = model.pools[args[0]], model.requests[args[1]]
            free, turn = sorted(pool.free, reverse=True), len(small) % max(len(pool.free), 1)
            args = (*args[:2], [*free[turn:], *free[:turn]][: -(-request.seq_len // pool.block_size)])
        elif name == "place" and pool_of.get(args[0]) in sizes:
            length = _length(args[2], sizes[pool_of[args[0]]])
            size = min(sizes[pool_of[args[0]]], BLOCK_SIZE)
            args = (args[0], [*range(BLOCKS)][::-1][: -(-length // size)], length)
        small.append(replace(operation, args=args))
        try:
            model.apply(small[-1])
        except KeyError:
            small.pop()  # it is about an object that another call should have made
    return refit(tuple(small))


def _length(length: int, block_size: int) -> int:
    """Return a length of fewer and smaller blocks whose last block is as nearly full as before."""
    size = min(block_size, BLOCK_SIZE)
    blocks = min(-(-length // block_size), TABLE)
    tail = length - (-(-length // block_size) - 1) * block_size
    return (blocks - 1) * size + (size - min(block_size - tail, size - 1) if 2 * tail > block_size else min(tail, size))
