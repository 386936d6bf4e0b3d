"""A family: a case whose numbers are drawn from ranges that everybody may know, by a seed that only the course does."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

from autograder.contract.model import Expected, ReferenceModel, ReferencePool
from autograder.contract.operations import Operation
from autograder.contract.scenario import Scenario, Script

Range = tuple[int, int]
"""The least and the greatest value."""

HUGE_IDS = (2**31, 2**32 + 1, 2**53 + 1, 2**62)


class Draft(Script):
    """A script that knows what a right submission would have done so far."""

    def __init__(self, dtype: str = "float32") -> None:
        super().__init__(dtype)
        self.model = ReferenceModel()
        self.last = Expected("ok")
        self.calls: Draft | None = None

    def _add(self, name: str, *args: object, payload: bytes = b"") -> Self:
        super()._add(name, *args, payload=payload)
        self.last = self.model.apply(Operation(name, args, payload))
        return self

    @property
    def pool(self) -> ReferencePool:
        """The pool that the calls being written are about."""
        return self.model.pools[self._m]


@dataclass(frozen=True)
class Family:
    """One drawn case: ``draw`` writes it from random numbers within ``ranges``, and nothing else."""

    case: str
    ranges: Mapping[str, Range]
    draw: Callable[..., Draft]
    focus: tuple[str, ...] = ()

    def __call__(self, numbers: random.Random) -> Scenario:
        """Return the scenario that ``numbers`` give."""
        script = self.draw(numbers, **self.ranges)
        return script.scenario(self.case, self.focus, calls=script.calls)


def family(case: str, focus: tuple[str, ...] = (), **ranges: Range) -> Callable[[Callable[..., Draft]], Family]:
    """Make the function below, which takes random numbers and these ranges, the family of ``case``."""
    return lambda draw: Family(case, ranges, draw, focus)


def grown(script: Draft, r: str, blocks: int, request_id: int) -> None:
    """Make a request whose table ends with blocks that another one had before it came: out of order, however taken."""
    size = script.pool.block_size
    late = min(3, blocks // 2) if size < 5 else 1
    script.arrive(f"before {r}", late * size).request(r, (blocks - late) * size, request_id).prefill(r)
    script.release(f"before {r}").decode(r, (late - 1) * size + 1)


def between(numbers: random.Random, limits: Range, least: int = 0, most: int = 1 << 63) -> int:
    """Draw an integer from a range, narrowed to ``least`` and ``most``."""
    low = min(max(limits[0], least), limits[1])
    return numbers.randint(low, max(low, min(limits[1], most)))


def pools_of_all_sizes(numbers: random.Random, num_blocks: Range, block_size: Range) -> list[tuple[int, int]]:
    """Draw pools as (block size, blocks): thousands of small blocks, dozens of large ones, a few that are vast."""
    large = between(numbers, block_size, 101, 256)
    pools = [
        (block_size[0], between(numbers, num_blocks, 1100, 1500)),
        (between(numbers, block_size, 17, 24), between(numbers, num_blocks, 280, 340)),
        (large, between(numbers, num_blocks, 18, 4000 // large)),
        (between(numbers, block_size, 1030), num_blocks[0]),
    ]
    numbers.shuffle(pools)
    return pools


def length_of(numbers: random.Random, blocks: int, block_size: int) -> int:
    """Draw a length that takes exactly so many blocks: mostly just above the last boundary, or just up to the next."""
    above, full = (blocks - 1) * block_size + 1, blocks * block_size
    return numbers.choice((above, full, max(above, full - 1), numbers.randint(above, full)))


def fresh_id(numbers: random.Random, used: set[int]) -> int:
    """Draw a request id that nobody uses now: a small one, mostly used before, or a huge one."""
    drawn: int = numbers.choice([i for i in (*range(1, 9), *HUGE_IDS, numbers.randrange(8, 10**6)) if i not in used])
    return drawn
