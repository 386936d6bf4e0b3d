"""A real GPU, by CUDA. Not to be imported before the process that uses it has been started for it alone."""

import time
import warnings
from collections.abc import Callable
from contextlib import ExitStack

import torch

from autograder.sandbox.inside.events import DeviceEvents
from autograder.sandbox.inside.no_device import NoDevice
from autograder.sandbox.limits import EXIT_DEVICE, EXIT_MACHINE, MIB

MEMORY_FRACTION = 0.5
SPARE_BYTES = 512 * MIB
_ROUNDS = 20
_WAITED = "called a synchronizing CUDA operation"


class CudaEvents(DeviceEvents):
    """Also asks CUDA itself about waiting, which sees what torch's dispatcher does not show."""

    def __enter__(self) -> "CudaEvents":
        self._stack = ExitStack()
        self._noted = self._stack.enter_context(warnings.catch_warnings(record=True)) or []
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        super().__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        torch.cuda.set_sync_debug_mode("default")
        self._stack.close()
        if any(_WAITED in str(warning.message) for warning in self._noted):
            self.note("wait")


class Cuda:
    """The first GPU that is visible; its memory is capped for this process."""

    name = "cuda"

    def __init__(self) -> None:
        if torch.version.cuda is None:
            raise NoDevice("This torch was built without CUDA; remove .venv and run ci/gpu on the GPU machine.")
        if not torch.cuda.is_available():
            raise NoDevice("CUDA finds no device here; install the NVIDIA driver and see that nvidia-smi lists a GPU.")
        torch.cuda.init()
        torch.cuda.set_per_process_memory_fraction(MEMORY_FRACTION)
        self._before = 0

    def watch(self) -> DeviceEvents:
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        self._before = torch.cuda.memory_allocated()
        return CudaEvents(self.name)

    def taken(self) -> int:
        return int(torch.cuda.max_memory_allocated()) - self._before

    def to_host(self, tensor: torch.Tensor) -> torch.Tensor:
        return tensor.cpu()

    def vast_pool(self, shape: tuple[int, ...], dtype: torch.dtype) -> tuple[torch.Tensor, bool]:
        free, total = torch.cuda.mem_get_info()
        fits = torch.Size(shape).numel() * dtype.itemsize + SPARE_BYTES < min(free, total * MEMORY_FRACTION)
        return torch.empty(shape, dtype=dtype, device=self.name if fits else "meta"), fits

    def fault(self, error: BaseException) -> int | None:
        if isinstance(error, torch.OutOfMemoryError):
            free, total = torch.cuda.mem_get_info()
            others = total - free - torch.cuda.memory_reserved()
            return EXIT_MACHINE if others > total * (1 - MEMORY_FRACTION) else None
        return EXIT_DEVICE if isinstance(error, RuntimeError) and "CUDA error" in str(error) else None

    def rates(self, read: Callable[[], object], rows: torch.Tensor) -> dict[str, int]:
        megabytes = rows.numel() * rows.element_size() / 1e6
        return {"read_mb_s": _rate(read, megabytes), "copy_mb_s": _rate(rows.clone, megabytes)}


def _rate(step: Callable[[], object], megabytes: float) -> int:
    """Return how many MB/s ``step`` moves; a read counts once, though it is read and written."""
    step()
    torch.cuda.synchronize()
    started = time.perf_counter()
    for _ in range(_ROUNDS):
        step()
    torch.cuda.synchronize()
    return round(megabytes * _ROUNDS / (time.perf_counter() - started))
