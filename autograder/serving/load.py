"""Load on a server by guidellm, one run for all levels of concurrency, and what it measured at each."""

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.serving.server import ServingError

STILL_S = 600
"""How long a server may send nothing before a request counts as failed; guidellm alone waits for ever."""


@dataclass(frozen=True)
class Load:
    """What is asked of the server: lengths in tokens, requests at each level of concurrency."""

    prompt_tokens: int
    output_tokens: int
    requests: int
    concurrency: tuple[int, ...]


@dataclass(frozen=True)
class Level:
    """What one level of concurrency showed; times are means in milliseconds, lengths means in tokens."""

    concurrency: int
    done: int
    failed: int
    ttft_ms: float
    tpot_ms: float
    prompt_tokens: float
    output_tokens: float


def drive(program: str, url: str, name: str, model: Path, load: Load, report: Path) -> None:
    """Let guidellm put ``load`` on the server and write its own report; raise ServingError where it cannot."""
    completions = {"target": url, "model": name, "request_format": "/v1/completions", "timeout": STILL_S}
    lengths = {"prompt_tokens": load.prompt_tokens, "output_tokens": load.output_tokens}
    command = [
        program,
        "run",
        *("--backend", json.dumps({"kind": "openai_http", **completions})),
        *("--profile", json.dumps({"kind": "concurrent", "streams": load.concurrency})),
        *("--constraint", json.dumps({"kind": "max_requests", "count": load.requests})),
        *("--tokenizer", json.dumps({"kind": "hf_auto", "model": str(model)})),
        *("--data", json.dumps({"kind": "synthetic_text", **lengths})),
        *("--output", json.dumps({"kind": "json", "path": str(report)})),
        "--disable-console",
    ]
    offline = {**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    try:
        code, output = _run(command, offline)
    except OSError as error:
        raise ServingError(f"{program} does not start ({error.strerror}); name guidellm with --guidellm.") from error
    if code or not report.is_file():
        said = [line.strip() for line in output.splitlines() if line.strip()]
        raise ServingError(f"guidellm ended with {code}: {said[-1][:300] if said else 'it said nothing'}.")


def _run(command: Sequence[str], environment: Mapping[str, str]) -> tuple[int, str]:
    """Run a program to its end; whoever is interrupted meanwhile leaves none of its processes behind."""
    pipe = subprocess.PIPE
    running = subprocess.Popen(
        command, env=environment, stdout=pipe, stderr=pipe, text=True, errors="replace", start_new_session=True
    )
    try:
        said, complained = running.communicate()
    except BaseException:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        raise
    return running.returncode, complained or said


def levels(report: Path, concurrency: Sequence[int]) -> list[Level]:
    """Read guidellm's report; raise ServingError where it is none of these levels."""
    try:
        benchmarks = json.loads(report.read_text(encoding="utf-8"))["benchmarks"]
        return [_level(one, streams) for one, streams in zip(benchmarks, concurrency, strict=True)]
    except (OSError, ValueError, KeyError, TypeError):
        raise ServingError(
            f"{report} is no report of guidellm 0.8 on these levels of concurrency; run again."
        ) from None


def version(report: Path) -> str:
    """Return the name and version of the program that wrote a report, as the report tells it."""
    try:
        return f"guidellm {json.loads(report.read_text(encoding='utf-8'))['metadata']['guidellm_version']}"
    except (OSError, ValueError, KeyError, TypeError):
        return "a guidellm that tells no version"


def _level(benchmark: dict[str, Any], streams: int) -> Level:
    metrics = benchmark["metrics"]
    totals = metrics["request_totals"]

    def mean(name: str) -> float:
        return float((metrics[name]["successful"] or {}).get("mean") or 0.0)

    return Level(
        streams,
        int(totals["successful"]),
        int(totals["errored"]),
        mean("time_to_first_token_ms"),
        mean("inter_token_latency_ms"),
        mean("prompt_token_count"),
        mean("output_token_count"),
    )
