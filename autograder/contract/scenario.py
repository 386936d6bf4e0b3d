"""A scenario is a named list of operations that one hidden test case asks of a submission."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Self

from autograder.contract.cell_bytes import poison, unique_cells
from autograder.contract.operations import DTYPE_BYTES, Operation
from autograder.contract.questions import question_of
from autograder.contract.quiet import quietly, renamed


@dataclass(frozen=True)
class Scenario:
    """One hidden case: ``question`` decides what is judged, ``focus`` narrows a ledger to some entries."""

    id: str
    question: str
    operations: tuple[Operation, ...]
    focus: tuple[str, ...] = ()


def set_up_by_calls(scenario: Scenario) -> Scenario:
    """Return the scenario with requests that get their blocks, and lose them, by the submission's own calls."""
    own = {"seize": "prefill", "vacate": "release"}
    return replace(scenario, operations=tuple(renamed(operation, own) for operation in scenario.operations))


class Script:
    """Writes operations down in reading order: ``Script().new(8, 4).request("A", 6).prefill("A")``."""

    def __init__(self, dtype: str = "float32", device: str = "cpu") -> None:
        self.operations: list[Operation] = []
        self.dtype = dtype
        self._device = device
        self._m = "m"
        self._cells = self._rows = self._row_bytes = 0
        self._ids = 0

    def _add(self, name: str, *args: object, payload: bytes = b"") -> Self:
        self.operations.append(Operation(name, args, payload))
        return self

    def new(self, num_blocks: int, block_size: int, head_dim: int = 2, m: str = "m") -> Self:
        """Make a manager; the calls that follow are about it."""
        self._m = m
        self._cells = num_blocks * block_size * head_dim
        self._rows, self._row_bytes = num_blocks * block_size, head_dim * DTYPE_BYTES[self.dtype]
        self._block_size = block_size
        return self._add("new", m, num_blocks, block_size, head_dim, self.dtype, self._device)

    def on(self, m: str) -> Self:
        """Let the calls that follow be about another manager of the same shape."""
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

    def report(self, r: str) -> Self:
        """Ask for a request's report."""
        return self._add("report", self._m, r)

    def read(self, r: str) -> Self:
        """Reconstruct a request's cache."""
        return self._add("read", self._m, r)

    def fill(self, seed: int = 0) -> Self:
        """Put a different value into every cell of the pool."""
        return self._add("fill", self._m, payload=unique_cells(self._cells, self.dtype, seed))

    def fill_only(self, ids: Sequence[int], seq_len: int) -> Self:
        """Fill the rows a table of ``ids`` names up to ``seq_len``; everything else becomes NaN."""
        size = self._block_size
        keep = [b * size + i for b in ids for i in range(size)][:seq_len]
        content = poison(unique_cells(self._cells, self.dtype), self._row_bytes, self.dtype, set(keep))
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

    def scenario(self, id: str, focus: Sequence[str] = ()) -> Scenario:
        """Return what was written down as the scenario of case ``id``."""
        return Scenario(id, question_of(id), tuple(self.operations), tuple(focus))
