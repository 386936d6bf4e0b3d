"""What the hidden tests do to a submission's objects without calling its methods, so that TODOs are graded apart."""

from collections.abc import Sequence
from typing import Any

import torch

MANY = 8
"""So many blocks are taken out of a list in one pass over it rather than by one search for each."""

_type, _list, _set, _bytearray, _hasattr, _str, _len = type, list, set, bytearray, hasattr, str, len
_TENSORS = (torch.Tensor, torch.nn.Parameter)
_frombuffer, _no_grad, _NAN = torch.frombuffer, torch.no_grad, float("nan")


def convert(manager: Any, dtype: torch.dtype, device: str) -> None:
    """Give the pool the dtype and device asked for, when the constructor did not take them."""
    pool: Any = getattr(manager, "physical_kv_cache", None)
    if _type(pool) in _TENSORS and (pool.dtype is not dtype or pool.device.type != device.partition(":")[0]):
        manager.physical_kv_cache = pool.detach().to(device=device, dtype=dtype)


def fill(manager: Any, payload: bytes, dtype: torch.dtype) -> None:
    """Copy the payload into the pool, in place unless the pool's dtype has changed. ValueError when it does not fit."""
    pool = manager.physical_kv_cache
    cells = _frombuffer(_bytearray(payload), dtype=dtype)
    if cells.numel() != pool.numel():
        raise ValueError(f"the pool has {pool.numel()} cells, the payload {cells.numel()}")
    cells = cells.reshape(pool.shape).to(pool.device)
    if pool.dtype is not dtype:
        manager.physical_kv_cache = cells
        return
    with _no_grad():
        pool.copy_(cells)


def poison(manager: Any, request: Any) -> None:
    """Turn every row of the pool that holds no token of the request into NaN, in place."""
    pool = manager.physical_kv_cache
    size = pool.shape[1]
    kept = [block * size + i for block in request.block_table for i in range(size)][: request.seq_len]
    rows = pool.view(-1, pool.shape[2])
    with _no_grad():
        values = rows[kept].clone()
        rows.fill_(_NAN)
        rows[kept] = values


def place(request: Any, ids: Sequence[int], seq_len: int) -> None:
    """Set a request's table and length; the free list is left alone."""
    request.seq_len = seq_len
    try:
        request.block_table = _list(ids)
    except AttributeError:
        _replace(request, ids)


def seize(manager: Any, request: Any, ids: Sequence[int]) -> None:
    """Put blocks into the table, in place, and out of the free list."""
    _replace(request, ids)
    free = manager.free_blocks
    if _type(free) is _list and _len(ids) > MANY:
        taken = _set(ids)
        free[:] = [block for block in free if block not in taken]
        return
    if not _hasattr(free, "remove"):
        manager.free_blocks = _type(free)(block for block in free if block not in ids)
        return
    for block in ids:
        free.remove(block)


def vacate(manager: Any, request: Any) -> None:
    """Put the table's blocks back into the free list and empty the table, in place."""
    blocks = _list(request.block_table)
    free = manager.free_blocks
    add = getattr(free, "append", None) or getattr(free, "add", None)
    if add is None:
        manager.free_blocks = _type(free)([*free, *blocks])
    else:
        for block in blocks:
            add(block)
    _replace(request, [])


def _replace(request: Any, ids: Sequence[int]) -> None:
    table = request.block_table
    if not (_hasattr(table, "clear") and _hasattr(table, "extend")):
        request.block_table = _type(table)(ids)
        return
    table.clear()
    table.extend(ids)
