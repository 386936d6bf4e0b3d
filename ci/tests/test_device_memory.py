"""The driver's own figure for the memory of a process, with a stand-in for nvidia-smi; absent where there is none."""

import os
from pathlib import Path

import pytest
from device_samples import MASTER, patched

from autograder.config import Config
from autograder.grading.one.grade_on_device import grade_on_device
from autograder.intake.submission import Submission
from autograder.reporting.words import Words
from autograder.sandbox.client import driver_mib
from autograder.sandbox.trusted.gpu_server import GpuServer

GROWS = """#!/bin/sh
printf x >> {calls}
for process in /proc/[0-9]*; do echo "${{process#/proc/}}, $((99 + $(wc -c < {calls})))"; done
"""


@pytest.fixture
def says(monkeypatch, tmp_path):
    def install(script: str) -> None:
        program = tmp_path / "nvidia-smi"
        program.write_text(script.format(calls=tmp_path / "calls"), encoding="utf-8")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    return install


def figures() -> dict[str, float]:
    submission = Submission("ada", "ada.py", "0" * 64, patched(), MASTER.encode())
    with GpuServer("fakegpu") as server:
        return grade_on_device(server, submission, Config(), Words("en")).timing


def test_a_process_has_what_it_holds_on_all_cards(says) -> None:
    says("#!/bin/sh\necho '7, 300'\necho '8, 1000'\necho '7, 44'\n")
    assert driver_mib(7) == 344


@pytest.mark.parametrize("script", ["exit 9", "echo '8, 1000'", "echo '7, [N/A]'", "echo 'No devices'", ":"])
def test_where_the_driver_does_not_say_there_is_no_figure(says, script: str) -> None:
    says(f"#!/bin/sh\n{script}\n")
    assert driver_mib(7) is None


def test_without_nvidia_smi_there_is_no_figure(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert driver_mib(7) is None


def test_memory_is_read_after_many_calls_and_again_after_as_many(says) -> None:
    says(GROWS)
    seen = figures()
    assert (seen["driver_mib"], seen["driver_mib_grown"]) == (103, 2)
    assert seen["tasks_added"] <= 2, "a decoy's thread, and the one before it on its way out"
