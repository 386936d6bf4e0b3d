"""The executor on a device: the same operations, with the calls of a submission under watch."""

import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import torch

from autograder.sandbox.inside.device import Device, open_device
from autograder.sandbox.inside.encode import MAX_TENSOR_BYTES
from autograder.sandbox.inside.executor import Executor
from autograder.sandbox.limits import EXIT_MACHINE

_exit, _Tensor = os._exit, torch.Tensor
_attention = torch.nn.functional.scaled_dot_product_attention
_frombuffer, _empty, _equal = torch.frombuffer, torch.empty, torch.equal
_DTYPES = {name: getattr(torch, name) for name in ("float16", "bfloat16", "float32", "float64")}
_DTYPES["float8"] = getattr(torch, "float8_e4m3fn", None)


def executor_on(name: str) -> Callable[[dict[str, Any], Iterable[bytes]], Executor]:
    """Open the device and return what makes the executor of one case on it."""
    return partial(DeviceExecutor, open_device(name))


class DeviceExecutor(Executor):
    """Objects whose pools lie on the device; values are read back outside the watch, by this class alone."""

    def __init__(self, device: Device, names: dict[str, Any], payloads: Iterable[bytes]) -> None:
        super().__init__(names, payloads)
        self._device = device
        self._watched: dict[str, Any] = {"events": [], "taken": 0}

    def _call(self, method: str, m: str, r: str) -> Any:
        watch = self._device.watch()
        try:
            with watch:
                return super()._call(method, m, r)
        except BaseException as error:
            watch.note_error(error)
            self._end_if_unusable(error)
            raise
        finally:
            self._watched = {"events": watch.seen, "taken": self._device.taken()}

    def _step(self, name: str) -> Callable[..., Any]:
        return _STEPS.get(name) or partial(_by_hand, super()._step(name))

    def _encode(self, value: Any) -> Any:
        if not isinstance(value, _Tensor) or value.device.type != self._device.name:
            return super()._encode(value)
        if value.numel() * value.element_size() > MAX_TENSOR_BYTES:
            return {"other": "Tensor"}
        encoded = super()._encode(self._device.to_host(value.detach()))
        encoded["tensor"]["device"] = self._device.name
        return encoded

    def _end_if_unusable(self, error: BaseException) -> None:
        status = self._device.fault(error)
        if status is not None:
            _exit(status)

    def _see_watched(self) -> dict[str, Any]:
        return self._watched

    def _pool(self, dtype: str, shape: list[int]) -> int | None:
        wanted = _DTYPES[dtype]
        if wanted is None:
            return None
        self._device.watch()
        held = _empty(shape, dtype=wanted, device=self._device.name)
        taken = self._device.taken()
        del held
        return taken

    def _vast(self, m: str, num_blocks: int, block_size: int, head_dim: int, dtype: str, device: str) -> str:
        self._new(m, 1, block_size, head_dim, dtype, device)
        pool, has_values = self._device.vast_pool((num_blocks, block_size, head_dim), _DTYPES[dtype])
        start = _frombuffer(bytearray(next(self._payloads)), dtype=_DTYPES[dtype]).reshape(-1, head_dim)
        if has_values:
            pool[-1, : len(start)] = start.to(pool.device)
        manager = self._managers[m]
        manager.physical_kv_cache, manager.num_blocks = pool, num_blocks
        return device if has_values else "meta"

    def _measure(self, m: str, r: str) -> dict[str, int]:
        manager, request = self._object(self._managers, m), self._object(self._requests, r)
        pool: Any = manager.physical_kv_cache
        rows = pool[list(request.block_table)].flatten(0, 1)[: request.seq_len]
        cache = manager.get_physical_cache(request)
        same = _equal(*(self._device.to_host(_attend(one)) for one in (cache, rows)))
        return {"attention_equal": int(same), **self._device.rates(lambda: manager.get_physical_cache(request), rows)}


def _attend(cache: torch.Tensor) -> torch.Tensor:
    keys = cache[None]
    return _attention(keys[:, -1:], keys, keys)


def _by_hand(step: Callable[..., Any], executor: DeviceExecutor, *args: Any) -> Any:
    """Take a step that is ours; where the device fails in it, the machine is at fault and not the submission."""
    try:
        return step(executor, *args)
    except torch.OutOfMemoryError:
        _exit(EXIT_MACHINE)


_STEPS: dict[str, Callable[..., Any]] = {
    "watched": DeviceExecutor._see_watched,
    "pool": partial(_by_hand, DeviceExecutor._pool),
    "vast": partial(_by_hand, DeviceExecutor._vast),
    "measure": DeviceExecutor._measure,
}
