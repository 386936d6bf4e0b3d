"""Decoys: calls of ours around and between those of a submission, whose host copies and allocation are known."""

import hashlib
from collections.abc import Sequence
from random import Random, SystemRandom

from autograder.contract.operations import Operation
from autograder.contract.seed import Seed

WATCHED_CALLS = frozenset({"prefill", "decode", "read"})
ALLOCATION = 512
"""CUDA hands out memory in multiples of this, so that a decoy's bytes are counted exactly."""


def drawn_for(seed: Seed) -> Random:
    """Return what decoys are drawn with: the same for the same seed, nobody's numbers with the built-in one."""
    if seed.is_public:
        return SystemRandom()
    return Random(hashlib.sha256(f"{seed.text}\0decoys".encode()).digest())


def watched(operations: Sequence[Operation], draw: Random) -> list[Operation]:
    """Return the operations with a look at the device after each call of the submission that it is about.

    Each such call stands between decoys: host copies and an allocation that the look has to show. In front of some of
    them, at least one, a bait is looked at the same way: a call of ours that copies and allocates in a call's place.
    What was read is looked at again when nothing is under way any more.
    """
    calls = [i for i, operation in enumerate(operations) if operation.name in WATCHED_CALLS]
    baited = draw.sample(calls, draw.randint(1, len(calls)))
    steps: list[Operation] = []
    for i, operation in enumerate(operations):
        if operation.name not in WATCHED_CALLS:
            steps.append(operation)
            continue
        if i in baited:
            steps += [_decoy(draw), Operation("bait", _bite(draw)), Operation("watched", ())]
        steps += [_decoy(draw), operation, Operation("watched", ()), Operation("settle", ())]
        if operation.name == "read":
            steps.append(Operation("again", (0,)))
    return steps


def beside_a_pool(draw: Random) -> Operation:
    """Return the decoy of a plain tensor: an allocation alone, too large to be lost in an allocator's rounding."""
    return Operation("decoy", (0, ALLOCATION * draw.randint(6 << 10, 18 << 10), 0, 0))


def _decoy(draw: Random) -> Operation:
    copies, size, in_thread = _bite(draw)
    return Operation("decoy", (copies, size, draw.randint(1, 4), in_thread))


def _bite(draw: Random) -> tuple[int, int, int]:
    return draw.randint(1, 4), ALLOCATION * draw.randint(1, 64), draw.randint(0, 1)
