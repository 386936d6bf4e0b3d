"""The small world, whole: whatever can happen to two requests in pools of up to 3 blocks of up to 3 tokens.

No random case can say that it met every state. These walks do: each pair of a state, up to renaming of blocks, and a
call that a question judges is met at least once. Of a request a state says that there is none, or for how many blocks
it waits, or how many it holds and how far the last of them is filled.
"""

from collections.abc import Callable, Iterator
from functools import cache

from autograder.contract.families.family import Draft
from autograder.contract.scenario import Scenario

MOST_BLOCKS = LARGEST_BLOCK = 3
SIZES = [(blocks, size) for blocks in range(1, MOST_BLOCKS + 1) for size in range(1, LARGEST_BLOCK + 1)]


@cache
def walks() -> tuple[Scenario, ...]:
    """Return the walks that meet every call of prefill, of decode, and of release.

    Blocks of one token are walked in the case about them, so that no mistake about them costs points twice.
    """
    return (
        _walk("q2.small_scope", _prefills),
        _walk("q3.small_scope", _decodes, least=2),
        _walk("q3.block_size_one", _decodes, most=1),
        _walk("q5.small_scope", _releases),
    )


def _walk(id: str, visit: Callable[[Draft], None], least: int = 1, most: int = LARGEST_BLOCK) -> Scenario:
    script = Draft()
    for blocks, size in (pool for pool in SIZES if least <= pool[1] <= most):
        with script.quietly():
            script.new(blocks, size)
            visit(script)
    return script.scenario(id)


def _prefills(script: Draft) -> None:
    for _ in _beside_every_other(script, by_hand=True):
        refused = set()
        for length in range(1, _longest(script) + 2):
            needed = -(-length // script.pool.block_size)
            if needed in refused:
                continue
            script.arrive("A", length)
            if script.last.outcome == "ok":
                script.prefill("A").vacate("A")
            else:
                refused.add(needed)


def _decodes(script: Draft) -> None:
    for _ in _beside_every_other(script, by_hand=True):
        if script.pool.free:
            script.hold("A", script.pool.free[:1], 1)
            while script.last.outcome == "ok":
                script.decode("A")
            script.vacate("A")


def _releases(script: Draft) -> None:
    """Release what holds nothing; what holds blocks is released all along the other walks."""
    for _ in _beside_every_other(script, by_hand=False):
        for length in range(1, _longest(script) + 2, script.pool.block_size):
            script.request("A", length).release("A")


def _beside_every_other(script: Draft, by_hand: bool) -> Iterator[None]:
    """Stop once beside every state of another request: none, waiting for so many blocks, holding so many tokens."""
    yield
    size = script.pool.block_size
    for length in range(1, _longest(script) + 2, size):
        script.request("B", length)
        yield
    for length in range(1, _longest(script) + 1):
        if by_hand:
            script.hold("B", sorted(script.pool.free)[length // -size :], length)
        else:
            script.arrive("B", length)
        yield
        if by_hand:
            script.vacate("B")
        else:
            script.release("B")


def _longest(script: Draft) -> int:
    """Return the length that fills the whole pool."""
    return script.pool.num_blocks * script.pool.block_size
