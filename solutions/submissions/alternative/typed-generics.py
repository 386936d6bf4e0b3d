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
# Annotated throughout, with a generic stack.

# %%
from __future__ import annotations

from collections.abc import Iterable
from typing import Dict, Generic, List, Protocol, TypeVar, Union

import torch
from torch import Tensor

T = TypeVar("T")

# %%
class Stack(Generic[T]):
    def __init__(self, items: Iterable[T]) -> None:
        self.items: List[T] = list(items)

    def take(self, count: int) -> List[T]:
        if count > len(self.items):
            raise RuntimeError("OOM")
        taken = self.items[:count]
        del self.items[:count]
        return taken


class Sequence(Protocol):
    seq_len: int
    block_table: List[int]

# %%
def estimate_kv_cache_bytes(
    num_blocks: int, block_size: int, num_layers: int, num_kv_heads: int, head_dim: int, dtype_bytes: int = 2
) -> Dict[str, Union[int, List[int]]]:
    if not all(size > 0 for size in (num_blocks, block_size, num_layers, num_kv_heads, head_dim, dtype_bytes)):
        raise ValueError("sizes must be positive")
    one_matrix: int = num_layers * num_kv_heads * head_dim * dtype_bytes
    per_token: int = one_matrix + one_matrix
    per_block: int = per_token * block_size
    return {
        "kv_bytes_per_token": per_token,
        "kv_bytes_per_block": per_block,
        "total_cache_bytes": per_block * num_blocks,
        "layout_shape": [num_layers, 2, num_kv_heads, block_size, head_dim],
    }

# %%
class Request:
    def __init__(self, request_id: int, prompt_len: int) -> None:
        if request_id < 0 or prompt_len <= 0:
            raise ValueError(f"{request_id=} {prompt_len=}")
        self.request_id: int = request_id
        self.seq_len: int = prompt_len
        self.block_table: List[int] = []

# %%
class KVCacheManager:
    def __init__(self, num_blocks: int, block_size: int, head_dim: int) -> None:
        if min(num_blocks, block_size, head_dim) < 1:
            raise ValueError("sizes must be positive")
        self.num_blocks, self.block_size, self.head_dim = num_blocks, block_size, head_dim
        self.physical_kv_cache: Tensor = torch.zeros(num_blocks, block_size, head_dim)
        self.stack: Stack[int] = Stack(range(num_blocks))

    @property
    def free_blocks(self) -> List[int]:
        return self.stack.items

    def allocate_for_prefill(self, req: Sequence) -> None:
        if req.block_table:
            raise ValueError("prefilled already")
        req.block_table.extend(self.stack.take(-(-req.seq_len // self.block_size)))

    def allocate_for_decode(self, req: Sequence) -> None:
        if not req.block_table:
            raise ValueError("prefill first")
        req.block_table.extend(self.stack.take(int(req.seq_len == len(req.block_table) * self.block_size)))
        req.seq_len += 1

    def allocation_report(self, req: Sequence) -> Dict[str, float]:
        allocated: int = len(req.block_table) * self.block_size
        return {
            "logical_tokens": req.seq_len,
            "allocated_tokens": allocated,
            "unused_tail_tokens": allocated - req.seq_len,
            "utilization": req.seq_len / allocated if allocated else 0.0,
        }

    def release_request(self, req: Sequence) -> None:
        used = set(range(self.num_blocks)).difference(self.free_blocks)
        if not req.block_table or not used.issuperset(req.block_table) or len({*req.block_table}) != len(req.block_table):
            raise ValueError("cannot be released")
        self.free_blocks.extend(req.block_table)
        req.block_table.clear()

    def get_physical_cache(self, req: Sequence) -> Tensor:
        if not req.block_table or not {*range(self.num_blocks)}.issuperset(req.block_table):
            raise ValueError("bad block table")
        return self.physical_kv_cache[req.block_table].flatten(0, 1)[: req.seq_len]
