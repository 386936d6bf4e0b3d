"""``ci/setup`` where something is missing: one sentence, soon, and the second try works."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from commands import ROOT
from environments import NOBODY, playable

REAL = sys.executable
NOWHERE = "http://127.0.0.1:9/"


@pytest.fixture
def checkout(open_folder: Path) -> Path:
    """Give what ci/setup reads, and a folder of programs that has no uv."""
    (open_folder / "ci").mkdir()
    for name in ("ci/setup", "ci/requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, open_folder / name)
    (open_folder / "bin").mkdir()
    for name in ("bash", "env", "sha256sum", "cat", "cut", "dirname", "grep", "rm", "mv"):
        (open_folder / "bin" / name).symlink_to(shutil.which(name) or name)
    return open_folder


def program(folder: Path, name: str, text: str) -> Path:
    (folder / "bin" / name).write_text(f"#!/usr/bin/env bash\n{text}\n", "utf-8")
    (folder / "bin" / name).chmod(0o755)
    return folder / "bin" / name


def set_up(checkout: Path, python: Path | str, **more: object) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": str(checkout / "bin"),
        "HOME": str(checkout),
        "PYTHON": str(python),
        "PIP_CONFIG_FILE": "/dev/null",
    }
    environment |= {"PIP_INDEX_URL": NOWHERE, "UV_INDEX_URL": NOWHERE, "UV_OFFLINE": "1"}
    command = ["bash", str(checkout / "ci" / "setup")]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, **more)


def said(done: subprocess.CompletedProcess[str]) -> str:
    """Return the sentence that the script ends with."""
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    sentences = [line for line in done.stderr.splitlines() if line.startswith("ci/setup: ")]
    assert len(sentences) == 1
    return sentences[0]


def test_a_python_too_old_or_too_new_is_named(checkout: Path) -> None:
    old = program(checkout, "old", "exit 1")
    assert "Python 3.11 to 3.13 is needed" in said(set_up(checkout, old))
    assert not (checkout / ".venv").exists()


def test_a_python_without_ensurepip_is_named_and_leaves_nothing(checkout: Path) -> None:
    answers = (
        '[[ $2 == *executable* ]] && { echo "$0"; exit; }; [[ $1 == -m ]] || exit 0; mkdir .venv; echo "no ensurepip"'
    )
    bare = program(checkout, "bare", f"{answers}; exit 1")
    (checkout / "bin" / "mkdir").symlink_to(shutil.which("mkdir") or "mkdir")
    for _ in range(2):
        sentence = said(set_up(checkout, bare))
        assert "no ensurepip" in sentence
        assert "python3-venv" in sentence
        assert not (checkout / ".venv").exists()


def test_without_a_network_it_ends_soon_and_says_so(checkout: Path) -> None:
    begun = time.monotonic()
    assert "network" in said(set_up(checkout, REAL))
    assert time.monotonic() - begun < 120
    assert not (checkout / ".venv/.stamp").exists()


def test_packages_that_cannot_be_had_are_one_sentence_after_uv_s_own(checkout: Path) -> None:
    uv = shutil.which("uv") or str(Path(REAL).with_name("uv"))
    if not Path(uv).exists():
        pytest.skip("uv is not installed here")
    (checkout / "bin" / "uv").symlink_to(uv)
    assert "The packages cannot be installed" in said(set_up(checkout, REAL))


@pytest.mark.skipif(os.geteuid() == 0 and not playable(), reason="root may write everywhere")
def test_a_checkout_that_cannot_be_written_is_named(checkout: Path) -> None:
    checkout.chmod(0o555)
    other = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    try:
        assert "cannot be written" in said(set_up(checkout, REAL, **other))
    finally:
        checkout.chmod(0o755)
