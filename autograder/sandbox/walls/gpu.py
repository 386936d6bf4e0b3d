"""What a child that drives an NVIDIA GPU may reach beside what every child may, each thing by name.

Taken from what others saw CUDA ask for behind walls like these (traces of cuInit on H100 and A100, NVIDIA's OpenShell,
gVisor's nvproxy, snapd's rules). Not seen on hardware by us: ``ci/gpu --self-check`` prints what was refused.
"""

import glob
import os

CALLS = ("ioctl", "bind", "listen", "mbind", "get_mempolicy", "set_mempolicy", "memfd_create", "ftruncate", "fallocate",
         "mlock", "mlock2", "munlock")  # fmt: skip
"""``ioctl`` is how the driver is asked, under numbers that only it knows; the rest touches this process alone."""
UNIX, SOCKET_KIND, SEQPACKET = 1, 0xF, 5
"""CUDA listens on one abstract socket of this kind when it starts; nobody connects, and nothing can be accepted."""
FCNTL = (1033, 1034)  # seals of a memfd

_NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia[0-9]*")
_FACTS = """
/proc/cpuinfo /proc/meminfo /proc/stat /proc/modules /proc/devices /proc/filesystems /proc/version
/proc/sys/vm/mmap_min_addr /proc/sys/vm/overcommit_memory /proc/driver/nvidia /proc/driver/nvidia-uvm
/sys/devices/system/cpu /sys/devices/system/node /sys/devices/system/memory /sys/module/nvidia /sys/module/nvidia_uvm
/sys/bus/pci/devices /etc/nvidia /usr/share/nvidia /usr/local/nvidia/lib64 /usr/local/nvidia/lib /run/opengl-driver/lib
""".split()
_NVIDIA = "0x10de"


def devices() -> tuple[str, ...]:
    """Return the device files that computing needs; those of displays and of partitions are not among them."""
    return tuple(sorted(path for pattern in _NODES for path in glob.glob(pattern)))


def facts() -> tuple[str, ...]:
    """Return what the driver reads about the machine, its cards and its own libraries; what is absent is left out."""
    folders = (*_FACTS, *os.environ.get("LD_LIBRARY_PATH", "").split(":"), *glob.glob("/usr/local/cuda*/compat"))
    return (*(path for path in folders if path.startswith("/") and os.path.exists(path)), *_cards())


def _cards() -> tuple[str, ...]:
    found = []
    for folder in glob.glob("/sys/bus/pci/devices/*"):
        try:
            with open(f"{folder}/vendor") as file:
                if file.read().strip() == _NVIDIA:
                    found.append(os.path.realpath(folder))
        except OSError:
            continue
    return tuple(found)
