"""The system calls Python does not offer."""

import ctypes
import errno
import os
from collections.abc import Callable

_libc = ctypes.CDLL(None, use_errno=True)

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 1, 4, 22, 24, 38
PR_SET_THP_DISABLE = 41


def call(name: str, *args: int | bytes | None) -> int:
    """Call a C function by name and return its result; raise OSError when that is negative."""
    result = getattr(_libc, name)(*(ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args))
    return _checked(int(result), name)


def syscall(number: int, what: str, *args: object) -> int:
    """Make a system call that has no C function; raise OSError when it fails."""
    return _checked(int(_libc.syscall(ctypes.c_long(number), *args)), what)


def prctl(option: int, *args: int) -> None:
    """Change an attribute of this process."""
    call("prctl", option, *args, *[0] * (4 - len(args)))


def drop_capabilities() -> None:
    """Give up every capability, now and for whatever would be executed later."""
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:  # no such capability, or none left to drop it with
            break
    header = ctypes.create_string_buffer(b"\x22\x05\x08\x20" + bytes(4), 8)  # version 3, this process
    _checked(int(_libc.capset(header, ctypes.create_string_buffer(24))), "capset")


def try_first(step: Callable[[], None]) -> None:
    """Take a step in a throw-away process first; raise OSError when it fails there."""
    trial = os.fork()
    if trial == 0:
        try:
            step()
            os._exit(0)
        except OSError as error:
            os._exit(error.errno or errno.EPERM)
        finally:
            os._exit(errno.EPERM)
    _, status = os.waitpid(trial, 0)
    if number := os.waitstatus_to_exitcode(status):
        raise OSError(number, os.strerror(number))


def _checked(result: int, what: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)
    return result
