"""A submission may end its own process in any way it likes; nothing else comes to harm."""

import os
import select
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
from sandbox_samples import CASE, LEDGER, PATIENCE, RIGHT, SHORT, death, shared_server, spawn, trace

from autograder.sandbox.client import Died, ForkServer, ServerDied

FATAL = {
    "an endless loop": ("while True: pass", "run.cpu"),
    "masked signals and a loop": (
        "import signal\nfor s in range(1, 32):\n  try: signal.signal(s, signal.SIG_IGN)\n  except OSError: pass\n"
        "while True: pass",
        "run.cpu",
    ),
    "a long sleep": ("import select; select.select([], [], [], 60)", "run.idle"),
    "a deadlock": ("import threading; l = threading.Lock(); l.acquire(); l.acquire()", "run.idle"),
    "naps without end": ("import select\nwhile True: select.select([], [], [], 0.01)", "run.idle"),
    "a segmentation fault": ("import ctypes; ctypes.string_at(0)", "run.crashed"),
    "a system call of another architecture": (
        "import ctypes; ctypes.CDLL(None).syscall(0x40000001, 1, 0, 0)",
        "run.crashed",
    ),
    "an exit past every handler": ("import os; os._exit(3)", "run.exited"),
    "rubbish on the wire": ("import os; os.write(4, b'ok')", "run.forged"),
    "another frame on the wire": ("import os; os.write(4, b'PA01\\0\\0\\0\\2\\0\\0\\0\\0{}')", "run.forged"),
    "a closed wire": ("import os, select; os.close(4); select.select([], [], [], 60)", "run.forged"),
    "a flood on the wire": ("import os; os.write(4, b'PA01' + b'x' * 8)", "run.flood"),
}


@pytest.mark.parametrize("kind", FATAL)
def test_a_fatal_cell_is_named_with_its_cause(kind: str) -> None:
    source, code = FATAL[kind]
    died = death("x = 1", source)
    assert (died.finding.code, died.finding.details.get("cell")) == (code, 2)


@pytest.mark.parametrize("kind", FATAL)
def test_a_fatal_call_costs_its_own_case(kind: str) -> None:
    source, code = FATAL[kind]
    body = source.replace("\n", "\n    ")
    died = death(f"def estimate_kv_cache_bytes(*args):\n    {body}", operations=[LEDGER])
    assert (died.finding.code, "cell" in died.finding.details) == (code, False)


def test_the_wall_clock_ends_what_no_other_limit_does() -> None:
    patient = replace(SHORT, idle_s=60, wall_s=0.5)
    with shared_server(patient).spawn() as child, pytest.raises(Died) as died:
        child.load(["import select; select.select([], [], [], 60)"])
    assert died.value.finding.code == "run.wall"


def test_a_reply_that_is_too_large_is_a_flood() -> None:
    call = "def estimate_kv_cache_bytes(*args): return [['x' * 200] * 4000] * 4"
    assert death(call, operations=[LEDGER]).finding.code == "run.flood"


def test_a_child_that_is_stopped_is_noticed() -> None:
    with spawn() as child:
        child.load([RIGHT])
        os.kill(child._pid, signal.SIGSTOP)
        with pytest.raises(Died) as died:
            child.run(CASE)
    assert died.value.finding.code == "run.idle"


def test_a_skipped_cell_is_not_run() -> None:
    with spawn() as child:
        assert child.load(["while True: pass", RIGHT], skip=[1]) == []
        assert len(child.run(CASE)) == len(CASE)


def test_a_stream_of_progress_ends_with_the_first_cell_that_cannot_come_next() -> None:
    frame = "b'PA01\\0\\0\\0\\x0c\\0\\0\\0\\0{\"cell\": 10}'"
    assert death(f"import os\nwhile True: os.write(4, {frame})").finding.code == "run.forged"


def test_threads_without_end_are_an_error_of_their_cell() -> None:
    bomb = "import threading\nwhile True: threading.Thread(target=threading.Event().wait, daemon=True).start()"
    with spawn() as child:
        assert [note["details"]["error"] for note in child.load([bomb, RIGHT], room=PATIENCE)] == ["RuntimeError"]
        assert all("returned" in seen for seen in child.run(CASE))


def test_running_out_of_memory_for_good_is_named() -> None:
    """Whichever hour it is: filling the last bytes takes a slow machine longer than the usual time."""
    hoard = (
        "hoard = []\nfor size in (1 << 20, 1 << 10, 64, 16):\n"
        "  try:\n    while True: hoard.append(bytearray(size))\n  except MemoryError: pass"
    )
    patient = replace(SHORT, load_cpu_s=60, case_cpu_s=60, idle_s=60, wall_s=120)
    with shared_server(patient).spawn() as child, pytest.raises(Died) as died:
        _ = child.load([hoard]), child.run(CASE)
    assert died.value.finding.code == "run.memory"


def test_a_tensor_beyond_the_memory_limit_is_the_submission_s_error() -> None:
    [seen] = trace(["import torch\ndef estimate_kv_cache_bytes(*a): return torch.ones(1 << 30)"], [LEDGER])
    assert seen["raised"]["name"] == "RuntimeError"


def test_the_cpu_limit_counts_each_case_anew() -> None:
    busy = """
import time
def estimate_kv_cache_bytes(*args):
    end = time.process_time() + 0.2
    while time.process_time() < end: pass
"""
    with spawn() as child:
        child.load([busy])
        for _ in range(3):
            assert child.run([LEDGER])[0]["returned"] is None
        assert child.cpu_s > 0.6


def wait_until_gone(pid: int) -> None:
    """Wait until no such process exists; fail after two seconds."""
    deadline = time.monotonic() + 2
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < deadline, "the process lives on"
        time.sleep(0.01)


def test_nothing_survives_a_child() -> None:
    with spawn() as child:
        child.load(["import threading\nfor _ in range(5): threading.Thread(target=threading.Event().wait).start()"])
        pid = child._pid
        assert Path(f"/proc/{pid}").exists()
    assert not Path(f"/proc/{pid}").exists()


def test_a_neighbour_is_not_disturbed_and_the_next_child_starts_fresh() -> None:
    before = trace([RIGHT])
    with spawn() as neighbour:
        neighbour.load([RIGHT])
        death("import torch, builtins, json\ntorch.zeros = builtins.len = json.dumps = None", "while True: pass")
        assert neighbour.run(CASE) == before
    assert trace([RIGHT]) == before


def test_no_descriptor_is_left_open() -> None:
    trace([RIGHT])
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        death("import os; os._exit(1)")
        trace([RIGHT])
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_dead_child_refuses_further_cases() -> None:
    with spawn() as child:
        with pytest.raises(Died):
            child.load(["import os; os._exit(0)"])
        with pytest.raises(RuntimeError):
            child.run(CASE)


def test_a_dead_fork_server_is_reported_and_takes_its_children_along() -> None:
    with ForkServer(shared_server().limits) as server:
        child = server.spawn()
        child.load([RIGHT])
        server._process.kill()
        server._process.wait()
        wait_until_gone(child._pid)
        with pytest.raises(ServerDied):
            child.run([LEDGER])
        with pytest.raises(ServerDied):
            server.spawn()


def test_starting_returns_before_torch_is_imported() -> None:
    with ForkServer(shared_server().limits) as server:
        assert not select.select([server._socket], [], [], 0)[0], "it has said that it is ready"
        assert server.versions["torch"]
