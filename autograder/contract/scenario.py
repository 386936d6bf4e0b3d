"""A scenario is a named list of operations that one hidden test case asks of a submission."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from autograder.contract.cell_bytes import poison, unique_cells
from autograder.contract.operations import DTYPE_BYTES, Operation

BLANKS = {
    "q1": frozenset({"kv_bytes_per_token", "kv_bytes_per_block", "total_cache_bytes"}),
    "q2": frozenset({"needed_blocks", "allocated_blocks"}),
    "q3": frozenset({"new_seq_len", "is_new_block_needed"}),
    "q4": frozenset({"blocks", "cat_blocks"}),
    "q5": frozenset[str](),
}
"""The starter's blanks per question: a NameError about one of them is an open TODO."""

TODO_OF = {"q1": 1, "q2": 2, "q3": 3, "q4": 4}


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
    calls = (replace(o, name=own[o.name], args=o.args[:2]) if o.name in own else o for o in scenario.operations)
    return replace(scenario, operations=tuple(calls))


class Script:
    """Writes operations down in reading order: ``Script().new(8, 4).request("A", 6).prefill("A")``."""

    def __init__(self, dtype: str = "float32", device: str = "cpu") -> None:
        self.operations: list[Operation] = []
        self.dtype = dtype
        self._device = device
        self._m = "m"
        self._cells = self._rows = self._row_bytes = 0
        self._ids = 0

    def _add(self, name: str, *args: object, payload: bytes = b"") -> "Script":
        self.operations.append(Operation(name, args, payload))
        return self

    def new(self, num_blocks: int, block_size: int, head_dim: int = 2, m: str = "m") -> "Script":
        """Make a manager; the calls that follow are about it."""
        self._m = m
        self._cells = num_blocks * block_size * head_dim
        self._rows, self._row_bytes = num_blocks * block_size, head_dim * DTYPE_BYTES[self.dtype]
        self._block_size = block_size
        return self._add("new", m, num_blocks, block_size, head_dim, self.dtype, self._device)

    def on(self, m: str) -> "Script":
        """Let the calls that follow be about another manager of the same shape."""
        self._m = m
        return self

    def request(self, r: str, prompt_len: int, request_id: int | None = None) -> "Script":
        """Make a request; ids count up from 7, so that none of them is a block id by accident."""
        self._ids += 1
        return self._add("request", r, self._ids + 6 if request_id is None else request_id, prompt_len)

    def prefill(self, *rs: str) -> "Script":
        """Prefill each request in turn."""
        for r in rs:
            self._add("prefill", self._m, r)
        return self

    def arrive(self, r: str, prompt_len: int) -> "Script":
        """Make a request and prefill it."""
        return self.request(r, prompt_len).prefill(r)

    def decode(self, r: str, times: int = 1) -> "Script":
        """Append tokens, one call each."""
        for _ in range(times):
            self._add("decode", self._m, r)
        return self

    def release(self, r: str) -> "Script":
        """Release a request."""
        return self._add("release", self._m, r)

    def report(self, r: str) -> "Script":
        """Ask for a request's report."""
        return self._add("report", self._m, r)

    def read(self, r: str) -> "Script":
        """Reconstruct a request's cache."""
        return self._add("read", self._m, r)

    def fill(self, seed: int = 0) -> "Script":
        """Put a different value into every cell of the pool."""
        return self._add("fill", self._m, payload=unique_cells(self._cells, self.dtype, seed))

    def fill_only(self, ids: Sequence[int], seq_len: int) -> "Script":
        """Fill the rows a table of ``ids`` names up to ``seq_len``; everything else becomes NaN."""
        size = self._block_size
        keep = [b * size + i for b in ids for i in range(size)][:seq_len]
        content = poison(unique_cells(self._cells, self.dtype), self._row_bytes, self.dtype, set(keep))
        return self._add("fill", self._m, payload=content)

    def place(self, r: str, ids: Sequence[int], seq_len: int) -> "Script":
        """Set a request's table and length by hand."""
        return self._add("place", r, list(ids), seq_len)

    def hold(self, r: str, ids: Sequence[int], seq_len: int) -> "Script":
        """Make a request that already owns ``ids``, taken from the free list by hand."""
        return self.request(r, seq_len)._add("seize", self._m, r, list(ids))

    def vacate(self, r: str) -> "Script":
        """Give a request's blocks back by hand."""
        return self._add("vacate", self._m, r)

    def ledger(self, *args: int) -> "Script":
        """Ask for the capacity ledger."""
        return self._add("ledger", *args)

    def scenario(self, id: str, focus: Sequence[str] = ()) -> Scenario:
        """Return what was written down as the scenario of case ``id``."""
        return Scenario(id, id.partition(".")[0], tuple(self.operations), tuple(focus))
