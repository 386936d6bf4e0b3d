"""A scenario is a named list of operations that one hidden test case asks of a submission."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import prod
from typing import Self

from autograder.contract.cell_bytes import poison, unique_cells
from autograder.contract.operations import DTYPE_BYTES, Operation
from autograder.contract.questions import question_of
from autograder.contract.quiet import quietly, renamed, without

BY_CALLS = {"seize": "prefill", "vacate": "release"}
"""The call of a submission that does what an operation does by hand."""

Operations = tuple[Operation, ...]


@dataclass(frozen=True)
class Scenario:
    """One hidden case: ``question`` decides what is judged, ``focus`` narrows a ledger to some entries.

    ``operations`` get every request its blocks by the submission's own calls; ``by_hand`` asks the same of states that
    are set by hand, so that a wrong TODO costs nothing elsewhere. It is empty where a case has one form only.
    """

    id: str
    question: str
    operations: Operations
    focus: tuple[str, ...] = ()
    by_hand: Operations = ()

    def followed_by(self, other: "Scenario") -> "Scenario":
        """Return one case that asks for both, one after the other."""
        return replace(self, operations=self.operations + other.operations, by_hand=self.by_hand + other.by_hand)

    @property
    def form_by_hand(self) -> "Scenario":
        """The case with its states set by hand."""
        return replace(self, operations=self.by_hand, by_hand=())

    def without(self, call: str | None) -> "Scenario":
        """Return the case without any call of this name."""
        kept = (without(operation, call) for operation in self.operations)
        return replace(self, operations=tuple(operation for operation in kept if operation))

    def sparing(self, own: str | None) -> "Scenario | None":
        """Return the case with real prefills and its ``own`` calls, but releases by hand and nothing asked on the way.

        None where it has no such call.
        """
        asked = {"read", "report", "attributes"} - {own}
        spared = tuple(renamed(o, {"release": "vacate"}) for o in self.operations if o.name not in asked)
        return None if spared == self.operations else replace(self, operations=spared)


def by_calls(operations: Iterable[Operation]) -> Operations:
    """Return operations in which requests get their blocks, and lose them, by the submission's own calls."""
    return tuple(renamed(operation, BY_CALLS) for operation in operations)


class Script:
    """Writes operations down in reading order: ``Script().new(8, 4).request("A", 6).prefill("A")``."""

    def __init__(self, dtype: str = "float32", device: str = "cpu") -> None:
        self.operations: list[Operation] = []
        self.dtype = dtype
        self._device = device
        self._m = "m"
        self._shapes: dict[str, tuple[int, int, int]] = {}
        self._ids = 0

    def _add(self, name: str, *args: object, payload: bytes = b"") -> Self:
        self.operations.append(Operation(name, args, payload))
        return self

    def new(self, num_blocks: int, block_size: int, head_dim: int = 2, m: str = "m") -> Self:
        """Make a manager; the calls that follow are about it."""
        self._m = m
        self._shapes[m] = (num_blocks, block_size, head_dim)
        return self._add("new", m, num_blocks, block_size, head_dim, self.dtype, self._device)

    def on(self, m: str) -> Self:
        """Let the calls that follow be about another manager."""
        self._m = m
        return self

    def request(self, r: str, prompt_len: int, request_id: int | None = None) -> Self:
        """Make a request; ids count up from 7, so that none of them is a block id by accident."""
        self._ids += 1
        return self._add("request", r, self._ids + 6 if request_id is None else request_id, prompt_len)

    def prefill(self, *rs: str) -> Self:
        """Prefill each request in turn."""
        for r in rs:
            self._add("prefill", self._m, r)
        return self

    def arrive(self, r: str, prompt_len: int) -> Self:
        """Make a request and prefill it."""
        return self.request(r, prompt_len).prefill(r)

    def decode(self, r: str, times: int = 1) -> Self:
        """Append tokens, one call each."""
        for _ in range(times):
            self._add("decode", self._m, r)
        return self

    def release(self, r: str) -> Self:
        """Release a request."""
        return self._add("release", self._m, r)

    def attributes(self, label: str) -> Self:
        """Look at the numbers that a manager or a request keeps."""
        return self._add("attributes", label)

    def report(self, r: str) -> Self:
        """Ask for a request's report."""
        return self._add("report", self._m, r)

    def read(self, r: str) -> Self:
        """Reconstruct a request's cache."""
        return self._add("read", self._m, r)

    def fill(self, seed: int = 0) -> Self:
        """Put a different value into every cell of the pool."""
        return self._add("fill", self._m, payload=unique_cells(prod(self._shapes[self._m]), self.dtype, seed))

    def clear(self) -> Self:
        """Put zero into every cell of the pool."""
        return self._add("fill", self._m, payload=bytes(prod(self._shapes[self._m]) * DTYPE_BYTES[self.dtype]))

    def fill_only(self, ids: Sequence[int], seq_len: int) -> Self:
        """Fill the rows a table of ``ids`` names up to ``seq_len``; everything else becomes NaN."""
        _, size, dim = self._shapes[self._m]
        keep = [b * size + i for b in ids for i in range(size)][:seq_len]
        cells = unique_cells(prod(self._shapes[self._m]), self.dtype)
        content = poison(cells, dim * DTYPE_BYTES[self.dtype], self.dtype, set(keep))
        return self._add("fill", self._m, payload=content)

    def place(self, r: str, ids: Sequence[int], seq_len: int) -> Self:
        """Set a request's table and length by hand."""
        return self._add("place", r, list(ids), seq_len)

    def hold(self, r: str, ids: Sequence[int], seq_len: int, request_id: int | None = None) -> Self:
        """Make a request that already owns ``ids``, taken from the free list by hand."""
        return self.request(r, seq_len, request_id)._add("seize", self._m, r, list(ids))

    def vacate(self, r: str) -> Self:
        """Give a request's blocks back by hand."""
        return self._add("vacate", self._m, r)

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """Have what is written meanwhile carried out with no look at the state but one at its end."""
        start = len(self.operations)
        yield
        self.operations[start:] = [quietly(self.operations[start:])]

    def ledger(self, *args: int | dict[str, int]) -> Self:
        """Ask for the capacity ledger; what stands in a dict is passed by keyword."""
        return self._add("ledger", *args)

    def scattered(self, lengths: Mapping[str, int], filler: int = 2) -> Self:
        """Make requests of these lengths whose tables interleave, out of order, whichever free block is taken first."""
        with self.quietly():
            self.arrive("filler", filler * self._shapes[self._m][1])
            for r in lengths:
                self.arrive(r, 1)
            self.release("filler")
            for length in range(2, max(lengths.values()) + 1):
                for r in (r for r, wanted in lengths.items() if length <= wanted):
                    self.decode(r)
        return self

    def again_and_again(self, times: int) -> Self:
        """Make a request, prefill it, and release it, so many times."""
        with self.quietly():
            for i in range(times):
                self.arrive(f"again{i % 7}", 1 + i % 3).release(f"again{i % 7}")
        return self

    def poison(self, r: str) -> Self:
        """Turn every row of the pool that holds no token of ``r`` into NaN."""
        return self._add("poison", self._m, r)

    def scenario(self, id: str, focus: Sequence[str] = (), calls: "Script | None" = None) -> Scenario:
        """Return what was written down as the scenario of case ``id``; ``calls`` is its other form."""
        hand = tuple(self.operations)
        own = tuple(calls.operations) if calls else by_calls(hand)
        return Scenario(id, question_of(id), own, tuple(focus), () if own == hand else hand)
