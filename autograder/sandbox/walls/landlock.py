"""Landlock: the kernel refuses this process every file but those named, and the network."""

import ctypes
import os
import struct
from collections.abc import Iterable

from autograder.sandbox.walls import libc

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE, _IOCTL = 1 << 1, 1 << 2, 1 << 3, 1 << 14, 1 << 15
_HANDLED_BY_ABI = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_NET_TCP = 0b11
_SCOPE_SIGNALS_AND_SOCKETS = 0b11


def abi() -> int:
    """Return the kernel's Landlock version; raise OSError when it has none."""
    return libc.syscall(_CREATE_RULESET, "landlock", None, ctypes.c_size_t(0), ctypes.c_uint32(1))


def ruleset(
    readable: Iterable[str],
    listable: Iterable[str],
    writable: Iterable[str],
    devices: Iterable[str] = (),
    own_tasks: bool = False,
) -> int:
    """Return a descriptor of rules: trees to read, folders to list, files and devices to write; all else is refused.

    With ``own_tasks`` the calling process may also read about itself and name its threads.
    """
    version = abi()
    handled = _HANDLED_BY_ABI[min(version, 5)]
    attributes = struct.pack("=QQQ", handled, _NET_TCP, _SCOPE_SIGNALS_AND_SOCKETS)
    size = 8 if version < 4 else 16 if version < 6 else 24
    fd = libc.syscall(_CREATE_RULESET, "landlock", attributes[:size], ctypes.c_size_t(size), ctypes.c_uint32(0))
    for paths, access in (
        (readable, _READ_FILE | _READ_DIR),
        (listable, _READ_DIR),
        (writable, _READ_FILE | _WRITE_FILE | _TRUNCATE),
        (devices, _READ_FILE | _READ_DIR | _WRITE_FILE | _IOCTL),
        (("/proc/self",) if own_tasks else (), _READ_FILE | _READ_DIR),
        (("/proc/self/task",) if own_tasks else (), _READ_FILE | _READ_DIR | _WRITE_FILE),
    ):
        for path in paths:
            _allow(fd, path, access & handled)
    return fd


def restrict(fd: int) -> None:
    """Bind this process to a ruleset for good."""
    libc.syscall(_RESTRICT_SELF, "landlock", ctypes.c_int(fd), ctypes.c_uint32(0))


def _allow(ruleset_fd: int, path: str, access: int) -> None:
    if not os.path.exists(path):
        return
    if not os.path.isdir(path):
        access &= ~_READ_DIR
    fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = struct.pack("=Qi", access, fd)
        libc.syscall(_ADD_RULE, "landlock", ctypes.c_int(ruleset_fd), ctypes.c_int(1), rule, ctypes.c_uint32(0))
    finally:
        os.close(fd)
