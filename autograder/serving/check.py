"""One check of a running server: capacity, load at every level of concurrency, and the files that say so."""

import shutil
import sys
from dataclasses import replace
from pathlib import Path

from autograder.reporting.files import write_atomic
from autograder.serving.evidence import Evidence, demand_possible, demand_proof, plot, table
from autograder.serving.ledger import shape_of
from autograder.serving.load import Load, drive, levels
from autograder.serving.server import Server, ServingError


def serve_check(
    model: Path, url: str, dtype: str, capacity: int | None, load: Load, guidellm: str, out: Path
) -> Evidence:
    """Return what a server of ``model`` showed; serving.md, serving.svg and guidellm's reports are in ``out``."""
    server, shape = Server(url), shape_of(model, dtype)
    name, longest = server.model()
    if Path(name).name != model.resolve().name:
        raise ServingError(f"{url} serves {name} and not {model.name}; start it with this model, or name the other.")
    cache = server.cache()
    capacity = capacity or cache.bytes
    if capacity is None:
        raise ServingError(
            f"{url} does not tell how many bytes its KV cache has; give what it was started with by --bytes."
        )
    demand_possible(load, longest, url)
    program = shutil.which(guidellm) or shutil.which(guidellm, path=str(Path(sys.executable).parent))
    if program is None:
        raise ServingError(f"{guidellm} is not to be found; install the extra `serving`, or name it with --guidellm.")
    out.mkdir(parents=True, exist_ok=True)
    measured, preempted = [], []
    for streams in load.concurrency:  # one run each, so that preemptions can be told apart
        before = server.preempted()
        report = out / f"guidellm-{streams}.json"
        report.unlink(missing_ok=True)
        drive(program, url, name, model, replace(load, concurrency=(streams,)), report)
        measured += levels(report, [streams])
        preempted.append(server.preempted() - before)
    demand_proof(measured, load)
    evidence = Evidence(name, shape, cache, capacity, load, measured, preempted, server.version())
    write_atomic(out / "serving.md", table(evidence).encode())
    plot(measured, out / "serving.svg")
    return evidence
