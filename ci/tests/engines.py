"""Stand-ins for a serving engine: a server that speaks vLLM's protocol, and a guidellm that has measured already.

guidellm itself is heavy and has its own environment; this one writes those fields of guidellm 0.8.1's report that
are read. Run as a program, this file is vLLM's server, as far as ``ci/serve`` starts one.
"""

import json
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

GUIDELLM = """#!/usr/bin/env python3
import json, pathlib, subprocess, sys
told = dict(zip(sys.argv, sys.argv[1:]))
path = json.loads(told["--output"])["path"]
{before}
pathlib.Path(path).write_text({report!r})
"""
CACHE = """vllm:cache_config_info{{block_size="32",engine="0",num_gpu_blocks="{blocks}"}} 1.0
vllm:num_preemptions_total{{engine="0"}} 3.0
"""
CONFIG = {
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "dtype": "float16",
}
MEANS = {
    "time_to_first_token_ms": 21.5,
    "inter_token_latency_ms": 4.25,
    "prompt_token_count": 32.0,
    "output_token_count": 8.0,
}
METRICS = {name: {"successful": {"mean": mean}, "errored": None} for name, mean in MEANS.items()}
TOTALS = {"successful": 32, "errored": 0, "incomplete": 1, "total": 33}
MEASURED = {
    "metadata": {"guidellm_version": "0.8.1"},
    "benchmarks": [{"metrics": {"request_totals": TOTALS, **METRICS}}],
}


def server(model: str, blocks: int, longest: int, metrics: str, port: int = 0) -> ThreadingHTTPServer:
    """Return a server of this model with so many blocks; it does not serve yet."""
    pages = {
        "/health": " ",
        "/v1/models": json.dumps({"data": [{"id": model, "max_model_len": longest}]}),
        "/version": json.dumps({"version": "0.32.0"}),
        "/metrics": metrics.format(blocks=blocks),
    }

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = pages.get(self.path)
            self.send_response(200 if page else 404)
            self.end_headers()
            self.wfile.write((page or "").encode())

        def log_message(self, *_: object) -> None: ...

    return ThreadingHTTPServer(("127.0.0.1", port), Pages)


@contextmanager
def engine(model: str = "tiny", blocks: int = 65536, longest: int = 1024, metrics: str = CACHE) -> Iterator[str]:
    """Give the address of a running server."""
    with server(model, blocks, longest, metrics) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


def guidellm(folder: Path, report: object = MEASURED, before: str = "") -> Path:
    """Write the program into ``folder`` and return it; ``before`` is what it does first."""
    program = folder / "guidellm"
    program.write_text(GUIDELLM.format(report=json.dumps(report), before=before), encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def changed(*keys: str, to: object) -> dict:
    """Return the report with one field of its metrics changed."""
    report = json.loads(json.dumps(MEASURED))
    place = report["benchmarks"][0]["metrics"]
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = to
    return report


if __name__ == "__main__":
    told = dict(zip(sys.argv, sys.argv[1:], strict=False))
    size = f'kv_cache_memory_bytes="{told["--kv-cache-memory-bytes"]}",block_size="{told["--block-size"]}"'
    metrics = CACHE.replace('block_size="32"', size)
    blocks = int(told["--kv-cache-memory-bytes"]) // (512 * int(told["--block-size"]))  # 512 bytes a token: CONFIG
    server(told["--served-model-name"], blocks, 4096, metrics, int(told["--port"])).serve_forever()
