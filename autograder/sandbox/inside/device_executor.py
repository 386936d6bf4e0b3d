"""The executor on a device: the same operations, with the calls of a submission under watch."""

import dis
import os
import sys
import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import torch

from autograder.sandbox.inside import worker
from autograder.sandbox.inside.device import Device
from autograder.sandbox.inside.encode import MAX_TENSOR_BYTES
from autograder.sandbox.inside.events import event_of_error
from autograder.sandbox.inside.executor import Executor
from autograder.sandbox.inside.open_device import open_device
from autograder.sandbox.limits import EXIT_MACHINE

CALL, END = "call", "end"
"""What the events of a submission's own call stand between; those outside are a decoy's."""

_exit, _Tensor, _Thread, _str = os._exit, torch.Tensor, threading.Thread, str
_attention = torch.nn.functional.scaled_dot_product_attention
_frombuffer, _empty, _empty_like, _ones = torch.frombuffer, torch.empty, torch.empty_like, torch.ones
_on_meta = torch.device("meta")
_TORCH = os.path.dirname(torch.__file__)
_DTYPES = {name: getattr(torch, name) for name in ("float16", "bfloat16", "float32", "float64")}
_DTYPES["float8"] = getattr(torch, "float8_e4m3fn", None)
_uint8, _OutOfMemory, _RuntimeError = torch.uint8, torch.OutOfMemoryError, RuntimeError
_NO_DECOY = (0, 0, 0, 0)
_RAISES = frozenset({dis.opmap["RAISE_VARARGS"], dis.opmap["RERAISE"]})


def executor_on(name: str) -> Callable[[dict[str, Any], Iterable[bytes]], Executor]:
    """Open the device and return what makes the executor of one case on it."""
    device = open_device(name)
    return partial(DeviceExecutor, device, _ones(8).to(device.name))


