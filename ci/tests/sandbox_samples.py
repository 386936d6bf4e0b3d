"""A right submission, and short ways to show one to a fork-server that all sandbox tests share."""

import atexit
import functools
from collections.abc import Sequence
from typing import Any

from autograder.contract.operations import Operation
from autograder.sandbox.client import Child, Died, ForkServer, Limits

MIB = 1 << 20
SHORT = Limits(load_cpu_s=0.4, case_cpu_s=0.3, idle_s=0.25, wall_s=3, memory_bytes=256 * MIB, reply_bytes=MIB)
PATIENCE = 10
"""What is to come right has the short limits so many times over: a busy machine's CPU seconds are short as well."""

RIGHT = """
import torch

def estimate_kv_cache_bytes(num_blocks, block_size, num_layers, num_kv_heads, head_dim, dtype_bytes=2):
    token = 2 * num_layers * num_kv_heads * head_dim * dtype_bytes
    return {"kv_bytes_per_token": token, "total_cache_bytes": token * block_size * num_blocks}

class Request:
    def __init__(self, request_id, prompt_len):
        self.request_id, self.seq_len, self.block_table = request_id, prompt_len, []

class KVCacheManager:
    def __init__(self, num_blocks, block_size, head_dim):
        self.num_blocks, self.block_size, self.head_dim = num_blocks, block_size, head_dim
        self.physical_kv_cache = torch.zeros(num_blocks, block_size, head_dim)
        self.free_blocks = list(range(num_blocks))

    def allocate_for_prefill(self, req):
        need = -(-req.seq_len // self.block_size)
        if need > len(self.free_blocks):
            raise RuntimeError("OOM")
        req.block_table = [self.free_blocks.pop(0) for _ in range(need)]

    def get_physical_cache(self, req):
        return self.physical_kv_cache[req.block_table].reshape(-1, self.head_dim)[:req.seq_len]
"""

NEW = Operation("new", ("m", 4, 2, 3, "float32", "cpu"))
REQUEST = Operation("request", ("r", 7, 3))
PREFILL = Operation("prefill", ("m", "r"))
READ = Operation("read", ("m", "r"))
LEDGER = Operation("ledger", (2, 3, 4, 5, 6))
CASE = (NEW, REQUEST, PREFILL, READ)


@functools.cache
def shared_server(limits: Limits = SHORT) -> ForkServer:
    """Return the fork-server of these limits, started once per test run."""
    server = ForkServer(limits)
    atexit.register(server.close)
    return server


def spawn() -> Child:
    """Return a fresh child of the shared fork-server."""
    return shared_server().spawn()


def load(*cells: str) -> list[dict[str, Any]]:
    """Return the errors noted while the cells run in a fresh child."""
    with spawn() as child:
        return child.load(cells, room=PATIENCE)


def trace(cells: Sequence[str], operations: Sequence[Operation] = CASE) -> list[dict[str, Any]]:
    """Return what is observed of a submission in a fresh child."""
    with spawn() as child:
        child.load(cells, room=PATIENCE)
        return child.run(operations, PATIENCE)


def answer(body: str) -> Any:
    """Return the observation of ``estimate_kv_cache_bytes``, defined with this body (``import torch`` stands above)."""
    lines = "\n    ".join(body.splitlines())
    return trace([f"import torch\ndef estimate_kv_cache_bytes(*args):\n    {lines}"], [LEDGER])[0]


def death(*cells: str, operations: Sequence[Operation] = ()) -> Died:
    """Return how a fresh child dies of these cells, or of the operations after them."""
    with spawn() as child:
        try:
            child.load(cells)
            child.run(operations)
        except Died as died:
            return died
    raise AssertionError("the child lives")
