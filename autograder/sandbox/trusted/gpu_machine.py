"""Whether this machine's GPU can be used from behind the walls at all, found out before anything is started."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from autograder.sandbox.walls import landlock

CREATE_NODES = "run `nvidia-modprobe -u -c=0` as root once, or nvidia-smi"


def refusal(
    root: Path = Path("/"),
    environ: Mapping[str, str] = os.environ,
    landlock_abi: Callable[[], int] = landlock.abi,
    as_root: bool = os.geteuid() == 0,
) -> str:
    """Return one sentence that says why CUDA cannot work here and what to do, empty where nothing speaks against it."""
    return next(_reasons(root, environ, landlock_abi, as_root), "")


def _reasons(root: Path, environ: Mapping[str, str], landlock_abi: Callable[[], int], as_root: bool) -> Iterator[str]:
    dev, proc = root / "dev", root / "proc" / "driver" / "nvidia"
    control = dev / "nvidiactl"
    if not control.exists():
        if (dev / "dxg").exists():
            yield "CUDA under WSL2 has no device files that walls could name; grade on Linux itself."
        if (dev / "nvhost-ctrl").exists() or (root / "etc" / "nv_tegra_release").exists():
            yield "CUDA on a Jetson has other device files, which the walls do not let through; grade elsewhere."
        if proc.exists():
            yield f"CUDA cannot make /dev/nvidiactl from behind the walls; {CREATE_NODES}."
        yield "CUDA needs an NVIDIA driver and there is none here (no /dev/nvidiactl); install one, and try nvidia-smi."
    if not (dev / "nvidia-uvm").exists():
        yield f"CUDA cannot make /dev/nvidia-uvm from behind the walls; {CREATE_NODES}."
    for node in (control, dev / "nvidia-uvm", *sorted(dev.glob("nvidia[0-9]*"))):
        everybody = node.stat().st_mode & 0o006 == 0o006
        if not everybody and (as_root or not os.access(node, os.R_OK | os.W_OK)):
            yield (
                f"CUDA could not open /dev/{node.name} as the user that student code runs as (its mode is "
                f"{node.stat().st_mode & 0o777:04o}); load the driver with NVreg_DeviceFileMode=0666."
            )
    if next((proc / "capabilities").glob("gpu*/mig/gi*"), None):
        yield "CUDA is cut into MIG instances here, which the walls do not know; switch MIG off or use another card."
    pipes = Path(environ.get("CUDA_MPS_PIPE_DIRECTORY") or root / "tmp" / "nvidia-mps")
    if (pipes / "control").exists():
        yield (
            "CUDA is shared by an MPS server here, where one fault ends everybody's work; stop it with "
            "`echo quit | nvidia-cuda-mps-control`."
        )
    try:
        landlock_abi()
    except OSError:
        yield "CUDA needs Landlock around student code and this kernel has none; use Linux 5.13 or newer with it on."
