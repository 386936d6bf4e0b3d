"""The system calls a child may make: a list of what Python and torch need, nothing else.

Whatever the list does not name fails with ENOSYS, as on a kernel that does not have it: a call that a future kernel
adds is refused without anyone having heard of it, and the C library falls back to older ways by itself.

Left out although harmless to the machine is what carries words from one child to another by the files that all may
read: asking which of their pages are in memory and throwing them out (preadv2, mincore, fadvise64, some of madvise),
locks on them (flock, fcntl), waking who waits at a page of them (futex); what tells how busy the machine is; and
giving the processor away (sched_yield), with which a loop lasts as long as others have work.
"""

import ctypes
import errno
import os
import tempfile
from typing import Any

from autograder.sandbox.walls import gpu, libc

_ALLOWED = """
read readv pread64 preadv write writev pwrite64 pwritev close close_range lseek dup dup2
dup3 pipe pipe2 stat fstat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat getdents getdents64
getcwd chdir fchdir statfs fstatfs umask
mmap munmap mprotect mremap brk
set_robust_list rseq set_tid_address sched_getaffinity sched_getparam
sched_getscheduler sched_get_priority_max sched_get_priority_min getcpu
rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack pause alarm
setitimer getitimer restart_syscall
clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times getrusage uname
getpid gettid getppid getuid geteuid getgid getegid getresuid getresgid getgroups getpgrp getpgid getsid getrlimit
getrandom poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait eventfd eventfd2
exit exit_group
""".split()
_FOR_A_DRIVER = "fadvise64 flock futex madvise membarrier mincore msync preadv2 pwritev2 sysinfo".split()
_WRITING = os.O_ACCMODE | os.O_CREAT | os.O_TRUNC | os.O_TMPFILE & ~os.O_DIRECTORY
_CLONE_THREAD = 0x10000
# Not F_SETOWN and F_SETSIG: with them a file could be made to send any signal to any process of the same user.
_FCNTL = (0, 1, 2, 3, 4, 1030, 1032)
_FCNTL_LOCKS = (5, 6, 7)
_IOCTL = (0x5401, 0x5413, 0x541B, 0x5450, 0x5451)  # terminal questions, bytes waiting, close-on-exec
_PRCTL = (15, 16)  # name of a thread
_MADVISE = (0, 1, 2, 4, 8, 12, 13, 14, 15, 16, 17)  # of its own memory; not what fetches pages of a file or drops them
_FUTEX_PRIVATE = 128
_FUTEX_WAITS = (0, 9, 0x109)  # waiting, also by the clock of the day


class Program:
    """A compiled filter, ready to be installed by any number of children."""

    def __init__(self, code: bytes) -> None:
        class Header(ctypes.Structure):
            _fields_ = [("count", ctypes.c_ushort), ("code", ctypes.c_void_p)]

        self._code = ctypes.create_string_buffer(code, len(code))
        self._header = Header(len(code) // 8, ctypes.cast(self._code, ctypes.c_void_p))

    def install(self) -> None:
        """Filter the system calls of this process for good."""
        libc.prctl(libc.PR_SET_SECCOMP, 2, ctypes.addressof(self._header))


def compile_filter(may_write_files: bool, drives_gpu: bool = False) -> Program:
    """Compile the list; where no other wall stands around files they may only be read. OSError without libseccomp.

    A process that drives a GPU has the calls of :mod:`gpu` on it, too; its libraries lock files and look at pages, and
    only one submission runs there at a time.
    """
    try:
        import pyseccomp
    except (ImportError, RuntimeError) as error:
        raise OSError(errno.ENOENT, f"pyseccomp needs the library libseccomp2 ({error})") from None
    rules = _listed(pyseccomp, pyseccomp.ERRNO(errno.ENOSYS), may_write_files, drives_gpu)
    with tempfile.TemporaryFile() as file:
        rules.export_bpf(file)
        file.seek(0)
        return Program(file.read())


def asking_filter() -> Any:
    """Return the rules for a process that drives a GPU, which leave whatever is not on the list to a supervisor."""
    import pyseccomp

    rules = _listed(pyseccomp, pyseccomp.NOTIFY, None, True)
    rules.add_rule(pyseccomp.ALLOW, "sendmsg")  # how the supervisor is reached
    return rules


def _listed(pyseccomp: Any, otherwise: Any, may_write_files: bool | None, drives_gpu: bool) -> Any:
    """Return the list, with ``otherwise`` for the rest; opening files is on it unless ``may_write_files`` is None."""
    rules = pyseccomp.SyscallFilter(defaction=otherwise)
    rules.set_attr(pyseccomp.Attr.ACT_BADARCH, pyseccomp.KILL_PROCESS)

    def allow(name: str, *conditions: object) -> None:
        if pyseccomp.resolve_syscall(pyseccomp.system_arch(), name) >= 0:  # some names exist on one architecture only
            rules.add_rule(pyseccomp.ALLOW, name, *conditions)

    arg, equal, masked = pyseccomp.Arg, pyseccomp.EQ, pyseccomp.MASKED_EQ
    for name in (*_ALLOWED, *((*gpu.CALLS, *_FOR_A_DRIVER) if drives_gpu else ())):
        allow(name)
    allow("clone", arg(0, masked, _CLONE_THREAD, _CLONE_THREAD))
    allow("prlimit64", arg(0, equal, 0), arg(2, equal, 0))  # to look at its own limits
    for name, position in () if may_write_files is None else (("open", 1), ("openat", 2)):
        if may_write_files:
            allow(name)
        else:
            allow(name, arg(position, masked, _WRITING, 0))
    lists: tuple[tuple[str, int, tuple[int, ...]], ...] = (("fcntl", 1, _FCNTL), ("prctl", 0, _PRCTL))
    if drives_gpu:
        allow("socket", arg(0, equal, gpu.UNIX), arg(1, masked, gpu.SOCKET_KIND, gpu.SEQPACKET))
        allow("sched_setaffinity", arg(0, equal, 0))
        lists += (("fcntl", 1, (*gpu.FCNTL, *_FCNTL_LOCKS)),)
    else:
        lists += (("ioctl", 1, _IOCTL), ("madvise", 2, _MADVISE))
        allow("futex", arg(1, masked, _FUTEX_PRIVATE, _FUTEX_PRIVATE))
        for wait in _FUTEX_WAITS:  # how the C library joins a thread; told "try again" it looks until that ends
            rules.add_rule(pyseccomp.ERRNO(errno.EAGAIN), "futex", arg(1, equal, wait))
    for name, position, values in lists:
        for value in values:
            allow(name, arg(position, equal, value))
    return rules
