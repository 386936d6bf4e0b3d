"""Bytes for a pool in which every cell is unique, so that a selection of rows can be recognised exactly.

Each value needs all the precision of its dtype: a detour through a narrower one shows.
"""

import struct
from collections.abc import Collection

ONE = {"float16": 0x3C00, "bfloat16": 0x3F80, "float32": 0x3F800000, "float64": 0x3FF0000000000000}
STEP = {"float16": 1, "bfloat16": 1, "float32": 0x1003, "float64": 0x10000003}
NAN = {"float16": 0x7E00, "bfloat16": 0x7FC0, "float32": 0x7FC00000, "float64": 0x7FF8000000000000}
INFINITY = {"float16": 0x7C00, "bfloat16": 0x7F80, "float32": 0x7F800000, "float64": 0x7FF0000000000000}
CODE = {"float16": "H", "bfloat16": "H", "float32": "I", "float64": "Q"}


def unique_cells(count: int, dtype: str, seed: int = 0) -> bytes:
    """Return ``count`` different finite values of ``dtype`` as raw little-endian bytes; seeds give disjoint values."""
    first = ONE[dtype] + seed * count * STEP[dtype]
    return struct.pack(f"<{count}{CODE[dtype]}", *(first + STEP[dtype] * (1 + i) for i in range(count)))


def poison(content: bytes, row_bytes: int, dtype: str, keep: Collection[int]) -> bytes:
    """Return ``content`` with every row not in ``keep`` replaced by NaN."""
    size = struct.calcsize(CODE[dtype])
    nan = struct.pack(f"<{row_bytes // size}{CODE[dtype]}", *[NAN[dtype]] * (row_bytes // size))
    rows = len(content) // row_bytes
    return b"".join(content[i * row_bytes : (i + 1) * row_bytes] if i in keep else nan for i in range(rows))


def in_dtype(content: bytes, dtype: str, other: str) -> bytes:
    """Return what a pool of ``other`` would have been given in place of ``content``, whose cells are of ``dtype``."""
    cells = struct.unpack(f"<{len(content) // struct.calcsize(CODE[dtype])}{CODE[dtype]}", content)
    room = (INFINITY[other] - ONE[other]) // STEP[other]
    steps = ((cell - ONE[dtype]) // STEP[dtype] for cell in cells)
    there = (ONE[other] + STEP[other] * (step % room) for step in steps)
    values = (NAN[other] if cell == NAN[dtype] else value for cell, value in zip(cells, there, strict=True))
    return struct.pack(f"<{len(cells)}{CODE[other]}", *values)
