# mypy: ignore-errors
"""A right solution in few lines, graded now and then to see that a device is well; never released."""

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
