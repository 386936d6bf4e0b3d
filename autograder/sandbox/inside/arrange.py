"""What the hidden tests do to a submission's objects without calling its methods, so that TODOs are graded apart.

A collection is changed in place where it can be, since a submission may keep another reference to it or have no setter.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy
import torch

MANY = 8
"""So many blocks are taken out of a list in one pass over it rather than by one search for each."""

_type, _list, _set, _bytearray, _hasattr, _str, _len = type, list, set, bytearray, hasattr, str, len
_iter, _next, _issubclass, _array, _integer = iter, next, issubclass, numpy.array, numpy.integer
_ndarray, _int64, _fromkeys = numpy.ndarray, numpy.int64, dict.fromkeys
_TENSORS = (torch.Tensor, torch.nn.Parameter)
_frombuffer, _no_grad, _NAN = torch.frombuffer, torch.no_grad, float("nan")
_ones, _bool = torch.ones, torch.bool


def move(manager: Any, dtype: torch.dtype, device: str) -> None:
    """Put the pool on the device asked for, when the constructor did not; on its own device it is never replaced."""
    pool: Any = getattr(manager, "physical_kv_cache", None)
    if _type(pool) in _TENSORS and pool.device.type != device.partition(":")[0]:
        manager.physical_kv_cache = pool.detach().to(device=device, dtype=dtype)


def fill(manager: Any, payload: bytes, dtype: torch.dtype) -> None:
    """Copy the payload, values of ``dtype``, into the pool. ValueError when it does not fit."""
    pool = manager.physical_kv_cache
    cells = _frombuffer(_bytearray(payload), dtype=dtype)
    if cells.numel() != pool.numel():
        raise ValueError(f"the pool has {pool.numel()} cells, the payload {cells.numel()}")
    with _no_grad():
        pool.copy_(cells.reshape(pool.shape))


def poison(manager: Any, request: Any) -> None:
    """Turn every row of the pool that holds no token of the request into NaN, in place and whatever its strides."""
    pool = manager.physical_kv_cache
    size = pool.shape[1]
    others = _ones(pool.shape[:2], dtype=_bool)
    for at in range(request.seq_len):
        others[request.block_table[at // size], at % size] = False
    with _no_grad():
        pool[others.to(pool.device)] = _NAN


def place(request: Any, ids: Sequence[int], seq_len: int) -> None:
    """Set a request's table and length; the free list is left alone."""
    if request.seq_len != seq_len:  # where it has no setter, the length it has will do
        request.seq_len = seq_len
    try:
        request.block_table = _like(request.block_table, ids)
    except Exception:
        _replace(request, ids)


def seize(manager: Any, request: Any, ids: Sequence[int]) -> None:
    """Put blocks into the table, in place, and out of the free ones."""
    _replace(request, ids)
    free = manager.free_blocks
    kind, taken = _type(free), _set(ids)
    if _issubclass(kind, dict):
        for block in ids:
            del free[block]
    elif kind is _list and _len(ids) > MANY:
        free[:] = [block for block in free if block not in taken]
    elif _hasattr(free, "remove"):
        for block in ids:
            free.remove(block)
    else:
        free = _like(free, [block for block in free if block not in taken])
    _keep(manager, free)


def vacate(manager: Any, request: Any) -> None:
    """Put the table's blocks back among the free ones and empty the table, in place."""
    blocks = _list(request.block_table)
    free = manager.free_blocks
    add = getattr(free, "append", None) or getattr(free, "add", None)
    if _issubclass(_type(free), dict):
        free.update(_fromkeys(blocks, _next(_iter(free.values()), None)))
    elif add is None:
        free = _like(free, [*free, *blocks])
    else:
        for block in blocks:
            add(block)
    _keep(manager, free)
    _replace(request, [])


def _keep(manager: Any, free: Any) -> None:
    """Hand the free blocks back to a manager that has others now, or makes a new collection whenever it is asked."""
    if manager.free_blocks is not free:
        manager.free_blocks = free


def _replace(request: Any, ids: Sequence[int]) -> None:
    table = request.block_table
    if not _hasattr(table, "extend"):
        request.block_table = _like(table, ids)
        return
    if _hasattr(table, "clear"):
        table.clear()
    else:
        del table[:]
    table.extend(ids)


def _like(collection: Any, items: Iterable[int]) -> Any:
    """Return another collection of the same kind with these items."""
    kind = _type(collection)
    if _issubclass(kind, _ndarray):
        dtype = collection.dtype
        return _array(_list(items), dtype=dtype if _issubclass(dtype.type, _integer) else _int64)
    typecode = getattr(collection, "typecode", None)
    return kind(items) if typecode is None else kind(typecode, items)
