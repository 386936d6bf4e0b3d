import torch


def estimate_kv_cache_bytes(num_blocks, block_size, num_layers, num_kv_heads, head_dim, dtype_bytes=2):
    if min(num_blocks, block_size, num_layers, num_kv_heads, head_dim, dtype_bytes) <= 0:
        raise ValueError("positive numbers only")
    token = 2 * num_layers * num_kv_heads * head_dim * dtype_bytes
    return {
        "kv_bytes_per_token": token,
        "kv_bytes_per_block": token * block_size,
        "total_cache_bytes": token * block_size * num_blocks,
        "layout_shape": (num_layers, 2, num_kv_heads, block_size, head_dim),
    }


class Request:
    def __init__(self, request_id, prompt_len):
        if request_id < 0 or prompt_len <= 0:
            raise ValueError("bad request")
        self.request_id, self.seq_len, self.block_table = request_id, prompt_len, []


class Pool:
    def __init__(self, num_blocks, block_size, head_dim, *, dtype=torch.float32, device="cpu"):
        if min(num_blocks, block_size, head_dim) <= 0:
            raise ValueError("sizes")
        vars(self).update(num_blocks=num_blocks, block_size=block_size, head_dim=head_dim)
        self.physical_kv_cache = torch.full((num_blocks, block_size, head_dim), 0, dtype=dtype, device=device)
        self.free_blocks = list(range(num_blocks - 1, -1, -1))


class Allocation(Pool):


    def allocate_for_prefill(self, req):
        if req.block_table:
            raise ValueError("prefilled already")
        n = -(-req.seq_len // self.block_size)
        if n > len(self.free_blocks):
            raise RuntimeError("OOM")
        req.block_table += self.free_blocks[:n]
        del self.free_blocks[:n]


    def allocate_for_decode(self, req):
        if not req.block_table:
            raise ValueError("prefill first")
        if req.seq_len == len(req.block_table) * self.block_size:
            if not self.free_blocks:
                raise RuntimeError("OOM")
            req.block_table.append(self.free_blocks.pop())
        req.seq_len += 1



class Reading(Pool):

    def get_physical_cache(self, req):
        if not req.block_table or not all(0 <= b < self.num_blocks for b in req.block_table):
            raise ValueError("bad table")
        if len(req.block_table) * self.block_size < req.seq_len:
            raise ValueError("table too short")
        return self.physical_kv_cache[req.block_table].flatten(0, 1)[: req.seq_len]



class Books(Pool):

    def allocation_report(self, req):
        room = len(req.block_table) * self.block_size
        return dict(
            logical_tokens=req.seq_len,
            allocated_tokens=room,
            unused_tail_tokens=room - req.seq_len,
            utilization=req.seq_len / room if room else 0.0,
        )


    def release_request(self, req):
        table = list(req.block_table)
        bad = not table or len(set(table)) < len(table) or any(not 0 <= b < self.num_blocks for b in table)
        if bad or set(table) & set(self.free_blocks):
            raise ValueError("cannot release")
        self.free_blocks += table
        req.block_table.clear()



class KVCacheManager(Allocation, Reading, Books):
    pass