def serve(executor: Callable[[dict[str, Any], Iterable[bytes]], Executor], requests: int, replies: int) -> None:
    """Serve one submission, in whose process no module of ours can be found by name."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "autograder"]:
        del sys.modules[name]
    worker.serve(requests, replies, executor)


class DeviceExecutor(Executor):
    """Objects whose pools lie on the device; values are read back outside the watch, by this class alone."""

    def __init__(self, device: Device, lure: torch.Tensor, names: dict[str, Any], payloads: Iterable[bytes]) -> None:
        super().__init__(names, payloads)
        self._device, self._lure = device, lure
        self._watched: dict[str, Any] = {"events": [], "taken": 0}
        self._decoy: tuple[int, ...] = _NO_DECOY
        self._results: list[Any] = []

    def _call(self, method: str, m: str, r: str) -> Any:
        result = self._under_watch(partial(super()._call, method, m, r))
        self._results.append(result)
        return result

    def _bait(self, copies: int, size: int, in_thread: int) -> None:
        """Do in a call's place what the watch must see."""

        def call() -> None:
            _by_hand(self._take, size)
            _by_hand(self._bite, copies, in_thread)

        self._under_watch(call)

    def _under_watch(self, call: Callable[[], Any]) -> Any:
        """Return what ``call`` does; what the device saw of it, and of the decoys around it, is kept."""
        device, (before, size, after, in_thread) = self._device, self._decoy
        self._decoy = _NO_DECOY
        _by_hand(device.start)
        with device.watch():
            held = _by_hand(self._take, size) if size else None
            _by_hand(self._bite, before, in_thread)
            device.note(CALL)
            try:
                return call()
            except BaseException as error:
                device.note(event_of_error(error))
                self._end_if_unusable(error)
                raise _plain(error) from None
            finally:
                device.note(END)
                taken = device.taken()
                _by_hand(self._bite, after, in_thread)
                self._watched = {"events": device.events(), "taken": taken}
                del held

    def _take(self, size: int) -> torch.Tensor:
        return _empty(size, dtype=_uint8, device=self._device.name)

    def _bite(self, copies: int, in_thread: int) -> None:
        """Make copies to the host that the watch must see, in this thread or in one of their own."""

        def copy() -> None:
            for _ in range(copies):
                self._lure.cpu()

        if in_thread and copies:
            thread = _Thread(target=copy)
            thread.start()
            thread.join()
        else:
            copy()

    def _step(self, name: str) -> Callable[..., Any]:
        return _STEPS.get(name) or partial(_by_hand, super()._step(name))

    def _encode(self, value: Any) -> Any:
        if not isinstance(value, _Tensor) or value.device.type != self._device.name:
            return super()._encode(value)
        if value.numel() * value.element_size() > MAX_TENSOR_BYTES:
            return {"other": "Tensor"}
        try:
            on_host = self._device.to_host(value.detach())
        except BaseException as error:
            self._end_if_unusable(error)
            raise
        encoded = super()._encode(on_host)
        if "tensor" in encoded:
            encoded["tensor"]["device"] = self._device.name
        return encoded

    def _end_if_unusable(self, error: BaseException) -> None:
        status = self._device.fault(error)
        if status is not None:
            _exit(status)

    def _see_watched(self) -> dict[str, Any]:
        return self._watched

    def _set_decoy(self, *decoy: int) -> None:
        self._decoy = decoy

    def _settle(self) -> None:
        self._device.settle()
        _wait(0.003)  # a thread of the submission that is still at work gets its turn

    def _let_go(self) -> list[str]:
        """Let go of everything, and say what that made the device do."""
        self._device.start()
        with self._device.watch():
            self._results.clear()
            self._managers.clear()
            self._requests.clear()
            self._manager_views.clear()
            self._request_views.clear()
        return self._device.events()

    def _again(self, back: int) -> Any:
        return self._results[-1 - back]

    def _pool(self, dtype: str, shape: list[int]) -> int | None:
        wanted, (_, size, _, _) = _DTYPES[dtype], self._decoy
        self._decoy = _NO_DECOY
        if wanted is None:
            return None
        self._device.start()
        held = _empty(shape, dtype=wanted, device=self._device.name), self._take(size)
        taken = self._device.taken()
        del held
        return taken

    def _vast(self, m: str, num_blocks: int, block_size: int, head_dim: int, dtype: str, device: str) -> str:
        self._new_vast(m, num_blocks, block_size, head_dim, dtype, device)
        pool, has_values = self._device.vast_pool((num_blocks, block_size, head_dim), _DTYPES[dtype])
        start = _frombuffer(bytearray(next(self._payloads)), dtype=_DTYPES[dtype]).reshape(-1, head_dim)
        if has_values:
            pool[-1, : len(start)] = start.to(pool.device)
        manager = self._managers[m]
        manager.physical_kv_cache = pool
        if manager.num_blocks != num_blocks:
            manager.num_blocks = num_blocks
        return device if has_values else "meta"

    def _new_vast(self, m: str, num_blocks: int, block_size: int, head_dim: int, dtype: str, device: str) -> None:
        """Make a manager of so many blocks whose pool has no values yet, or of one block where it insists on values."""
        try:
            with _on_meta:
                self._new(m, num_blocks, block_size, head_dim, dtype, "meta")
        except (_RuntimeError, MemoryError):
            self._new(m, 1, block_size, head_dim, dtype, device)

    def _attend(self, m: str, r: str) -> Any:
        keys = self._object(self._managers, m).get_physical_cache(self._object(self._requests, r))[None]
        return _attention(keys[:, -1:], keys, keys)

    def _rates(self, m: str, r: str) -> dict[str, int]:
        manager, request = self._object(self._managers, m), self._object(self._requests, r)
        as_many = _empty_like(manager.get_physical_cache(request))
        return self._device.rates(lambda: manager.get_physical_cache(request), as_many)


_wait = threading.Event().wait


def _plain(error: BaseException) -> BaseException:
    """Return the error, as a RuntimeError where torch itself says that it does not implement something.

    The starter says so in the same words by a ``raise`` in Python; torch's comes out of a call.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if not isinstance(error, NotImplementedError) or trace is None:
        return error
    code = trace.tb_frame.f_code
    if code.co_code[trace.tb_lasti] in _RAISES and not code.co_filename.startswith(_TORCH):
        return error
    return _RuntimeError(_str(error))


def _by_hand(step: Callable[..., Any], *args: Any) -> Any:
    """Take a step that is ours; where the device fails in it, the machine is at fault and not the submission."""
    try:
        return step(*args)
    except _OutOfMemory:
        _exit(EXIT_MACHINE)
    except _RuntimeError as error:
        if "CUDA error" in _str(error):
            _exit(EXIT_MACHINE)
        raise


_STEPS: dict[str, Callable[..., Any]] = {
    "watched": DeviceExecutor._see_watched,
    "decoy": DeviceExecutor._set_decoy,
    "bait": DeviceExecutor._bait,
    "settle": partial(_by_hand, DeviceExecutor._settle),
    "again": DeviceExecutor._again,
    "gone": DeviceExecutor._let_go,
    "pool": partial(_by_hand, DeviceExecutor._pool),
    "vast": partial(_by_hand, DeviceExecutor._vast),
    "attend": DeviceExecutor._attend,
    "rates": DeviceExecutor._rates,
}
