import torch
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

    def allocation_report(self, req):
        room = len(req.block_table) * self.block_size
        return {"logical_tokens": req.seq_len, "allocated_tokens": room, "unused_tail_tokens": room - req.seq_len,
                "utilization": req.seq_len / room if room else 0.0}

    def release_request(self, req):
        blocks = req.block_table
        if not blocks or len(set(blocks)) != len(blocks):
            raise ValueError("nothing to release")
        if any(b not in range(self.num_blocks) or b in self.free_blocks for b in blocks):
            raise ValueError("foreign or free block")
        self.free_blocks.extend(blocks)
        blocks.clear()


def add_to_class(cls):
    def attach(f):
        setattr(cls, f.__name__, f)
        return f
    return attach

@add_to_class(KVCacheManager)
def allocate_for_prefill(self, req):
    if req.block_table:
        raise ValueError("prefilled already")
    needed = -(-req.seq_len // self.block_size)
    if needed > len(self.free_blocks):
        raise RuntimeError("OOM")
    req.block_table.extend(self.free_blocks[:needed])
    del self.free_blocks[:needed]

@add_to_class(KVCacheManager)
def allocate_for_decode(self, req):
    if not req.block_table:
        raise ValueError("prefill first")
    if req.seq_len == len(req.block_table) * self.block_size:
        if not self.free_blocks:
            raise RuntimeError("OOM")
        req.block_table.append(self.free_blocks.pop())
    req.seq_len += 1

@add_to_class(KVCacheManager)
def get_physical_cache(self, req):
    if not req.block_table or len(req.block_table) * self.block_size < req.seq_len:
        raise ValueError("short table")
    if any(not 0 <= b < self.num_blocks for b in req.block_table):
        raise ValueError("foreign block")
    return torch.cat([self.physical_kv_cache[b] for b in req.block_table])[: req.seq_len]