"""Machines whose GPU cannot serve, simulated: each is told so in one sentence; and the right build for the rest."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from click.testing import CliRunner

from autograder.cli import main
from autograder.sandbox.client import ServerDied
from autograder.sandbox.inside import gpu_child
from autograder.sandbox.trusted import gpu_server
from autograder.sandbox.trusted.gpu_machine import refusal

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def machine(tmp_path) -> Path:
    """Return the root of a machine on which nothing speaks against CUDA."""
    (tmp_path / "dev").mkdir()
    for name in ("nvidiactl", "nvidia-uvm", "nvidia0"):
        make(tmp_path, f"dev/{name}").chmod(0o666)
    return tmp_path


def make(root: Path, path: str) -> Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    return file


def said(root: Path, **changes: object) -> str:
    return refusal(root, **{"environ": {}, "landlock_abi": lambda: 7, "as_root": True, **changes})


def no_landlock() -> int:
    raise OSError("no such call")


def test_a_sound_machine_is_not_refused(machine) -> None:
    assert said(machine) == ""


def wsl2(root: Path) -> None:
    for path in (root / "dev").iterdir():
        path.unlink()
    make(root, "dev/dxg")


def jetson(root: Path) -> None:
    (root / "dev" / "nvidiactl").unlink()
    make(root, "dev/nvhost-ctrl")


def nothing(root: Path) -> None:
    (root / "dev" / "nvidiactl").unlink()


def unused_driver(root: Path) -> None:
    nothing(root)
    make(root, "proc/driver/nvidia/version")


CASES = {
    "WSL2": wsl2,
    "Jetson": jetson,
    "no /dev/nvidiactl": nothing,
    "nvidia-modprobe": unused_driver,
    "nvidia-uvm": lambda root: (root / "dev" / "nvidia-uvm").unlink(),
    "0660": lambda root: (root / "dev" / "nvidia0").chmod(0o660),
    "MIG": lambda root: make(root, "proc/driver/nvidia/capabilities/gpu0/mig/gi3/access"),
    "MPS": lambda root: make(root, "tmp/nvidia-mps/control"),
}


@pytest.mark.parametrize("named", CASES)
def test_a_machine_that_cannot_serve_is_told_so_in_one_sentence(machine, named: str) -> None:
    CASES[named](machine)
    sentence = said(machine)
    assert named in sentence
    assert sentence.startswith("CUDA ")
    assert sentence.endswith(".")
    assert sentence.count(". ") == 0


def test_a_kernel_without_landlock_is_refused(machine) -> None:
    assert "Landlock" in said(machine, landlock_abi=no_landlock)


@pytest.mark.parametrize(
    ("named", "command"),
    [("0660", ["grade", __file__, "-o", "out"]), *((named, ["doctor"]) for named in (*CASES, "Landlock"))],
)
def test_it_is_told_so_before_anything_starts_and_nothing_is_graded(
    machine, named: str, command: list[str], monkeypatch, tmp_path
) -> None:
    CASES.get(named, lambda root: None)(machine)
    abi = no_landlock if named == "Landlock" else lambda: 7
    monkeypatch.setattr(gpu_server, "refusal", lambda: said(machine, landlock_abi=abi))
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, [*command, "--device", "cuda"])
    assert result.exit_code == 2
    [line] = [line for line in result.output.splitlines() if line.startswith("autograder: ")]
    assert named in line
    assert line.startswith("autograder: CUDA "), result.output
    assert not Path("out", "students").exists()


def test_a_card_older_than_the_build_is_told_so_by_the_child_that_opens_it(monkeypatch) -> None:
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    for name, answer in {
        "is_available": True,
        "get_device_name": "Tesla V100",
        "get_device_capability": (7, 0),
        "get_arch_list": ["sm_75", "sm_80"],
    }.items():
        monkeypatch.setattr(torch.cuda, name, lambda answer=answer: answer)
    replies, child = os.pipe()
    try:
        gpu_child.serve("cuda", 0, child)
        with pytest.raises(ServerDied, match=r"Tesla V100 \(sm_70\) is not among .* TORCH_BACKEND\.$"):
            gpu_server._opening(replies)
    finally:
        os.close(replies)
        os.close(child)


def test_an_mps_server_in_a_folder_of_its_own_is_found(machine) -> None:
    control = make(machine, "var/mps/control")
    assert "MPS" in said(machine, environ={"CUDA_MPS_PIPE_DIRECTORY": str(control.parent)})


def test_a_user_in_the_right_group_may_use_a_closed_device_file(machine) -> None:
    (machine / "dev" / "nvidia0").chmod(0o660)
    assert said(machine, as_root=False) == ""  # whoever runs this owns the file


def torch_build(driver: str, *cards: float) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, ROOT / "ci" / "torch_build.py", "--driver", driver]
    for card in cards:
        command += ["--card", str(card)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("driver", "cards", "build"),
    [
        ("525.60.13", [8.0], "cu126"),
        ("525.147.05", [7.0], "cu126"),
        ("535.288.01", [8.6], "cu126"),
        ("550.54.14", [9.0], "cu126"),
        ("570.211.01", [8.9], "cu126"),
        ("575.64", [7.5], "cu126"),
        ("580.65.06", [7.5], "cu130"),
        ("580.65.06", [7.0], "cu126"),
        ("580.65.06", [6.1, 8.0], "cu126"),
        ("590.44.01", [12.0], "cu130"),
        ("590.44.01", [], "cu130"),
    ],
)
def test_the_build_fits_driver_and_cards(driver: str, cards: list[float], build: str) -> None:
    assert torch_build(driver, *cards).stdout.strip() == build


@pytest.mark.parametrize(
    ("driver", "cards", "word"),
    [
        ("525.53", [8.0], "525.60.13"),
        ("470.256.02", [7.5], "525.60.13"),
        ("570.86", [12.0], "580"),
        ("590.44.01", [3.5], "sm_35"),
        ("590.44.01", [6.1, 12.0], "sm_61"),
    ],
)
def test_where_no_build_fits_one_sentence_says_so(driver: str, cards: list[float], word: str) -> None:
    done = torch_build(driver, *cards)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert word in line
    assert done.stdout == ""


def test_nothing_of_cuda_is_in_the_lock() -> None:
    names = (ROOT / "ci" / "requirements.lock").read_text(encoding="utf-8").splitlines()
    assert [name for name in names if name.startswith(("nvidia-", "cuda-", "triton"))] == []


def test_without_a_driver_the_script_says_so_and_installs_nothing() -> None:
    if Path("/dev/nvidiactl").exists():
        pytest.skip("this machine has a driver")
    clean = {name: value for name, value in os.environ.items() if name not in ("DEVICE", "TORCH_BACKEND")}
    done = subprocess.run([ROOT / "ci" / "gpu", "x"], env=clean, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    [line] = done.stderr.splitlines()
    assert "CUDA" in line
