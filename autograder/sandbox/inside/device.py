"""The device that a child grades on, reduced to what the executor asks of it: a record of functions."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import torch


@dataclass(frozen=True)
class Device:
    """One device. Made before student code runs: each function holds what it needs, and no class can be patched."""

    name: str
    start: Callable[[], None]
    """Forget what was noted; memory is counted from here on."""
    watch: Callable[[], AbstractContextManager[Any]]
    """Return a context in which what happens between host and device is noted."""
    note: Callable[[str], None]
    """Add a word of our own to the events."""
    events: Callable[[], list[str]]
    """Return the events since the start, in order, and forget them."""
    taken: Callable[[], int]
    """Return how many bytes were taken since the start, at their highest."""
    settle: Callable[[], None]
    """Wait until nothing is under way any more."""
    to_host: Callable[[torch.Tensor], torch.Tensor]
    """Return the values as an ordinary tensor, on meta where there are none; nothing is noted."""
    vast_pool: Callable[[tuple[int, ...], torch.dtype], tuple[torch.Tensor, bool]]
    """Return an uninitialised pool of any size, and whether it has values: where memory is short it has none."""
    fault: Callable[[BaseException], int | None]
    """Return the exit status where the device, asked again, is found unusable; None for an error of the call's own."""
    rates: Callable[[Callable[[], object], torch.Tensor], dict[str, int]]
    """Return MB/s of a read and of a plain copy of as many rows, nothing where that means nothing."""
