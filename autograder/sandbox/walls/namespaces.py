"""A world of its own for the fork-server and its children: processes, network, System V objects, files."""

import os
import signal

from autograder.sandbox.walls import libc
from autograder.sandbox.walls.visible_paths import PACKAGE, roots

_NEWNS, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_OWN = _NEWNS | _NEWUTS | _NEWIPC | _NEWPID | _NEWNET
_NOSUID, _NODEV, _NOEXEC, _RDONLY, _REMOUNT, _BIND, _REC, _PRIVATE = 2, 4, 8, 1, 32, 4096, 16384, 1 << 18
_DETACH = 2
_NEW_ROOT = "/proc"  # a folder every system has, and which no child needs: the new root is built on top of it


def enter() -> None:
    """Continue as process 1 of fresh namespaces, the caller waiting outside; raise OSError where that is refused.

    When process 1 ends the kernel kills whatever is left in there, and it ends itself with the process outside.
    """
    if os.geteuid() == 0:
        libc.call("unshare", _OWN)
    else:
        _unshare_as_user()
    libc.call("mount", None, b"/", None, _REC | _PRIVATE, None)
    inside = os.fork()
    if inside:
        os.closerange(3, 1 << 16)
        _, status = os.waitpid(inside, 0)
        os._exit(max(os.waitstatus_to_exitcode(status), 0))
    libc.prctl(libc.PR_SET_PDEATHSIG, signal.SIGKILL)


def _unshare_as_user() -> None:
    uid, gid = os.getuid(), os.getgid()
    libc.call("unshare", _NEWUSER | _OWN)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def private_root() -> None:
    """Move to a read-only file system that holds what a child may read, at the same paths, and nothing else."""
    _mount_tmpfs(_NEW_ROOT)
    for path in roots():
        _graft(path)
    hidden = _NEW_ROOT + PACKAGE
    if os.path.isdir(hidden):
        _mount_tmpfs(hidden)
        _read_only(hidden)
    _read_only(_NEW_ROOT)
    os.chdir(_NEW_ROOT)
    libc.call("pivot_root", b".", b".")
    libc.call("umount2", b".", _DETACH)
    os.chdir("/")


def _graft(path: str) -> None:
    """Show ``path`` in the new root, making the folders and symbolic links that lead to it."""
    here = ""
    for part in path.strip("/").split("/"):
        here += "/" + part
        target = _NEW_ROOT + here
        if os.path.islink(here):
            if not os.path.lexists(target):
                os.symlink(os.readlink(here), target)
            return _graft(os.path.realpath(path))
        if os.path.lexists(target):
            continue
        if os.path.isdir(here):
            os.mkdir(target, 0o755)
        else:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
    if os.path.ismount(target) or os.stat(target).st_ino == os.stat(path).st_ino:  # lies inside a graft already
        return None
    libc.call("mount", path.encode(), target.encode(), None, _BIND | _REC, None)
    return _read_only(target)


def _mount_tmpfs(target: str) -> None:
    libc.call("mount", b"tmpfs", target.encode(), b"tmpfs", _NOSUID | _NODEV, b"size=1m,mode=755")


def _read_only(target: str) -> None:
    kept = os.statvfs(target).f_flag & (_NODEV | _NOEXEC)  # a user namespace may not take these away
    libc.call("mount", None, target.encode(), None, _REMOUNT | _BIND | _RDONLY | _NOSUID | kept, None)
