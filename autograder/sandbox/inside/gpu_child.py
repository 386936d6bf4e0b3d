"""A child with a GPU: forked by a process that never touched CUDA, it goes behind the walls, then opens the device.

So every thread that the driver starts is born behind the walls. Before it takes the source it sends one line of JSON:
what it opened and what that cost, or why it could not.
"""

import ctypes
import importlib
import json
import os
import resource

from autograder.sandbox.inside.no_device import NoDevice

_NOT_INITIALIZED = 3  # what CUDA answers to every question before cuInit
_RTLD_NOLOAD = 4


def prepare(device: str) -> None:
    """Import what children will need, whose walls hide our files; raise NoDevice where that touched the GPU."""
    for name in ("device_executor", device):
        importlib.import_module(f"autograder.sandbox.inside.{name}")
    importlib.import_module("torch._dynamo")  # torch does so at the first call of some kinds, and writes a folder
    require_untouched()


def require_untouched() -> None:
    """Raise NoDevice where this process has touched the GPU: what is forked from it could not use one."""
    for fd in os.listdir("/proc/self/fd"):
        target = os.readlink(f"/proc/self/fd/{fd}") if os.path.lexists(f"/proc/self/fd/{fd}") else ""
        if target.startswith(("/dev/nvidia", "/dev/dxg")):
            raise NoDevice(f"Importing torch opened {target} already; report this, with torch's version, as a bug.")
    with open("/proc/self/maps") as file:
        mapped = file.read()
    if "/dev/nvidia" in mapped or _driver_is_initialised():
        raise NoDevice("Importing torch started CUDA already; report this, with torch's version, as a bug.")
    if len(os.listdir("/proc/self/task")) > 1:
        raise NoDevice("Importing torch started a thread; set OMP_NUM_THREADS=1 and report this as a bug.")


def _driver_is_initialised() -> bool:
    """Ask the driver's library, which torch's own libraries may have mapped; there is nothing to ask without it."""
    try:
        driver = ctypes.CDLL("libcuda.so.1", _RTLD_NOLOAD)
        return int(driver.cuDeviceGetCount(ctypes.byref(ctypes.c_int()))) != _NOT_INITIALIZED
    except (OSError, AttributeError):
        return False


def serve(device: str, requests: int, replies: int) -> None:
    """Open the device, say how that went, and serve one submission."""
    from autograder.sandbox.inside import device_executor

    try:
        executor = device_executor.executor_on(device)
    except Exception as error:  # whatever it is, the grader can only be told
        _tell(replies, {"error": _sentence(error)})
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    _tell(
        replies,
        {
            "versions": _versions(),
            "own_kib": used.ru_maxrss,
            "own_cpu_ms": round((used.ru_utime + used.ru_stime) * 1000),
        },
    )
    device_executor.serve(executor, requests, replies)


def _tell(replies: int, what: dict[str, object]) -> None:
    os.write(replies, json.dumps(what).encode() + b"\n")


def _sentence(error: Exception) -> str:
    """Return why this process cannot grade, in one sentence that says what to do."""
    if isinstance(error, NoDevice):
        return str(error)
    first = (str(error).splitlines() or [type(error).__name__])[0][:300]
    return f"The device could not be opened ({first}); free its memory, see that nvidia-smi works, and try again."


def _versions() -> dict[str, str]:
    import torch

    if not torch.cuda.is_initialized():
        return {}
    return {"gpu": torch.cuda.get_device_name(), "cuda": str(torch.version.cuda)}
