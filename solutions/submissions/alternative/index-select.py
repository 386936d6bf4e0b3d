# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# torch.index_select, then narrow.

# %%
import math

import torch

# %%
def estimate_kv_cache_bytes(num_blocks, block_size, num_layers, num_kv_heads, head_dim, dtype_bytes=2):
    for size in (num_blocks, block_size, num_layers, num_kv_heads, head_dim, dtype_bytes):
        if size < 1:
            raise ValueError(f"{size} is not a size")
    shape = (num_layers, 2, num_kv_heads, block_size, head_dim)
    block = math.prod(shape) * dtype_bytes
    return dict(
        kv_bytes_per_token=block // block_size,
        kv_bytes_per_block=block,
        total_cache_bytes=block * num_blocks,
        layout_shape=shape,
    )

# %%
class Request:
    def __init__(self, request_id, prompt_len):
        if request_id < 0 or prompt_len <= 0:
            raise ValueError("bad id or empty prompt")
        self.request_id = request_id
        self.seq_len = prompt_len
        self.block_table = []

# %%
class KVCacheManager:
    def __init__(self, num_blocks, block_size, head_dim, *, dtype=torch.float32, device="cpu"):
        if min(num_blocks, block_size, head_dim) <= 0:
            raise ValueError("sizes must be positive")
        self.num_blocks, self.block_size, self.head_dim = num_blocks, block_size, head_dim
        self.physical_kv_cache = torch.zeros(num_blocks, block_size, head_dim, dtype=dtype, device=device)
        self.free_blocks = list(range(num_blocks))

    def allocate_for_prefill(self, req):
        if req.block_table:
            raise ValueError("prefilled already")
        needed = -(-req.seq_len // self.block_size)
        if needed > len(self.free_blocks):
            raise RuntimeError("OOM")
        req.block_table += self.free_blocks[:needed]
        del self.free_blocks[:needed]

    def allocate_for_decode(self, req):
        if not req.block_table:
            raise ValueError("prefill first")
        if req.seq_len == len(req.block_table) * self.block_size:
            if not self.free_blocks:
                raise RuntimeError("OOM")
            req.block_table.append(self.free_blocks.pop(0))
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
        mine = req.block_table
        if not mine or len(set(mine)) < len(mine):
            raise ValueError("nothing to release, or a block twice")
        if any(not 0 <= b < self.num_blocks or b in self.free_blocks for b in mine):
            raise ValueError("these blocks cannot be released")
        self.free_blocks.extend(mine)
        self.free_blocks.sort()
        req.block_table.clear()

    def get_physical_cache(self, req):
        if not req.block_table or any(not 0 <= b < self.num_blocks for b in req.block_table):
            raise ValueError("bad block table")
        pool = self.physical_kv_cache
        order = torch.tensor(req.block_table, dtype=torch.long, device=pool.device)
        gathered = torch.index_select(pool, 0, order)
        return gathered.view(len(order) * self.block_size, self.head_dim).narrow(0, 0, req.seq_len)
