"""One check of a running server: capacity, load at every level of concurrency, and the files that say so."""

import shutil
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

from autograder.reporting.files import write_atomic
from autograder.serving.evidence import Evidence, demand_possible, demand_proof, plot, table
from autograder.serving.ledger import shape_of
from autograder.serving.load import Load, drive, levels, version
from autograder.serving.machine import machine
from autograder.serving.server import Server, ServingError


def serve_check(
    model: Path, url: str, dtype: str | None, capacity: int | None, load: Load, guidellm: str, out: Path
) -> Evidence:
    """Return what a server of ``model`` showed; serving.md, serving.svg and guidellm's reports are in ``out``."""
    server = Server(url)
    name, longest = server.model()
    asked = model.resolve().name
    if Path(name).name != asked:
        raise ServingError(f"{url} serves {name} and not {asked}; start it with this model, or name the other.")
    cache = server.cache()
    shape, capacity = shape_of(model, cache.dtype or dtype), capacity or cache.bytes
    if capacity is None:
        raise ServingError(
            f"{url} does not tell how many bytes its KV cache has; give what it was started with by --bytes."
        )
    demand_possible(load, longest, url)
    program = shutil.which(guidellm) or shutil.which(guidellm, path=str(Path(sys.executable).parent))
    if program is None:
        raise ServingError(f"{guidellm} is not to be found; install the extra `serving`, or name it with --guidellm.")
    out.mkdir(parents=True, exist_ok=True)
    for old in (out / "serving.md", out / "serving.svg", *out.glob("guidellm-*.json")):
        old.unlink(missing_ok=True)  # reports of this run must not stand beside another's table
    measured, preempted = [], []
    for streams in load.concurrency:  # one run each, so that preemptions can be told apart
        before = server.preempted()
        report = out / f"guidellm-{streams}.json"
        drive(program, url, name, model, replace(load, concurrency=(streams,)), report)
        measured += levels(report, [streams])
        demand_proof(measured[-1], load)
        preempted.append(server.preempted() - before)
    versions = f"{server.version()}, {version(report)}"
    evidence = Evidence(name, shape, cache, capacity, load, measured, preempted, versions, machine(), date.today())
    write_atomic(out / "serving.md", table(evidence).encode())
    plot(measured, out / "serving.svg")
    return evidence
