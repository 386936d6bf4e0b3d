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
# PagedAttention

# %%
from collections.abc import Callable
from typing import Any

import torch

# %%
class Request:
    """One sequence: its length in tokens and its blocks in logical order. 一个序列：长度，以及按逻辑顺序排列的块。"""

    def __init__(self, request_id: int, prompt_len: int) -> None:
        if request_id < 0 or prompt_len <= 0:
            raise ValueError("need request_id >= 0 and prompt_len > 0 / request_id 不能为负，prompt_len 要大于零")
        self.request_id = request_id
        self.seq_len = prompt_len
        self.block_table: list[int] = []


class KVCacheManager:
    """A pool of equal blocks, and the list of those that nobody holds. 一池同样大小的块，以及无主块的列表。"""

    # The TODO cells add these three methods. 这三个方法由 TODO 单元格添上。
    allocate_for_prefill: Callable[[Request], None]
    allocate_for_decode: Callable[[Request], None]
    get_physical_cache: Callable[[Request], torch.Tensor]

    def __init__(
        self,
        num_blocks: int,
        block_size: int,
        head_dim: int,
        *,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        if min(num_blocks, block_size, head_dim) <= 0:
            raise ValueError("every size must be positive / 各项大小都要大于零")
        self.num_blocks = num_blocks
        self.block_size = block_size
        self.head_dim = head_dim
        self.physical_kv_cache = torch.zeros(num_blocks, block_size, head_dim, dtype=dtype, device=device)
        self.free_blocks = list(range(num_blocks))

    def allocation_report(self, req: Request) -> dict[str, float]:
        """Return how many tokens the request has room for, and how many it uses. 返回请求的容量和实际用量。"""
        allocated_tokens = len(req.block_table) * self.block_size
        return {
            "logical_tokens": req.seq_len,
            "allocated_tokens": allocated_tokens,
            "unused_tail_tokens": allocated_tokens - req.seq_len,
            "utilization": req.seq_len / allocated_tokens if allocated_tokens else 0.0,
        }

    def release_request(self, req: Request) -> None:
        """Return all blocks of a request to the pool, or refuse and change nothing. 归还全部块；若拒绝，则什么都不变。"""
        blocks = req.block_table
        if not blocks:
            raise ValueError("the request holds no blocks; released twice? / 请求没有块；是不是释放了两次？")
        if len(set(blocks)) != len(blocks):
            raise ValueError("a block stands twice in the block table / 块表里有重复的块")
        if any(not 0 <= block < self.num_blocks for block in blocks):
            raise ValueError("the block table names a block outside the pool / 块表里有池外的块")
        if not set(blocks).isdisjoint(self.free_blocks):
            raise ValueError("a block of the table is free already / 块表里有早已空闲的块")
        self.free_blocks.extend(blocks)
        self.free_blocks.sort()
        req.block_table.clear()


def add_to_class(cls: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make the function below a method of the class. 把下面的函数变成这个类的方法。"""

    def attach(function: Callable[..., Any]) -> Callable[..., Any]:
        setattr(cls, function.__name__, function)
        return function

    return attach

# %%
def estimate_kv_cache_bytes(
    num_blocks: int, block_size: int, num_layers: int, num_kv_heads: int, head_dim: int, dtype_bytes: int = 2
) -> dict[str, Any]:
    """Return the bytes that a token, a block and the whole pool take. 返回每 token、每块、整个池所占的字节数。"""
    if min(num_blocks, block_size, num_layers, num_kv_heads, head_dim, dtype_bytes) <= 0:
        raise ValueError("every size must be positive / 各项大小都要大于零")
    kv_bytes_per_token = 2 * num_layers * num_kv_heads * head_dim * dtype_bytes
    kv_bytes_per_block = block_size * kv_bytes_per_token
    total_cache_bytes = num_blocks * kv_bytes_per_block
    return {
        "kv_bytes_per_token": kv_bytes_per_token,
        "kv_bytes_per_block": kv_bytes_per_block,
        "total_cache_bytes": total_cache_bytes,
        "layout_shape": [num_layers, 2, num_kv_heads, block_size, head_dim],
    }

# %%
@add_to_class(KVCacheManager)
def allocate_for_prefill(self: KVCacheManager, req: Request) -> None:
    """Give a new request the blocks of its prompt, or raise OOM and change nothing. 为新请求分块；OOM 时什么都不变。"""
    if req.block_table:
        raise ValueError("the request has blocks already; prefill runs once / 请求已经有块；prefill 只做一次")
    needed_blocks = (req.seq_len + self.block_size - 1) // self.block_size
    allocated_blocks = self.free_blocks[:needed_blocks]
    if len(self.free_blocks) < needed_blocks:
        raise RuntimeError("OOM")
    for block in allocated_blocks:
        self.free_blocks.remove(block)
    req.block_table.extend(allocated_blocks)

# %%
@add_to_class(KVCacheManager)
def allocate_for_decode(self: KVCacheManager, req: Request) -> None:
    """Make room for one more token, or raise OOM and change nothing. 为一个新 token 备好位置；OOM 时什么都不变。"""
    if not req.block_table:
        raise ValueError("the request holds no blocks; prefill comes first / 请求没有块；应该先 prefill")
    new_seq_len = req.seq_len + 1
    is_new_block_needed = req.seq_len == len(req.block_table) * self.block_size
    if is_new_block_needed:
        if not self.free_blocks:
            raise RuntimeError("OOM")
        req.block_table.append(self.free_blocks.pop(0))
    req.seq_len = new_seq_len

# %%
@add_to_class(KVCacheManager)
def get_physical_cache(self: KVCacheManager, req: Request) -> torch.Tensor:
    """Return the request's tokens in logical order, shape [seq_len, head_dim]. 按逻辑顺序返回请求的全部 token。"""
    if not req.block_table:
        raise ValueError("the request holds no blocks / 请求没有块")
    if any(not 0 <= block < self.num_blocks for block in req.block_table):
        raise ValueError("the block table names a block outside the pool / 块表里有池外的块")
    if len(req.block_table) * self.block_size < req.seq_len:
        raise ValueError("the block table is too short for seq_len / 块表放不下 seq_len 个 token")
    blocks = [self.physical_kv_cache[block] for block in req.block_table]
    cat_blocks = torch.cat(blocks, dim=0)
    return cat_blocks[: req.seq_len]
