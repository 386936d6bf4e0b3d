"""A running OpenAI-compatible vLLM server, as far as a check needs it: its model, its KV cache and its counters."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from urllib.error import URLError
from urllib.request import urlopen

from autograder.errors import GraderError

TIMEOUT_S = 10.0
_LINE = re.compile(r"^(vllm:\w+)(?:\{(.*)\})? (\S+)$", re.MULTILINE)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


class ServingError(GraderError):
    """A server or a run that proves nothing; the text is one sentence that says what to do."""


@dataclass(frozen=True)
class Cache:
    """The server's KV cache: all blocks, the null block among them; bytes and dtype where it names them."""

    blocks: int
    block_size: int
    bytes: int | None
    dtype: str | None

    @property
    def usable(self) -> int:
        """Blocks that requests may hold: the engine keeps one for itself."""
        return self.blocks - 1


class Server:
    """One server, asked over HTTP; every error of the network is a :class:`ServingError`."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    def model(self) -> tuple[str, int | None]:
        """Return the name of the one model served, and the longest request it takes."""
        try:
            [model] = json.loads(self._get("/v1/models"))["data"]
            longest = model.get("max_model_len")
            return str(model["id"]), longest if isinstance(longest, int) else None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ServingError(
                f"{self.url} does not serve exactly one model as OpenAI's API has it; mend --url."
            ) from None

    def cache(self) -> Cache:
        """Return the size of the KV cache."""
        labels = next((labels for name, labels, _ in self._metrics() if name == "vllm:cache_config_info"), {})
        try:
            size = labels.get("kv_cache_memory_bytes", "")
            blocks, block_size = int(labels["num_gpu_blocks"]), int(labels["block_size"])
            if blocks < 1 or block_size < 1:
                raise ValueError(labels)
            dtype = labels.get("cache_dtype", "auto")
            return Cache(
                blocks, block_size, int(size) if size.isdecimal() else None, None if dtype == "auto" else dtype
            )
        except (KeyError, ValueError):
            raise ServingError(
                f"{self.url}/metrics does not tell the KV cache's size; a vLLM server is needed."
            ) from None

    def version(self) -> str:
        """Return the engine's version, as it tells it."""
        try:
            return f"vLLM {json.loads(self._get('/version'))['version']}"
        except (ValueError, KeyError, TypeError):
            return "an engine that tells no version"

    def preempted(self) -> int:
        """Return how many requests were preempted since the server started."""
        counted = [value for name, _, value in self._metrics() if name == "vllm:num_preemptions_total"]
        if not counted or not math.isfinite(sum(counted)):
            raise ServingError(f"{self.url}/metrics does not count preempted requests; a vLLM server is needed.")
        return int(sum(counted))

    def _metrics(self) -> list[tuple[str, Mapping[str, str], float]]:
        found = _LINE.findall(self._get("/metrics"))
        try:
            return [(name, dict(_LABEL.findall(labels)), float(value)) for name, labels, value in found]
        except ValueError:
            raise ServingError(
                f"{self.url}/metrics is not written as Prometheus has it; a vLLM server is needed."
            ) from None

    def _get(self, path: str) -> str:
        try:
            with urlopen(self.url + path, timeout=TIMEOUT_S) as answer:
                return str(answer.read().decode("utf-8", "replace"))
        except (URLError, OSError, ValueError, HTTPException) as error:
            other = isinstance(error, HTTPException)
            reason = "it speaks no HTTP" if other else getattr(error, "reason", error)
            raise ServingError(
                f"{self.url}{path} does not answer ({reason}); start the server, or mend --url."
            ) from None
