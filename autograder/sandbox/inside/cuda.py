"""A real GPU, by CUDA. Importing this touches nothing; opening is for a process behind its walls."""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch

from autograder.sandbox.inside.device import Device
from autograder.sandbox.inside.events import DispatchWatch, Note, new_log, watch_new_threads
from autograder.sandbox.inside.no_device import NoDevice
from autograder.sandbox.limits import EXIT_DEVICE, EXIT_MACHINE, MIB

NAME = "cuda"
MEMORY_FRACTION = 0.5
SPARE_BYTES = 512 * MIB
_ROUNDS = 20
WAITED = "called a synchronizing CUDA operation"


def open_cuda() -> Device:
    """Open the first GPU that is visible, its memory capped for this process; raise NoDevice."""
    _require_a_card()
    torch.cuda.init()
    torch.cuda.set_per_process_memory_fraction(MEMORY_FRACTION)
    synchronize, allocated, peak = torch.cuda.synchronize, torch.cuda.memory_allocated, torch.cuda.max_memory_allocated
    reset = torch.cuda.reset_peak_memory_stats
    cpu, before = torch.Tensor.cpu, 0
    note, take = new_log()
    watch_new_threads(NAME, note)

    def start() -> None:
        nonlocal before
        synchronize()
        take()
        reset()
        before = int(allocated())

    return Device(
        name=NAME,
        start=start,
        watch=cuda_watch(note),
        note=note,
        events=take,
        taken=lambda: int(peak()) - before,
        settle=synchronize,
        to_host=lambda tensor: cpu(tensor),
        vast_pool=_vast_pool,
        fault=_fault(synchronize, torch.zeros, torch.cuda.mem_get_info),
        rates=_rates,
    )


def cuda_watch(note: Note) -> Callable[[], AbstractContextManager[None]]:
    """Return what makes a watch of torch's dispatcher, and of CUDA's own word about waiting, from whatever thread.

    CUDA's word comes as a Python warning, each time; it is noted where it comes, as ``wait``.
    """
    report, catch, every = torch.cuda.set_sync_debug_mode, warnings.catch_warnings, warnings.simplefilter

    def show(message: Any, *_: object, **__: object) -> None:
        if WAITED in str(message):
            note("wait")

    @contextmanager
    def watch() -> Iterator[None]:
        with catch():
            every("always")
            report("warn")
            warnings.showwarning = show
            try:
                with DispatchWatch(NAME, note):
                    yield
            finally:
                report("default")

    return watch


def _require_a_card() -> None:
    if torch.version.cuda is None:
        raise NoDevice("This torch was built without CUDA; run ci/gpu on the GPU machine, it installs the right one.")
    if not torch.cuda.is_available():
        raise NoDevice("CUDA finds no device here; install the NVIDIA driver and see that nvidia-smi lists a GPU.")
    name, capability = torch.cuda.get_device_name(), torch.cuda.get_device_capability()
    if said := too_old(name, capability, torch.cuda.get_arch_list()):
        raise NoDevice(said)


def too_old(name: str, capability: tuple[int, int], built_for: list[str]) -> str:
    """Return one sentence where no kernel of this build of torch runs on the card, else nothing."""
    known = sorted(int(arch.removeprefix("sm_")) for arch in built_for if arch.removeprefix("sm_").isdecimal())
    mine = capability[0] * 10 + capability[1]
    if not known or any(arch <= mine and arch // 10 == mine // 10 for arch in known):
        return ""
    return (
        f"{name} (sm_{mine}) is not among the cards that this build of torch has code for (sm_{known[0]} to "
        f"sm_{known[-1]}); use another card, or name a build that serves it with TORCH_BACKEND."
    )


def _vast_pool(shape: tuple[int, ...], dtype: torch.dtype) -> tuple[torch.Tensor, bool]:
    free, total = torch.cuda.mem_get_info()
    fits = torch.Size(shape).numel() * dtype.itemsize + SPARE_BYTES < min(free, total * MEMORY_FRACTION)
    return torch.empty(shape, dtype=dtype, device=NAME if fits else "meta"), fits


def _fault(
    synchronize: Callable[[], None], zeros: Callable[..., torch.Tensor], memory: Callable[[], tuple[int, int]]
) -> Callable[[BaseException], int | None]:
    """Return what judges an error by asking the device once more: its words alone could be anybody's."""

    def fault(error: BaseException) -> int | None:
        try:
            if isinstance(error, torch.OutOfMemoryError):
                free, total = memory()
                others = total - free - torch.cuda.memory_reserved()
                return EXIT_MACHINE if others > total * (1 - MEMORY_FRACTION) else None
            synchronize()
            zeros(1, device=NAME)
            synchronize()
        except BaseException:
            return EXIT_DEVICE
        return None

    return fault


def _rates(read: Callable[[], object], rows: torch.Tensor) -> dict[str, int]:
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
