"""Comparing a reconstructed cache with the rows that the table names: exact bytes, shape, dtype and device."""

from typing import Any

from autograder.contract.model import ReferencePool, ReferenceRequest
from autograder.contract.observations import clean, kind_of
from autograder.findings import Finding


def compare_read(
    pool: ReferencePool, request: ReferenceRequest, returned: Any, expected: bytes | None
) -> Finding | None:
    """Return what is wrong with a returned cache, or None; ``expected`` is None where only its form is fixed."""
    tensor = returned.get("tensor") if isinstance(returned, dict) else None
    if not isinstance(tensor, dict):
        return Finding("read.kind", {"kind": kind_of(returned)})
    if tensor.get("dtype") != pool.dtype:
        return Finding("read.dtype", {"got": clean(tensor.get("dtype"))})
    shape = tensor.get("shape")
    if shape != [request.seq_len, pool.head_dim]:
        longer = isinstance(shape, list) and len(shape) == 2 and shape[1] == pool.head_dim
        return Finding("read.tail" if longer else "read.shape")
    content = tensor.get("bytes")
    if expected is None or content == expected:
        return None
    if content == pool.rows(sorted(request.table), request.seq_len):
        return Finding("read.order")
    return Finding("read.values")
