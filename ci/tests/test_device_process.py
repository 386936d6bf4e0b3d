"""A process of its own for a GPU, exercised with the stand-in in the GPU's place: it is walled in, and replaced."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from device_samples import JOIN, RETURN, patched

from autograder.contract.device_compare import device_deviation
from autograder.contract.device_scenarios import device_scenarios
from autograder.grading.one.judge import SubmissionHandle
from autograder.sandbox.client import Child, Died
from autograder.sandbox.trusted.gpu_server import GpuServer, refused

ROOT = Path(__file__).resolve().parents[2]
BASIC = device_scenarios("fakegpu")["g4.basic"]
BROKEN = f"import os\nif self.num_blocks == 6: os._exit(89)\n{JOIN}"


@pytest.fixture(scope="module")
def server() -> GpuServer:
    return GpuServer("fakegpu")


def test_the_process_is_behind_walls_that_hold(server: GpuServer) -> None:
    assert server.breaches == []
    assert server.layers["seccomp"] == "on"
    assert server.layers["namespaces"].startswith("off")


def test_a_device_error_ends_the_process_and_a_fresh_one_goes_on(server: GpuServer) -> None:
    cells = patched((JOIN, BROKEN))
    with server.spawn() as child:
        child.load(cells)
        assert device_deviation(BASIC, child.run(BASIC.operations)) is None
        assert child.cpu_s < 60
        with pytest.raises(Died) as died:
            child.run(device_scenarios("fakegpu")["g4.dtypes"].operations)
    assert died.value.finding.code == "device.fault"


def children_for(server: GpuServer, monkeypatch, *edits: tuple[str, str]) -> tuple[int, list[str]]:
    """Return how many children a submission costs, and the cases it loses."""
    started: list[Child] = []
    spawn = server.spawn
    monkeypatch.setattr(server, "spawn", lambda: started.append(spawn()) or started[-1])
    handle = SubmissionHandle(server, patched(*edits), lambda _, finding: finding.code)
    lost = [case for case, verdict in handle.verdicts.items() if verdict.status != "passed"]
    handle.close()
    return len(started), lost


def test_a_right_submission_opens_the_device_once(server: GpuServer, monkeypatch) -> None:
    assert children_for(server, monkeypatch) == (1, [])


def test_a_case_that_is_lost_is_asked_again_in_a_fresh_child(server: GpuServer, monkeypatch) -> None:
    started, lost = children_for(server, monkeypatch, (RETURN, f"{RETURN}.cpu()"))
    assert started == 1 + len(lost)
    assert lost


def test_the_doctor_traces_what_is_refused_while_a_device_is_opened() -> None:
    assert refused("fakegpu") == []


def test_a_trace_names_the_calls_and_files_that_are_refused() -> None:
    program = (
        "import json, os, socket\n"
        "from contextlib import suppress\n"
        "from autograder.sandbox.trusted.gpu_server import GPU_LIMITS\n"
        "from autograder.sandbox.walls import trace\n"
        "from autograder.sandbox.walls.confine import Confinement\n"
        "def work():\n"
        "    attempts = lambda: open('/etc/hostname'), lambda: socket.socket(), lambda: open('/proc/self/maps')\n"
        "    for attempt in attempts:\n"
        "        with suppress(OSError):\n"
        "            attempt()\n"
        "confinement = Confinement(GPU_LIMITS, gpu=True)\n"
        "confinement.prepare()\n"
        "print(json.dumps(trace.refused(confinement, work)))\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout) == ["open /etc/hostname", "socket"]
