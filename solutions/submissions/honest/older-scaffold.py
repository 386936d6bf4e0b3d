"""The older scaffold: one class, no dtype or device, no guard in decode."""

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
    def __init__(self, num_blocks, block_size, head_dim):
        if num_blocks <= 0 or block_size <= 0 or head_dim <= 0:
            raise ValueError("三个参数都应为正")
        self.num_blocks = num_blocks
        self.block_size = block_size
        self.head_dim = head_dim
        self.physical_kv_cache = torch.zeros(num_blocks, block_size, head_dim)
        self.free_blocks = list(range(num_blocks))

    def allocate_for_prefill(self, req):
        """为整段 prompt 一次取够块；不够就拒绝。"""
        if req.block_table:
            raise ValueError("该请求已经 prefill 过")
        needed_blocks = (req.seq_len + self.block_size - 1) // self.block_size
        allocated_blocks = self.free_blocks[:needed_blocks]
        if len(self.free_blocks) < needed_blocks:
            raise RuntimeError("OOM")
        del self.free_blocks[:needed_blocks]
        req.block_table.extend(allocated_blocks)

    def allocate_for_decode(self, req):
        """追加一个 token；最后一块已满时才取新块。"""
        new_seq_len = req.seq_len + 1
        is_new_block_needed = new_seq_len > len(req.block_table) * self.block_size
        if is_new_block_needed:
            if not self.free_blocks:
                raise RuntimeError("OOM")
            req.block_table.append(self.free_blocks.pop(0))
        req.seq_len = new_seq_len

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
        return torch.cat([self.physical_kv_cache[b] for b in req.block_table])[: req.seq_len]
