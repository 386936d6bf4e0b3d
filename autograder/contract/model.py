"""The reference model: what a right submission does, in pure Python, with block ids of the model's own choosing."""

from dataclasses import dataclass, field
from typing import Any, Literal

from autograder.contract.cell_bytes import poison
from autograder.contract.operations import DTYPE_BYTES, Operation

Outcome = Literal["ok", "OOM", "ValueError"]


@dataclass
class ReferenceRequest:
    """A request as the contract describes it."""

    seq_len: int
    table: list[int] = field(default_factory=list)
    request_id: int = 0


@dataclass
class ReferencePool:
    """A pool of blocks: which are free, and the raw bytes in them."""

    num_blocks: int
    block_size: int
    head_dim: int
    dtype: str
    free: list[int]
    content: bytes = b""

    @property
    def row_bytes(self) -> int:
        """Bytes of one token's row."""
        return self.head_dim * DTYPE_BYTES[self.dtype]

    def rows(self, table: list[int], seq_len: int, content: bytes | None = None) -> bytes:
        """Return the rows of ``table`` in its order, cut at ``seq_len``: the logical cache, as bytes."""
        size = self.block_size * self.row_bytes
        content = self.content if content is None else content
        return b"".join(content[b * size : (b + 1) * size] for b in table)[: seq_len * self.row_bytes]


@dataclass(frozen=True)
class Expected:
    """How a call must end; ``value`` is what it must return where the contract fixes that."""

    outcome: Outcome
    value: Any = None


class ReferenceModel:
    """Executes operations; after each, ``pools`` and ``requests`` hold the right state, up to renaming of blocks."""

    def __init__(self) -> None:
        self.pools: dict[str, ReferencePool] = {}
        self.requests: dict[str, ReferenceRequest] = {}

    def apply(self, operation: Operation) -> Expected:
        """Execute one operation and say how it must end."""
        if operation.name == "fill":
            self.pools[operation.args[0]].content = operation.payload
            return Expected("ok")
        expected = getattr(self, f"_{operation.name}")(*operation.args)
        assert isinstance(expected, Expected)
        return expected

    def _new(self, m: str, num_blocks: int, block_size: int, head_dim: int, dtype: str, _device: str) -> Expected:
        if m in self.pools:
            self.requests.clear()
        self.pools[m] = ReferencePool(num_blocks, block_size, head_dim, dtype, list(range(num_blocks)))
        return Expected("ok")

    def _request(self, r: str, request_id: int, prompt_len: int) -> Expected:
        if request_id < 0 or prompt_len <= 0:
            return Expected("ValueError")
        self.requests[r] = ReferenceRequest(prompt_len, request_id=request_id)
        return Expected("ok")

    def _prefill(self, m: str, r: str) -> Expected:
        pool, request = self.pools[m], self.requests[r]
        if request.table:
            return Expected("ValueError")
        needed = -(-request.seq_len // pool.block_size)
        if needed > len(pool.free):
            return Expected("OOM")
        request.table = pool.free[:needed]
        del pool.free[:needed]
        return Expected("ok")

    def _decode(self, m: str, r: str) -> Expected:
        pool, request = self.pools[m], self.requests[r]
        if request.seq_len == len(request.table) * pool.block_size:
            if not pool.free:
                return Expected("OOM")
            request.table.append(pool.free.pop(0))
        request.seq_len += 1
        return Expected("ok")

    def _release(self, m: str, r: str) -> Expected:
        pool, request = self.pools[m], self.requests[r]
        ids, free = request.table, set(pool.free)
        valid = len(set(ids)) == len(ids) and all(0 <= b < pool.num_blocks and b not in free for b in ids)
        if not ids or not valid:
            return Expected("ValueError")
        pool.free += ids
        request.table = []
        return Expected("ok")

    def _report(self, m: str, r: str) -> Expected:
        pool, request = self.pools[m], self.requests[r]
        allocated = len(request.table) * pool.block_size
        return Expected(
            "ok",
            {
                "logical_tokens": request.seq_len,
                "allocated_tokens": allocated,
                "unused_tail_tokens": allocated - request.seq_len,
                "utilization": request.seq_len / allocated if allocated else 0.0,
            },
        )

    def _read(self, m: str, r: str) -> Expected:
        pool, request = self.pools[m], self.requests[r]
        if not request.table or any(not 0 <= b < pool.num_blocks for b in request.table):
            return Expected("ValueError")
        return Expected("ok", pool.rows(request.table, request.seq_len) if pool.content else None)

    def _place(self, r: str, ids: list[int], seq_len: int) -> Expected:
        self.requests[r] = ReferenceRequest(seq_len, list(ids), self.requests[r].request_id)
        return Expected("ok")

    def _attributes(self, label: str) -> Expected:
        pool, request = self.pools.get(label), self.requests.get(label)
        if request:
            return Expected("ok", {"request_id": request.request_id, "seq_len": request.seq_len})
        assert pool is not None
        names = ("num_blocks", "block_size", "head_dim")
        return Expected("ok", {name: getattr(pool, name) for name in names})

    def _seize(self, m: str, r: str, ids: list[int]) -> Expected:
        pool = self.pools[m]
        self.requests[r].table = list(ids)
        taken = set(ids)
        pool.free = [b for b in pool.free if b not in taken]
        return Expected("ok")

    def _poison(self, m: str, r: str) -> Expected:
        pool, request = self.pools[m], self.requests[r]
        kept = [b * pool.block_size + i for b in request.table for i in range(pool.block_size)][: request.seq_len]
        pool.content = poison(pool.content, pool.row_bytes, pool.dtype, frozenset(kept))
        return Expected("ok")

    def _vacate(self, m: str, r: str) -> Expected:
        self.pools[m].free += self.requests[r].table
        self.requests[r].table = []
        return Expected("ok")

    def _quiet(self, calls: list[list[Any]]) -> Expected:
        return Expected("ok", [self.apply(Operation(name, tuple(args))) for name, *args in calls])

    def _ledger(self, num_blocks: int, block_size: int, *rest: Any) -> Expected:
        dimensions = [n for entry in rest for n in (entry.values() if isinstance(entry, dict) else (entry,))]
        layers, heads, head_dim, dtype_bytes = (*dimensions, 2)[:4]
        if min(num_blocks, block_size, *dimensions) <= 0:
            return Expected("ValueError")
        per_token = 2 * layers * heads * head_dim * dtype_bytes
        per_block = per_token * block_size
        return Expected(
            "ok",
            {
                "kv_bytes_per_token": per_token,
                "kv_bytes_per_block": per_block,
                "total_cache_bytes": per_block * num_blocks,
                "layout_shape": [layers, 2, heads, block_size, head_dim],
            },
        )
