"""用中文命名的解答。"""

import torch


def estimate_kv_cache_bytes(num_blocks, block_size, num_layers, num_kv_heads, head_dim, dtype_bytes=2):
    各项 = [num_blocks, block_size, num_layers, num_kv_heads, head_dim, dtype_bytes]
    if any(一项 <= 0 for 一项 in 各项):
        raise ValueError("容量的每一维都要大于零")
    键和值 = 2
    每词元 = 键和值 * num_layers * num_kv_heads * head_dim * dtype_bytes
    每块 = 每词元 * block_size
    return {
        "kv_bytes_per_token": 每词元,
        "kv_bytes_per_block": 每块,
        "total_cache_bytes": 每块 * num_blocks,
        "layout_shape": [num_layers, 键和值, num_kv_heads, block_size, head_dim],
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

    def allocate_for_prefill(self, 请求):
        if 请求.block_table:
            raise ValueError("该请求已分配")
        块数 = (请求.seq_len + self.block_size - 1) // self.block_size
        if len(self.free_blocks) < 块数:
            raise RuntimeError(f"OOM：还差 {块数 - len(self.free_blocks)} 块")
        请求.block_table = [self.free_blocks.pop(0) for 序号 in range(块数)]

    def allocate_for_decode(self, 请求):
        已满 = 请求.seq_len == len(请求.block_table) * self.block_size
        if 已满 and not self.free_blocks:
            raise RuntimeError("OOM：没有空闲块")
        if 已满:
            请求.block_table.append(self.free_blocks.pop(0))
        请求.seq_len += 1

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

    def get_physical_cache(self, 请求):
        块表 = 请求.block_table
        if not 块表 or not all(0 <= 块 < self.num_blocks for 块 in 块表):
            raise ValueError("块表不合法")
        全部 = torch.cat([self.physical_kv_cache[块] for 块 in 块表])
        return 全部[: 请求.seq_len]
