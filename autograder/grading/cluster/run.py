"""The run's side of a cluster: it sends chunks, takes back rows and files, and is the only one that writes into OUT."""

import asyncio
import logging
import platform
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from hashlib import sha256
from importlib.metadata import version
from time import monotonic
from typing import Any

from distributed import Client, Future, KilledWorker, Security, wait
from distributed.comm.core import connect

import autograder
from autograder.contract.seed import read_seed
from autograder.errors import GraderError
from autograder.findings import Finding
from autograder.grading.cluster.install import install
from autograder.grading.cluster.plugin import GPU, Grading, grade_chunk, greeted
from autograder.grading.cluster.supervisor import Chunk, Order, Returned
from autograder.grading.many.work import Job
from autograder.grading.many.worker import ATTEMPTS, given_up
from autograder.grading.one.hidden_test_files import tests_version
from autograder.intake.carry import carry
from autograder.intake.discover import Entry

PACKAGE = "paged-attention-autograder"
SMALLEST, LARGEST = 10, 25
AHEAD = 3
"""Chunks per thread that are on their way: enough that no worker waits, few enough to lie in memory."""
CONNECT_S, LOOK_S, ALONE_S = 10.0, 1.0, 60.0


class ClusterError(GraderError):
    """The cluster cannot be used, or no longer; the text is one sentence that says what to do."""


def grade_on_cluster(entries: Sequence[Entry], address: str, job: Job) -> Iterator[dict[str, Any]]:
    """Yield a journal row per entry as it is graded, as the pool of one machine does; its files are in OUT by then.

    Dask sends a chunk whose worker died to another. One whose workers all died is split: its entries are graded again
    one at a time, with nothing else on the cluster, so that only what kills a worker by itself is given up.
    """
    name = f"autograder-{sha256(str(job.out.resolve()).encode()).hexdigest()[:16]}"
    with _connected(address) as client, _prepared(client, address, name, job) as threads:
        size = min(LARGEST, max(SMALLEST, len(entries) // (8 * threads)))
        chunks = [entries[start : start + size] for start in range(0, len(entries), size)]
        suspects: list[Entry] = []
        yield from _graded(client, name, job, chunks, AHEAD * threads, suspects)
        for suspect in list(suspects):
            suspects.clear()
            yield from _graded(client, name, job, [[suspect]], 1, suspects)
            if suspects:
                yield given_up(suspect, Finding("grading.given_up", {"attempts": ATTEMPTS}), job.device)


@contextmanager
def _connected(address: str) -> Iterator[Client]:
    """Give a client of the scheduler; whatever is lost between them ends in one sentence, without Dask's own words."""
    logging.disable(logging.CRITICAL)
    try:
        asyncio.run(asyncio.wait_for(_greeting(address), CONNECT_S))
        client = Client(address, timeout=CONNECT_S)
    except Exception as error:  # another service may answer with anything
        logging.disable(logging.NOTSET)
        raise ClusterError(
            f"No Dask scheduler of this version answers at {address}; start one with `dask scheduler`, or mend the "
            "address."
        ) from error
    try:
        yield client
    except (OSError, CancelledError) as error:
        if client.status == "running" and not isinstance(error, CancelledError):
            raise
        raise ClusterError(
            f"The scheduler at {address} is gone; what was graded is kept: start it and run again with --resume."
        ) from error
    finally:
        client.close(timeout=LOOK_S)
        logging.disable(logging.NOTSET)


async def _greeting(address: str) -> None:
    """Exchange greetings with a scheduler; Dask's client alone would wait for ever for one from a silent port."""
    comm = await connect(address, timeout=CONNECT_S, **Security().get_connection_args("client"))
    comm.abort()


@contextmanager
def _prepared(client: Client, address: str, name: str, job: Job) -> Iterator[int]:
    """Have supervisors on every worker that is to grade, and give how many grade side by side."""
    workers = client.scheduler_info(n_workers=-1)["workers"]
    if not workers:
        raise ClusterError(f"The cluster at {address} has no workers; start some with `dask worker {address}`.")
    for worker, found in client.run(version, PACKAGE, on_error="return").items():
        if found != autograder.__version__:
            there = found if isinstance(found, str) else "missing"
            raise ClusterError(
                f"The worker {worker} cannot grade: {PACKAGE} is {there} there and {autograder.__version__} here; "
                "install the same version."
            )
    chosen = [worker for worker, about in workers.items() if job.device != "cuda" or GPU in about["resources"]]
    if not chosen:
        raise ClusterError(f"No worker of {address} has a GPU; start one with `dask worker --resources GPU=1`.")
    seed = read_seed(job.config.seed_file)
    versions = {
        "python": platform.python_version(),
        "torch": version("torch"),
        "otter": version("otter-grader"),
        "tests": tests_version(),
    }
    order = Order(job.config, job.lang, job.allow_weak, job.device, "" if seed.is_public else seed.text, versions)
    client.register_plugin(Grading(name, order))
    try:
        for worker, problem in client.run(greeted, name, workers=chosen).items():
            if problem:
                raise ClusterError(f"The worker {worker} cannot grade: {problem}")
        yield len(chosen) if job.device == "cuda" else sum(workers[worker]["nthreads"] for worker in chosen)
    finally:
        client.unregister_worker_plugin(name)


def _graded(
    client: Client, name: str, job: Job, chunks: Sequence[Sequence[Entry]], most: int, suspects: list[Entry]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of chunks, at most so many on their way; those whose workers died are added to ``suspects``."""
    waiting = deque(chunks)
    going: dict[Future[Any], Sequence[Entry]] = {}
    resources = {GPU: 1} if job.device == "cuda" else None
    while waiting or going:
        while waiting and len(going) < most:
            entries = waiting.popleft()
            known = {e.student: job.known[e.student] for e in entries if e.student in job.known}
            chunk = Chunk([carry(entry) for entry in entries], known)
            going[client.submit(grade_chunk, name, chunk, pure=False, resources=resources)] = entries
        for future in _finished(client, going):
            entries = going.pop(future)
            yield from _rows(future, entries, job, suspects)


def _finished(client: Client, going: dict[Future[Any], Sequence[Entry]]) -> set[Future[Any]]:
    """Wait for the next chunk; raise ClusterError where there has been no worker for a while."""
    lonely_since = None
    while True:
        try:
            finished: set[Future[Any]] = wait(list(going), timeout=LOOK_S, return_when="FIRST_COMPLETED").done
            return finished
        except TimeoutError:
            if client.nthreads():
                lonely_since = None
                continue
        lonely_since = lonely_since or monotonic()
        if monotonic() - lonely_since > ALONE_S:
            raise ClusterError(
                f"The cluster has had no worker for {ALONE_S:.0f} s; what was graded is kept: start some and run again "
                "with --resume."
            )


def _rows(future: Future[Any], entries: Sequence[Entry], job: Job, suspects: list[Entry]) -> Iterator[dict[str, Any]]:
    try:
        returned: list[Returned] = future.result()
    except KilledWorker:
        suspects += entries
        return
    except (GraderError, CancelledError):
        raise
    except Exception as error:
        raise ClusterError(f"A worker failed on a chunk ({type(error).__name__}: {error}); see its log.") from error
    finally:
        future.release()
    by_name = {entry.student: entry for entry in entries}
    for one in returned:
        if one.row:
            install(job.out, by_name[one.row["student"]], one)
        yield one.row
