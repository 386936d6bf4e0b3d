"""What a confined child can't do, on every kind of machine."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from environments import played, run_in
from sandbox_samples import RIGHT

from autograder.sandbox.walls.visible_paths import PACKAGE

ATTACKS = f"""
import ctypes, os, platform, socket, sys
breaches = []
libc = ctypes.CDLL(None, use_errno=True)

def attempt(name, attack):
    try:
        if attack() is not False:
            breaches.append(name)
    except (OSError, ValueError, RuntimeError, ImportError):
        pass

def refused(*call):
    return libc.syscall(*call) >= 0

def read(path):
    return open(path, "rb").read(1)

def child():
    if os.fork() == 0:
        os._exit(0)

for name in ("hidden_tests/__init__.py", "contract/operations.py", "sandbox/inside/worker.py"):
    attempt("package " + name, lambda: read({PACKAGE!r} + "/" + name))
for path in ("/etc/shadow", "/etc/passwd", "/proc/1/environ", "/proc/1/mem", "/proc/1/maps", "/dev/mem"):
    attempt(path, lambda: read(path))
attempt("folders", lambda: os.listdir("/var"))
for folder in ("/", "/tmp", "/dev/shm", "/var/tmp", os.path.dirname(os.__file__), "/proc/self"):
    attempt("write " + folder, lambda: open(folder + "/left-behind", "w"))
    attempt("mkdir " + folder, lambda: os.mkdir(folder + "/left-behind"))
    attempt("tmpfile " + folder, lambda: os.open(folder, os.O_TMPFILE | os.O_RDWR))
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX, socket.AF_NETLINK):
    attempt("socket %d" % family, lambda: socket.socket(family))
attempt("socketpair", socket.socketpair)
attempt("fork", child)
attempt("exec", lambda: os.execv(sys.executable, ["python", "-c", "while True: pass"]))
attempt("kill parent", lambda: os.kill(os.getppid(), 0))
attempt("kill all", lambda: os.kill(-1, 0))
attempt("kill group", lambda: os.killpg(0, 0))
attempt("session", os.setsid)
attempt("priority", lambda: os.setpriority(os.PRIO_PROCESS, 0, 19))
attempt("memfd", lambda: os.memfd_create("x"))
attempt("pidfd", lambda: os.pidfd_open(os.getppid()))
attempt("root", lambda: os.setuid(0) if os.getuid() else False)
attempt("chroot", lambda: os.chroot("/"))
attempt("link", lambda: os.symlink("/", "/tmp/left-behind"))
numbers = dict(ptrace=101, process_vm_readv=310, shmget=29, msgget=68, semget=64, io_uring_setup=425, bpf=321,
    keyctl=250, userfaultfd=323, perf_event_open=298, unshare=272, mount=165, setns=308, clone3=435, vfork=58,
    execveat=322, open_by_handle_at=304, unknown=999, setrlimit=160, personality=135, tgkill=234)
for name, number in numbers.items() if platform.machine() == "x86_64" else ():
    attempt(name, lambda: refused(number, 0, 0, 0, 0, 0, 0))
import fcntl
attempt("signals by a descriptor", lambda: fcntl.fcntl(3, fcntl.F_SETOWN, os.getppid()))
import resource
attempt("limits", lambda: resource.setrlimit(resource.RLIMIT_CPU, (10, 10)))
attempt("death signal", lambda: libc.prctl(1, 0, 0, 0, 0) == 0)
attempt("dumpable", lambda: libc.prctl(4, 1, 0, 0, 0) == 0)
for fd in range(5, 64):
    attempt("descriptor %d" % fd, lambda: os.fstat(fd))

def estimate_kv_cache_bytes(*args):
    return breaches
"""

NEEDS = """
import bisect, collections, contextlib, dataclasses, decimal, fractions, heapq, json, os, statistics, typing
import numpy as np, torch, torch.nn as nn
from contextlib import redirect_stdout
with open(os.devnull, "w") as sink, redirect_stdout(sink):
    print("quiet")
