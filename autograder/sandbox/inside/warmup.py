"""A rehearsal before the first fork: whatever Python and torch do only once, or learn by repetition, is done here.

The interpreter specialises code that has run a few times, and torch prepares itself at the first call of a kind. Done
in the fork-server, every child inherits it. The stand-in below plays a submission and is right about nothing.
"""

from typing import Any

import torch

from autograder.sandbox.inside.cells import compile_cell, translated
from autograder.sandbox.inside.executor import Executor
from autograder.sandbox.protocol import Decoder, pack

ROUNDS = 12
BLOCKS, SIZE, DIM = 4, 2, 2
PAYLOAD = bytes(BLOCKS * SIZE * DIM * 4)
SCRIPT: list[list[Any]] = [
    ["new", "m", BLOCKS, SIZE, DIM, "float32", "cpu"],
    ["fill", "m"],
    ["request", "A", 1, 3],
    ["request", "B", -1, 3],
    ["seize", "m", "A", [0, 1]],
    ["prefill", "m", "A"],
    ["decode", "m", "A"],
    ["place", "A", [1, 0], 3],
    ["read", "m", "A"],
    ["report", "m", "A"],
    ["vacate", "m", "A"],
    ["release", "m", "A"],
    ["ledger", 1, 2, 3, 4, 5, 6],
]
CELL = "import torch\n\n\nclass Request:\n    def __init__(self, a: int) -> None:\n        self.a = a\n"
MAGICS = "%matplotlib inline\nfiles = !ls\nx = 1\n"


class _Request:
    def __init__(self, request_id: int, prompt_len: int) -> None:
        if request_id < 0:
            raise ValueError("refused")
        self.seq_len = prompt_len
        self.block_table: list[int] = []


class _Pool:
    def __init__(self, num_blocks: int, block_size: int, head_dim: int) -> None:
        self.num_blocks, self.block_size = num_blocks, block_size
        self.physical_kv_cache = torch.zeros(num_blocks, block_size, head_dim)
        self.free_blocks = list(range(num_blocks))

    def allocate_for_prefill(self, _: _Request) -> None:
        raise RuntimeError("refused")

    def allocate_for_decode(self, req: _Request) -> None:
        req.seq_len += 1

    def release_request(self, _: _Request) -> None:
        raise ValueError("refused")

    def allocation_report(self, _: _Request) -> dict[str, Any]:
        return {"tokens": 1, "share": 0.5}

    def get_physical_cache(self, _: _Request) -> torch.Tensor:
        pool = self.physical_kv_cache
        index = torch.tensor([1, 0])
        rows = [torch.cat([pool[0], pool[1]]), torch.stack([pool[0]])[0], pool[index].reshape(-1, DIM)]
        rows += [torch.index_select(pool, 0, index).view(-1, DIM), pool[[0, 1]].flatten(0, 1).clone()]
        return torch.cat(rows)[:1].contiguous()


def _ledger(*sizes: int) -> dict[str, Any]:
    return {"bytes": sum(sizes), "layout": list(sizes)}


def warm_up() -> None:
    """Play the script a few times, over the wire's own coding, and forget it."""
    names = {"KVCacheManager": _Pool, "Request": _Request, "estimate_kv_cache_bytes": _ledger}
    for _ in range(ROUNDS):
        exec(compile_cell(CELL, "<rehearsal>", 0)[0], {})
        translated(MAGICS)
        decoder = Decoder(1 << 20)
        for message in decoder.feed(pack({"cases": [SCRIPT]}, [PAYLOAD])):
            request = message.read()
            executor = Executor(names, request.blobs)
            traces = [[executor.observe(step) for step in case] for case in request.data["cases"]]
            pack({"traces": traces}, executor.encoder.blobs)
