"""The only code of ours beside the student's: loads a submission, then carries out one case after another.

Requests are ``{"cells": [...], "skip": [...]}`` once, then ``{"cases": [[[name, argument, ...], ...], ...]}``
with the payloads of ``fill`` as blobs. Replies are ``{"cell": number}`` before each cell, then ``{"loaded": {"errors":
[...]}}``, then ``{"traces": [[observation, ...], ...]}`` with the bytes of tensors as blobs.
"""

import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from types import ModuleType
from typing import Any

from autograder.sandbox.inside.cells import cell_name, compile_cell
from autograder.sandbox.inside.encode import MAX_TEXT, Encoder, type_name
from autograder.sandbox.inside.exception_data import message
from autograder.sandbox.inside.executor import Executor
from autograder.sandbox.inside.inert_modules import furnish
from autograder.sandbox.protocol import Decoder, Frame, pack

OUT_OF_MEMORY = 86  # exit status
_REQUEST_BYTES = 1 << 28
_CHUNK = 1 << 16
_read, _write, _exit, _exec, _memoryview, _iter = os.read, os.write, os._exit, exec, memoryview, iter
_seed = random.seed


def serve(
    requests: int, replies: int, executor: Callable[[dict[str, Any], Iterable[bytes]], Executor] = Executor
) -> None:
    """Answer requests until their pipe closes, each case on a fresh executor; never returns."""
    try:
        frames = _frames(requests)
        first = next(frames).data
        module = furnish()
        _seed(0)  # Python seeds this one anew in every forked process
        errors = _load(module, first["cells"], frozenset(first["skip"]), replies)
        _send(replies, pack({"loaded": {"errors": errors}}))
        for frame in frames:
            _send(replies, _run(frame, partial(executor, module.__dict__)))
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


def _load(module: ModuleType, cells: Sequence[str], skip: frozenset[int], replies: int) -> list[dict[str, Any]]:
    """Run the cells in one namespace; a cell that fails is noted and does not stop the rest."""
    errors = []
    flags = 0
    for number, source in enumerate(cells, start=1):
        if number in skip:
            continue
        _send(replies, pack({"cell": number}))
        try:
            code, flags = compile_cell(source, number, flags)
            _exec(code, module.__dict__)
        except BaseException as error:
            errors.append(_note(error, number))
    return errors


def _note(error: BaseException, number: int) -> dict[str, Any]:
    return {
        "cell": number,
        "name": type_name(error),
        "line": _line(error, cell_name(number)),
        "text": message(error)[:MAX_TEXT],
    }


def _line(error: BaseException, file: str) -> int | None:
    """Return the innermost line of the cell on the way to the error."""
    line = error.lineno if type(error) in (SyntaxError, IndentationError, TabError) else None  # type: ignore[attr-defined]
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line if type(line) is int else None


def _frames(requests: int) -> Iterator[Frame]:
    decoder = Decoder(_REQUEST_BYTES)
    while chunk := _read(requests, _CHUNK):
        for asked in decoder.feed(chunk):
            decoder.grant()
            yield asked.read()


def _send(replies: int, data: bytes) -> None:
    rest = _memoryview(data)
    while rest:
        rest = rest[_write(replies, rest) :]
