"""Comparing a reconstructed cache with the rows that the table names: exact bytes, shape, dtype and device."""

from typing import Any

from autograder.contract.closed_lists import DTYPES, known
from autograder.contract.model import ReferencePool, ReferenceRequest
from autograder.contract.observations import kind_of
from autograder.findings import Finding

MATRIX = 2
AXES = ("scalar", "line", "matrix", "apart")


def compare_read(
    pool: ReferencePool, request: ReferenceRequest, returned: Any, expected: bytes | None
) -> Finding | None:
    """Return what is wrong with a returned cache, or None; ``expected`` is None where only its form is fixed."""
    tensor = returned.get("tensor") if isinstance(returned, dict) else None
    if not isinstance(tensor, dict):
        return Finding("read.kind", {"kind": kind_of(returned)})
    if tensor.get("dtype") != pool.dtype:
        return Finding("read.dtype", {"got": known(tensor.get("dtype"), DTYPES)})
    shape, content = tensor.get("shape"), tensor.get("bytes")
    if shape != [request.seq_len, pool.head_dim]:
        rows = shape[0] if isinstance(shape, list) and len(shape) == MATRIX and shape[1] == pool.head_dim else None
        if rows is None:
            return Finding("read.shape", {"shape": _shape(pool, request, shape)})
        return Finding("read.contiguous" if _lies_together(pool, request, content) else _cut(pool, request, rows))
    if expected is None or content == expected:
        return None
    if content == pool.rows(sorted(request.table), request.seq_len):
        return Finding("read.order")
    return Finding("read.contiguous" if _lies_together(pool, request, content) else "read.values")


def _shape(pool: ReferencePool, request: ReferenceRequest, shape: Any) -> str:
    """Return the word for a wrong shape: numbers of a submission's making are not repeated."""
    if shape == [pool.head_dim, request.seq_len]:
        return "turned"
    if isinstance(shape, list) and len(shape) == MATRIX and shape[0] == pool.block_size:
        return "beside"
    axes = len(shape) if isinstance(shape, list) else len(AXES)
    return AXES[axes] if axes < len(AXES) else "more"


def _cut(pool: ReferencePool, request: ReferenceRequest, rows: int) -> str:
    """Return what was wrong with the cut when so many rows came back."""
    size, blocks = pool.block_size, len(request.table)
    if rows == size and blocks > 1:
        return "read.first_block"
    if rows == size * blocks:
        return "read.uncut"
    return "read.last_block" if rows == size * (blocks - 1) else "read.tail"


def _lies_together(pool: ReferencePool, request: ReferenceRequest, content: Any) -> bool:
    """Tell whether the rows are those that follow the first block in the pool, where the table goes elsewhere."""
    if not isinstance(content, bytes) or not content or not pool.content or not request.table:
        return False
    start = request.table[0] * pool.block_size * pool.row_bytes
    first_alone = len(content) <= pool.block_size * pool.row_bytes
    return not first_alone and content == pool.content[start : start + len(content)]
