"""The reference solution as a canary: a device that is sick stops the run before it costs a student anything."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from autograder.errors import GraderError
from autograder.grading.confined import confined_server
from autograder.grading.one.judge import SubmissionHandle
from autograder.reporting.merge import MACHINE_FAULTS
from autograder.sandbox.client import Server

SOLUTION = """
import torch


def estimate_kv_cache_bytes(num_blocks, block_size, num_layers, num_kv_heads, head_dim, dtype_bytes=2):
    if min(num_blocks, block_size, num_layers, num_kv_heads, head_dim, dtype_bytes) <= 0:
        raise ValueError
    token = 2 * num_layers * num_kv_heads * head_dim * dtype_bytes
    return {
        "kv_bytes_per_token": token,
        "kv_bytes_per_block": token * block_size,
        "total_cache_bytes": token * block_size * num_blocks,
        "layout_shape": [num_layers, 2, num_kv_heads, block_size, head_dim],
    }


class Request:
    def __init__(self, request_id, prompt_len):
        if request_id < 0 or prompt_len <= 0:
            raise ValueError
        self.request_id, self.seq_len, self.block_table = request_id, prompt_len, []


class KVCacheManager:
    def __init__(self, num_blocks, block_size, head_dim, *, dtype=torch.float32, device="cpu"):
        self.num_blocks, self.block_size, self.head_dim = num_blocks, block_size, head_dim
        self.physical_kv_cache = torch.zeros(num_blocks, block_size, head_dim, dtype=dtype, device=device)
        self.free_blocks = list(range(num_blocks))

    def allocate_for_prefill(self, req):
        if req.block_table:
            raise ValueError
        self._take(req, -(-req.seq_len // self.block_size))

    def allocate_for_decode(self, req):
        if not req.block_table:
            raise ValueError
        self._take(req, int(req.seq_len == len(req.block_table) * self.block_size))
        req.seq_len += 1

    def _take(self, req, count):
        if len(self.free_blocks) < count:
            raise RuntimeError("OOM")
        req.block_table += [self.free_blocks.pop(0) for _ in range(count)]

    def get_physical_cache(self, req):
        if not req.block_table or not all(0 <= block < self.num_blocks for block in req.block_table):
            raise ValueError
        return torch.cat([self.physical_kv_cache[block] for block in req.block_table])[: req.seq_len]
"""
"""Right in everything that the device part asks."""


class DeviceUnfit(GraderError):
    """The device failed on the reference solution; the text is one sentence that says what to do."""


@contextmanager
def canary(device: str, allow_weak: bool) -> Iterator[Callable[[], None]]:
    """Give what grades the reference solution on ``device``, and raises DeviceUnfit unless it passes every case."""
    with confined_server(allow_weak, device) as server:
        yield lambda: check(server)


def check(server: Server) -> None:
    """Grade the reference solution; raise DeviceUnfit unless it passes every case."""
    handle = SubmissionHandle(server, (SOLUTION,), lambda finding: finding.code)
    try:
        failed = [case for case, verdict in handle.verdicts.items() if verdict.status != "passed"]
        codes = sorted({v.finding.code for v in handle.verdicts.values() if v.finding})
    finally:
        handle.close()
    if failed:
        raise DeviceUnfit(
            f"The device fails on the reference solution ({', '.join(failed)}: {', '.join(codes)}), so nobody else is "
            "graded on it; what was graded before is kept: see dmesg and nvidia-smi, then go on with --resume."
        )


def watched_over(rows: Iterable[dict[str, Any] | None], check: Callable[[], None]) -> Iterator[dict[str, Any] | None]:
    """Yield the rows of a run, with the canary first, last, and before a row in which the machine was at fault."""
    check()
    for row in rows:
        if row is not None and has_machine_fault(row):
            check()
        yield row
    check()


def has_machine_fault(row: Mapping[str, Any]) -> bool:
    """Tell whether the machine kept something in a journal's row from being judged."""
    return any(note["code"] in MACHINE_FAULTS for note in row.get("notes") or ())
