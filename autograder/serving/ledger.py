"""What the assignment's ledger says of a model's KV cache: TODO 1 on the numbers of a real model."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.contract.model import ReferenceModel
from autograder.contract.operations import DTYPE_BYTES, Operation
from autograder.serving.server import ServingError


@dataclass(frozen=True)
class Shape:
    """The numbers of a model that its KV cache depends on."""

    layers: int
    kv_heads: int
    head_dim: int
    dtype: str

    def block_bytes(self, block_size: int) -> int:
        """Return ``kv_bytes_per_block``: keys and values of every layer and head, for the tokens of a block."""
        numbers = (1, block_size, self.layers, self.kv_heads, self.head_dim, DTYPE_BYTES[self.dtype])
        return int(ReferenceModel().apply(Operation("ledger", numbers)).value["kv_bytes_per_block"])

    def blocks(self, capacity: int, block_size: int) -> int:
        """Return how many whole blocks so many bytes hold."""
        return capacity // self.block_bytes(block_size)


def shape_of(model: Path, dtype: str | None = None) -> Shape:
    """Return the shape in a model folder's config.json; ``dtype`` is what the server keeps, if not that."""
    path = model / "config.json"
    try:
        config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        heads = int(config["num_attention_heads"])
        layers = int(config["num_hidden_layers"])
        kv_heads = int(config.get("num_key_value_heads") or heads)
        head_dim = int(config.get("head_dim") or config["hidden_size"] // heads)
        dtype = dtype or str(config.get("dtype") or config["torch_dtype"])
        if min(layers, kv_heads, head_dim) < 1:
            raise ValueError(config)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ArithmeticError):
        raise ServingError(
            f"{path} does not tell layers, heads and dtype; give the folder of the model served."
        ) from None
    if dtype not in DTYPE_BYTES:
        raise ServingError(f"The ledger counts {', '.join(DTYPE_BYTES)} and not {dtype}; serve one of them.")
    return Shape(layers, kv_heads, head_dim, dtype)