x = torch.randn(4, 4)
y = torch.einsum("ij,jk->ik", x, x) + torch.softmax(x, 0)
print(x, np.linalg.norm(x.numpy()), nn.Linear(2, 2)(torch.ones(2)))
import threading
threads = [threading.Thread(target=print) for _ in range(4)]
[t.start() for t in threads], [t.join() for t in threads]
torch.set_num_threads(2)
(torch.ones(256, 256) @ torch.ones(256, 256)).sum().item()
"""

EXPECTED_ON = {
    "root": {"namespaces", "landlock", "seccomp", "own user", "limits"},
    "container": {"landlock", "seccomp", "limits"},
    "user": {"namespaces", "landlock", "seccomp", "limits"},
    "user container": {"landlock", "seccomp", "limits"},
    "old": {"namespaces", "seccomp", "own user", "limits"},
    "old user": {"namespaces", "seccomp", "limits"},
    "user unmounting": {"landlock", "seccomp", "limits"},
    "": {"seccomp", "limits"},
}

PROGRAM = f"""
def attack(cells):
    with server.spawn() as child:
        errors = child.load(cells)
        return errors, child.run([Operation("ledger", (2, 3, 4, 5, 6))])[0].get("returned", "nothing")

print(json.dumps({{
    "layers": server.layers,
    "probe": server.breaches,
    "attack": attack([{ATTACKS!r}]),
    "needs": attack([{NEEDS!r}, {RIGHT!r}, "def estimate_kv_cache_bytes(*args): return 1"]),
}}))
"""


@pytest.fixture(scope="module", params=played(*filter(None, EXPECTED_ON)))
def seen(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Return an environment and what a fork-server in it made of the attacks."""
    return request.param, run_in(request.param, PROGRAM)


def test_the_walls_that_can_stand_do(seen: tuple[str, dict[str, Any]]) -> None:
    environment, found = seen
    up = {layer for layer, state in found["layers"].items() if state == "on"}
    assert up >= EXPECTED_ON[environment]
    assert all(state == "on" or state.startswith("off: ") for state in found["layers"].values())


def test_neither_the_probe_nor_a_submission_gets_out(seen: tuple[str, dict[str, Any]]) -> None:
    _, found = seen
    assert found["probe"] == []
    assert found["attack"] == [[], {"list": []}]


def test_ordinary_python_numpy_and_torch_work_inside(seen: tuple[str, dict[str, Any]]) -> None:
    _, found = seen
    assert found["needs"] == [[], 1]


INSTALLED = """
import sys
sys.path.append({packages!r})
import neighbour, pathlib, autograder
def estimate_kv_cache_bytes(*args):
    return neighbour.WORD
pathlib.Path(autograder.__file__).read_text()
"""


@pytest.mark.parametrize("environment", played("root", "container", "user"))
def test_an_installed_grader_is_unreadable_beside_readable_packages(environment: str, open_folder: Path) -> None:
    packages = open_folder / "site-packages"
    shutil.copytree(PACKAGE, packages / "autograder", ignore=shutil.ignore_patterns("__pycache__"))
    (packages / "neighbour.py").write_text("WORD = 'here'")
    program = f"""
        with server.spawn() as child:
            errors = child.load([{INSTALLED.format(packages=str(packages))!r}])
            [observation] = child.run([Operation("ledger", (2, 3, 4, 5, 6))])
            print(json.dumps([server.breaches, errors, observation["returned"]]))
        """
    breaches, errors, answer = run_in(environment, program, package_root=packages)
    assert (breaches, answer) == ([], {"str": "here"})
    assert [error["details"]["error"] for error in errors] in (["PermissionError"], ["FileNotFoundError"])


def test_without_any_wall_around_files_the_probe_reports_a_breach() -> None:
    breaches = run_in("old container", "print(json.dumps(server.breaches))")
    assert "read the grader's files" in breaches
