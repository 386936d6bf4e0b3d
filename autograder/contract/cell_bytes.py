"""Bytes for a pool in which every cell is unique, so that a selection of rows can be recognised exactly.

Each value needs all the precision of its dtype: a detour through a narrower one shows.
"""

import struct
from collections.abc import Collection, Iterable, Iterator

ONE = {"float16": 0x3C00, "bfloat16": 0x3F80, "float32": 0x3F800000, "float64": 0x3FF0000000000000}
STEP = {"float16": 1, "bfloat16": 1, "float32": 0x1003, "float64": 0x10000003}
NAN = {"float16": 0x7E00, "bfloat16": 0x7FC0, "float32": 0x7FC00000, "float64": 0x7FF8000000000000}
SIGN = {"float16": 0x8000, "bfloat16": 0x8000, "float32": 0x80000000, "float64": 0x8000000000000000}
INFINITY = {"float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000, "float64": 0x7FF0000000000000}
CODE = {"float16": "H", "bfloat16": "H", "float32": "I", "float64": "Q"}


def unique_cells(count: int, dtype: str, seed: int = 0) -> bytes:
    """Return ``count`` different finite values of ``dtype`` as raw little-endian bytes; seeds give disjoint values."""
    first = seed * count + 1
    return struct.pack(f"<{count}{CODE[dtype]}", *_cells(range(first, first + count), dtype))


def poison(content: bytes, row_bytes: int, dtype: str, keep: Collection[int]) -> bytes:
    """Return ``content`` with every row not in ``keep`` replaced by NaN."""
    size = struct.calcsize(CODE[dtype])
    nan = struct.pack(f"<{row_bytes // size}{CODE[dtype]}", *[NAN[dtype]] * (row_bytes // size))
    rows = len(content) // row_bytes
    return b"".join(content[i * row_bytes : (i + 1) * row_bytes] if i in keep else nan for i in range(rows))


def in_dtype(content: bytes, dtype: str, other: str) -> bytes:
    """Return what a pool of ``other`` would have been given in place of ``content``, whose cells are of ``dtype``."""
    cells = struct.unpack(f"<{len(content) // struct.calcsize(CODE[dtype])}{CODE[dtype]}", content)
    room = _below_infinity(other)
    there = _cells((1 + (_step(cell, dtype) - 1) % room for cell in cells), other)
    values = (NAN[other] if cell == NAN[dtype] else value for cell, value in zip(cells, there, strict=True))
    return struct.pack(f"<{len(cells)}{CODE[other]}", *values)


def _below_infinity(dtype: str) -> int:
    """Return how many steps above one stay finite."""
    return (INFINITY[dtype] - ONE[dtype] - 1) // STEP[dtype]


def _cells(steps: Iterable[int], dtype: str) -> Iterator[int]:
    """Yield the bits of each step above one; those that would pass infinity go on below zero."""
    one, sign, step, finite = ONE[dtype], SIGN[dtype], STEP[dtype], _below_infinity(dtype)
    return (one + step * i if i <= finite else sign + step * (i - finite) for i in steps)


def _step(cell: int, dtype: str) -> int:
    if cell >= SIGN[dtype]:
        return _below_infinity(dtype) + (cell - SIGN[dtype]) // STEP[dtype]
    return (cell - ONE[dtype]) // STEP[dtype]
