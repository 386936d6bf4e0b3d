"""For tensors that wrap others: what is asked about a shape, what an operation writes to, its arguments one by one."""

from collections.abc import Callable
from typing import Any

import torch

SHAPE: dict[str, Callable[..., Any]] = {
    "aten::sym_size": lambda raw, *dim: raw.size(*dim),
    "aten::size": lambda raw, *dim: raw.size(*dim),
    "aten::sym_stride": lambda raw, *dim: raw.stride(*dim),
    "aten::stride": lambda raw, *dim: raw.stride(*dim),
    "aten::sym_numel": torch.Tensor.numel,
    "aten::numel": torch.Tensor.numel,
    "aten::dim": torch.Tensor.dim,
    "aten::sym_storage_offset": torch.Tensor.storage_offset,
    "aten::storage_offset": torch.Tensor.storage_offset,
    "aten::is_contiguous": lambda raw, *_: raw.is_contiguous(),
    "aten::is_non_overlapping_and_dense": lambda raw, *_: raw.is_contiguous(),
    "aten::is_strides_like_format": lambda raw, *_: False,
}


def map_arguments(change: Callable[[Any], Any], value: Any) -> Any:
    """Return the arguments of an operation with each one changed, those in lists as well."""
    if isinstance(value, (list, tuple)):
        return [map_arguments(change, item) for item in value]
    return change(value)


def storage_bytes(raw: torch.Tensor) -> int:
    """Return how large the memory behind a tensor is."""
    return 0 if raw.is_meta else raw.untyped_storage().nbytes()


def written_by(schema: Any, args: Any, kwargs: dict[str, Any]) -> list[Any]:
    """Return the arguments that an operation writes to and returns: its first, or those named ``out``."""
    found = []
    for place, argument in enumerate(schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            value = args[place] if place < len(args) else kwargs.get(argument.name)
            found += list(value) if isinstance(value, (list, tuple)) else [value]
    return found if schema.returns and any(r.alias_info and r.alias_info.is_write for r in schema.returns) else []
