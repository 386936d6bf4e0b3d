"""What a call does to a device: how an operation of torch counts, a log that only grows, and what fills it on CUDA."""

import _thread
import threading
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

Note = Callable[[str], None]

_Tensor, _device_of = torch.Tensor, torch.device
_WAITS = frozenset(
    f"aten::{name}"
    for name in (
        "_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero", "_unique", "_unique2", "unique_dim",
        "unique_consecutive", "allclose", "bincount",
    )
)  # fmt: skip
_INDEXING = frozenset({"aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_"})
_MASKS = (torch.bool, torch.uint8)
_MOST_EVENTS = 64


def new_log() -> tuple[Note, Callable[[], list[str]]]:
    """Return what adds a word to a log, and what empties it and returns its words.

    The log is one string inside these two functions: no name leads to it, and nobody else holds it.
    """
    words, room = "", _MOST_EVENTS

    def note(event: str) -> None:
        nonlocal words, room
        if event and room:
            words, room = f"{words}{event} ", room - 1

    def take() -> list[str]:
        nonlocal words, room
        taken, words, room = words.split(), "", _MOST_EVENTS
        return taken

    return note, take


def event_of(name: str, args: Any, kwargs: Any, device: str) -> str:
    """Return the word for an operation by its name in torch, empty where it stays on ``device``.

    ``copy``: data went to the host. ``sync``: the host waited for a value. ``elsewhere``: data was written into a
    tensor on the host. ``index``: a device tensor was indexed by a host tensor. ``upload``: data came from the host.
    """

    def is_here(value: Any) -> bool:
        return isinstance(value, _Tensor) and value.device.type == device

    if name == "aten::_to_copy":
        target = kwargs.get("device")
        target = args[0].device.type if target is None else _device_of(target).type
        if is_here(args[0]):
            return "copy" if target == "cpu" else ""
        return "upload" if target == device else ""
    if name == "aten::copy_":
        if is_here(args[0]):
            return "" if is_here(args[1]) else "upload"
        return "elsewhere" if is_here(args[1]) else ""
    if not args or not is_here(args[0]):
        return ""
    if name in _WAITS or (name == "aten::repeat_interleave" and kwargs.get("output_size") is None):
        return "sync"
    if name in _INDEXING:
        indices = [index for index in args[1] if isinstance(index, _Tensor)]
        if any(index.device.type == "cpu" and index.dim() > 0 for index in indices):
            return "index"
        return "sync" if any(index.dtype in _MASKS for index in indices) else ""
    return ""


def event_of_error(error: BaseException) -> str:
    """Return the word for what torch reports by refusing it."""
    try:
        text = str(error)
    except BaseException:
        return ""
    if "to numpy" in text or ".numpy()" in text:
        return "copy"
    return "mixed" if "same device" in text else ""


class DispatchWatch(TorchDispatchMode):  # type: ignore[misc]
    """While active, notes every operation of this thread."""

    def __init__(self, device: str, note: Note) -> None:
        super().__init__()
        self._device, self._note = device, note

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self._note(event_of(function._schema.name, args, kwargs or {}, self._device))
        return function(*args, **(kwargs or {}))


def watch_new_threads(device: str, note: Note) -> None:
    """From now on run every new thread of Python under a watch of its own, since a mode is bound to one thread."""
    start = _thread.start_new_thread

    def started(function: Any, args: Any, kwargs: Any = None) -> Any:
        def watched(*given: Any, **named: Any) -> None:
            with DispatchWatch(device, note):
                function(*given, **named)

        return start(watched, args, kwargs or {})

    for module in (_thread, threading):
        for name in ("start_new_thread", "start_new", "_start_new_thread"):
            if hasattr(module, name):
                setattr(module, name, started)
    if hasattr(threading, "_start_joinable_thread"):  # since Python 3.13
        joinable = threading._start_joinable_thread

        def started_joinable(function: Any, *, handle: Any = None, daemon: bool = True) -> Any:
            def watched() -> None:
                with DispatchWatch(device, note):
                    function()

            return joinable(watched, handle=handle, daemon=daemon)

        threading._start_joinable_thread = started_joinable
