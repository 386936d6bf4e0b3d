"""The device that a child grades on, reduced to what the worker asks of it."""

from collections.abc import Callable
from typing import Protocol

import torch

from autograder.sandbox.inside.events import DeviceEvents


class Device(Protocol):
    """Memory and values of one device."""

    name: str

    def watch(self) -> DeviceEvents:
        """Return a watch for one call; memory is counted from here on."""

    def taken(self) -> int:
        """Return how many bytes were taken since the last :meth:`watch`, at their highest."""

    def to_host(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return the values as an ordinary tensor, on meta where there are none."""

    def vast_pool(self, shape: tuple[int, ...], dtype: torch.dtype) -> tuple[torch.Tensor, bool]:
        """Return an uninitialised pool of any size, and whether it has values: where memory is short it has none."""

    def fault(self, error: BaseException) -> int | None:
        """Return the exit status when ``error`` makes it impossible to go on in this process."""

    def rates(self, read: Callable[[], object], rows: torch.Tensor) -> dict[str, int]:
        """Return MB/s of ``read`` and of a plain copy of ``rows``, nothing where that means nothing."""


class FakeGpu:
    """The stand-in."""

    def __init__(self) -> None:
        from autograder.sandbox.inside import fakegpu

        self.name = fakegpu.NAME
        self._tensor, self._memory = fakegpu.FakeTensorOnDevice, fakegpu.Memory
        self._watch = DeviceEvents(self.name)
        self._before = 0
        self._library = fakegpu.install(lambda: self._watch.note("sync"))

    def watch(self) -> DeviceEvents:
        self._watch, self._before = DeviceEvents(self.name), self._memory.taken
        return self._watch

    def taken(self) -> int:
        return self._memory.taken - self._before

    def to_host(self, tensor: torch.Tensor) -> torch.Tensor:
        assert isinstance(tensor, self._tensor)
        return tensor.raw

    def vast_pool(self, shape: tuple[int, ...], dtype: torch.dtype) -> tuple[torch.Tensor, bool]:
        return self._tensor(torch.empty(shape, dtype=dtype, device="meta")), False

    def fault(self, error: BaseException) -> int | None:
        return None

    def rates(self, read: Callable[[], object], rows: torch.Tensor) -> dict[str, int]:
        return {}


def open_device(name: str) -> Device:
    """Return the device, initialised and warm: the first call of a kind is slow."""
    device = _open(name)
    pool = torch.zeros(2, 2, 2).to(device.name, dtype=torch.bfloat16)
    with device.watch():
        pool[[1, 0]].flatten(0, 1)[:3].clone()
        torch.cat([pool[0], pool[torch.tensor([1], device=device.name)][0]])
    device.to_host(pool)
    return device


def _open(name: str) -> Device:
    if name != "cuda":
        return FakeGpu()
    from autograder.sandbox.inside.cuda import Cuda

    return Cuda()
