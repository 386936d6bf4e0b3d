"""The only code of ours beside the student's: loads a submission, then carries out one case after another.

Requests are ``{"cells": [...], "skip": [...], "lean": [...], "helpers": {path: text}}`` once, then ``{"cases": [[[name,
argument, ...], ...], ...]}`` with the payloads of ``fill`` as blobs. Replies are ``{"cell": number}`` before each cell,
then ``{"loaded": [note, ...]}``, then ``{"traces": [[observation, ...], ...]}`` with the bytes of tensors as blobs.
"""

import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from autograder.sandbox.inside.encode import Encoder
from autograder.sandbox.inside.executor import Executor
from autograder.sandbox.inside.notebook import Notebook
from autograder.sandbox.protocol import Decoder, Frame, pack

OUT_OF_MEMORY = 86  # exit status
_REQUEST_BYTES = 1 << 28
_CHUNK = 1 << 16
_read, _write, _exit, _memoryview, _iter = os.read, os.write, os._exit, memoryview, iter
_seed = random.seed


def serve(
    requests: int, replies: int, executor: Callable[[dict[str, Any], Iterable[bytes]], Executor] = Executor
) -> None:
    """Answer requests until their pipe closes, each case on a fresh executor; never returns."""
    try:
        frames = _frames(requests)
        first = next(frames).data
        notebook = Notebook(first["helpers"])
        _seed(0)  # Python seeds this one anew in every forked process
        _load(notebook, first["cells"], frozenset(first["skip"]), frozenset(first["lean"]), replies)
        _send(replies, pack({"loaded": notebook.notes}))
        for frame in frames:
            _send(replies, _run(frame, partial(executor, notebook.names)))
    except MemoryError:
        _exit(OUT_OF_MEMORY)
    _exit(0)


def _run(frame: Frame, executor: Callable[[Iterable[bytes]], Executor]) -> bytes:
    """Carry out every case on an executor of its own; they share the payloads' order and the reply's blobs."""
    payloads, encoder, traces = _iter(frame.blobs), Encoder(), []
    for case in frame.data["cases"]:
        on = executor(payloads)
        on.encoder = encoder
        traces.append([on.observe(operation) for operation in case])
    return pack({"traces": traces}, encoder.blobs)


def _load(notebook: Notebook, cells: Sequence[str], skip: frozenset[int], lean: frozenset[int], replies: int) -> None:
    """Run the cells but those to skip, of some only the definitions, and say before each which one it is."""
    for number, source in enumerate(cells, start=1):
        if number not in skip:
            _send(replies, pack({"cell": number}))
            notebook.run(source, number, number in lean)


def _frames(requests: int) -> Iterator[Frame]:
    decoder = Decoder(_REQUEST_BYTES)
    while chunk := _read(requests, _CHUNK):
        for asked in decoder.feed(chunk):
            decoder.grant()
            yield asked.read(of_our_own=True)


def _send(replies: int, data: bytes) -> None:
    rest = _memoryview(data)
    while rest:
        rest = rest[_write(replies, rest) :]
