"""How many blocks are free stands in a number of its own, which the three calls keep right."""

import torch


def estimate_kv_cache_bytes(num_blocks, block_size, num_layers, num_kv_heads, head_dim, dtype_bytes=2):
    if min(num_blocks, block_size, num_layers, num_kv_heads, head_dim, dtype_bytes) <= 0:
        raise ValueError("sizes must be positive")
    per_token = 2 * num_layers * num_kv_heads * head_dim * dtype_bytes
    return {
        "kv_bytes_per_token": per_token,
        "kv_bytes_per_block": per_token * block_size,
        "total_cache_bytes": per_token * block_size * num_blocks,
        "layout_shape": [num_layers, 2, num_kv_heads, block_size, head_dim],
    }


class Request:
    def __init__(self, request_id, prompt_len):
        if request_id < 0 or prompt_len <= 0:
            raise ValueError("bad id or empty prompt")
        self.request_id = request_id
        self.seq_len = prompt_len
        self.block_table = []


class KVCacheManager:
    def __init__(self, num_blocks, block_size, head_dim, *, dtype=torch.float32, device="cpu"):
        if min(num_blocks, block_size, head_dim) <= 0:
            raise ValueError("sizes must be positive")
        self.num_blocks, self.block_size, self.head_dim = num_blocks, block_size, head_dim
        self.physical_kv_cache = torch.zeros(num_blocks, block_size, head_dim, dtype=dtype, device=device)
        self.free_blocks = list(range(num_blocks))
        self.left = num_blocks

    def allocate_for_prefill(self, req):
        if req.block_table:
            raise ValueError("prefilled already")
        count, rest = divmod(req.seq_len, self.block_size)
        count += rest > 0
        if self.left < count:
            raise RuntimeError("OOM: too few are left")
        req.block_table += self.free_blocks[:count]
        del self.free_blocks[:count]
        self.left -= count

    def allocate_for_decode(self, req):
        if not req.block_table:
            raise ValueError("prefill first")
        is_full = req.seq_len % self.block_size == 0
        if is_full and self.left == 0:
            raise RuntimeError("OOM: none is left")
        if is_full:
            req.block_table.append(self.free_blocks.pop(0))
            self.left -= 1
        req.seq_len += 1

    def allocation_report(self, req):
        room = len(req.block_table) * self.block_size
        return {
            "logical_tokens": req.seq_len,
            "allocated_tokens": room,
            "unused_tail_tokens": room - req.seq_len,
            "utilization": req.seq_len / room if room else 0.0,
        }

    def release_request(self, req):
        if not req.block_table:
            raise ValueError("holds nothing")
        owned = set(req.block_table)
        if len(owned) != len(req.block_table) or not owned <= set(range(self.num_blocks)) - set(self.free_blocks):
            raise ValueError("not its own blocks")
        self.free_blocks += req.block_table
        self.left += len(req.block_table)
        req.block_table.clear()

    def get_physical_cache(self, req):
        if not req.block_table or any(not 0 <= b < self.num_blocks for b in req.block_table):
            raise ValueError("bad block table")
        return torch.cat([self.physical_kv_cache[b] for b in req.block_table])[: req.seq_len]
