# résumé de l'élève
import torch


def estimate_kv_cache_bytes(num_blocks, block_size, num_layers, num_kv_heads, head_dim, dtype_bytes=2):
    """mémoire"""
    dimensions = (num_blocks, block_size, num_layers, num_kv_heads, head_dim, dtype_bytes)
    if min(dimensions) <= 0:
        raise ValueError(f"dimensions must be positive: {dimensions}")
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
            raise ValueError("bad request")
        self.request_id, self.seq_len, self.block_table = request_id, prompt_len, []

class KVCacheManager:
    def __init__(self, num_blocks, block_size, head_dim, *, dtype=torch.float32, device="cpu"):
        if min(num_blocks, block_size, head_dim) <= 0:
            raise ValueError("sizes must be positive")
        self.num_blocks, self.block_size, self.head_dim = num_blocks, block_size, head_dim
        self.physical_kv_cache = torch.zeros(num_blocks, block_size, head_dim, dtype=dtype, device=device)
        self.free_blocks = list(range(num_blocks))

    def allocate_for_prefill(self, req):
        if req.block_table:
            raise ValueError("already prefilled")
        req.block_table.extend(self._take(-(-req.seq_len // self.block_size)))

    def allocate_for_decode(self, req):
        if not req.block_table:
            raise ValueError("prefill first")
        if req.seq_len == len(req.block_table) * self.block_size:
            req.block_table.extend(self._take(1))
        req.seq_len += 1

    def _take(self, count):
        if count > len(self.free_blocks):
            raise RuntimeError(f"OOM: {count} wanted, {len(self.free_blocks)} free")
        taken, self.free_blocks[:count] = self.free_blocks[:count], []
        return taken

    def allocation_report(self, req):
        room = len(req.block_table) * self.block_size
        return {
            "logical_tokens": req.seq_len,
            "allocated_tokens": room,
            "unused_tail_tokens": room - req.seq_len,
            "utilization": req.seq_len / room if room else 0.0,
        }

    def release_request(self, req):
        blocks = set(req.block_table)
        if not blocks or len(blocks) < len(req.block_table):
            raise ValueError("nothing to release, or a block twice")
        if not blocks <= set(range(self.num_blocks)) - set(self.free_blocks):
            raise ValueError("a block is foreign or free")
        self.free_blocks = sorted([*self.free_blocks, *blocks])
        req.block_table.clear()

    def get_physical_cache(self, req):
        if not req.block_table or not all(0 <= block < self.num_blocks for block in req.block_table):
            raise ValueError("no table, or a block outside the pool")
        if len(req.block_table) * self.block_size < req.seq_len:
            raise ValueError("table too short")
        return torch.cat([self.physical_kv_cache[block] for block in req.block_table])[: req.seq_len]
