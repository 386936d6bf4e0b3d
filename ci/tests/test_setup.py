"""``ci/setup`` where something is missing: one sentence, soon, and the second try works."""

import os
import shutil
import ssl
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from commands import ROOT
from environments import NOBODY, playable
from ports import ANSWERS, taken

REAL = sys.executable
NOWHERE = "http://127.0.0.1:9/"
SOON_S = 120
UV_THAT_NEEDS_ROOM = """
case $1 in
  venv) shift 4 && exec {python} -m venv --without-pip "$@" ;;
  pip) [[ ! -e $HOME/no-network ]] || {{ echo "error: no network" >&2; exit 2; }}
       [[ $* != *--editable* || ! -e $HOME/fill-up ]] || {{ rm "$HOME/fill-up"; cat /dev/zero >"$HOME/filler" || :; }}
esac
"""
"""uv as ci/setup calls it, on a network that a file takes away and a disk that another file fills at the last step."""

ON_A_SMALL_DISK = """
mount -t tmpfs -o size=1m tmpfs "$HOME" && cp -R "$1/." "$HOME" && cd "$HOME"
cat /dev/zero 2>/dev/null >"$2" || [[ $2 == filler ]] || : >"$2"
export PATH=$HOME/bin
bash ci/setup; echo $?
rm -f filler
bash ci/setup; echo $?
"""
"""Try twice, with the disk full from the start or, by the file fill-up, at the last step; then with room."""


@pytest.fixture
def checkout(open_folder: Path) -> Path:
    """Give what ci/setup reads, and a folder of programs that has no uv."""
    (open_folder / "ci").mkdir()
    for name in ("ci/setup", "ci/requirements.lock", "pyproject.toml"):
        shutil.copy(ROOT / name, open_folder / name)
    (open_folder / "bin").mkdir()
    for name in ("bash", "env", "sha256sum", "cat", "cut", "dirname", "grep", "rm", "mv", "sed"):
        (open_folder / "bin" / name).symlink_to(shutil.which(name) or name)
    return open_folder


def program(folder: Path, name: str, text: str) -> Path:
    (folder / "bin" / name).write_text(f"#!/usr/bin/env bash\n{text}\n", "utf-8")
    (folder / "bin" / name).chmod(0o755)
    return folder / "bin" / name


def set_up(
    checkout: Path, python: Path | str, env: Mapping[str, str] = {"UV_OFFLINE": "1"}, **more: object
) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": str(checkout / "bin"),
        "HOME": str(checkout),
        "PYTHON": str(python),
        "PIP_CONFIG_FILE": "/dev/null",
    }
    environment |= {"PIP_INDEX_URL": NOWHERE, "UV_INDEX_URL": NOWHERE, **env}
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


def with_uv(checkout: Path) -> Path:
    """Give the checkout the uv of this machine."""
    uv = shutil.which("uv") or str(Path(REAL).with_name("uv"))
    if not Path(uv).exists():
        pytest.skip("uv is not installed here")
    (checkout / "bin" / "uv").symlink_to(uv)
    return checkout


def test_packages_that_cannot_be_had_are_one_sentence_after_uv_s_own(checkout: Path) -> None:
    assert "The packages cannot be installed" in said(set_up(with_uv(checkout), REAL))


def unsigned(folder: Path) -> ssl.SSLContext:
    """Return a server's context whose certificate nobody has signed."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed here")
    files = ["-keyout", folder / "key.pem", "-out", folder / "certificate.pem"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", *files]
    subprocess.run(made, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    return context


@pytest.mark.parametrize("installer", ["pip", "uv"])
@pytest.mark.parametrize("trouble", ["no answer", "no certificate"])
def test_a_network_that_only_seems_to_be_there_ends_soon(checkout: Path, tmp_path: Path, installer, trouble) -> None:
    if installer == "uv":
        with_uv(checkout)
    lock = checkout / "ci" / "requirements.lock"
    lock.write_text("click==8.3.0\n" + next(line for line in lock.open() if line.startswith("uv==")), encoding="utf-8")
    begun = time.monotonic()
    tls = unsigned(tmp_path) if trouble == "no certificate" else None
    with taken(ANSWERS["silent"], tls) as port:
        address = f"{'https' if tls else 'http'}://127.0.0.1:{port}/simple"
        there = {"PIP_INDEX_URL": address, "UV_INDEX_URL": address, "UV_HTTP_TIMEOUT": "5"}
        sentence = said(set_up(checkout, REAL, there))
    assert "network, proxy, certificates" in sentence
    assert time.monotonic() - begun < SOON_S


def test_the_second_try_goes_on_from_a_set_up_that_stopped_in_the_middle(checkout: Path) -> None:
    program(checkout, "uv", UV_THAT_NEEDS_ROOM.format(python=REAL))
    (checkout / "no-network").touch()
    assert "The packages cannot be installed" in said(set_up(checkout, REAL))
    (checkout / "no-network").unlink()
    assert set_up(checkout, REAL).returncode == 0
    (checkout / "bin" / "uv").unlink()
    settings = checkout / "pyproject.toml"
    settings.write_text(settings.read_text("utf-8").replace('gpu = "required"', 'gpu = "off"'), encoding="utf-8")
    assert set_up(checkout, REAL).returncode == 0, "what is set up needs nothing, whatever the course is set to"


def test_a_venv_that_was_left_half_made_is_made_again(checkout: Path) -> None:
    program(checkout, "uv", UV_THAT_NEEDS_ROOM.format(python=REAL))
    (checkout / ".venv" / "bin").mkdir(parents=True)
    (checkout / ".venv" / "bin" / "python").symlink_to("/nowhere/python")
    assert set_up(checkout, REAL).returncode == 0
    assert (checkout / ".venv" / ".stamp").exists()


@pytest.mark.skipif(not playable(), reason="a small disk of one's own takes root")
@pytest.mark.parametrize("moment", ["filler", "fill-up"], ids=["from the start", "at the last step"])
def test_a_full_disk_is_named_and_room_is_enough_for_the_second_try(
    checkout: Path, tmp_path: Path, moment: str
) -> None:
    program(checkout, "uv", UV_THAT_NEEDS_ROOM.format(python=REAL))
    (tmp_path / "disk").mkdir()
    environment = {"HOME": str(tmp_path / "disk"), "PATH": os.environ["PATH"], "PYTHON": REAL}
    command = ["unshare", "--mount", "bash", "-c", ON_A_SMALL_DISK, "bash", str(checkout), moment]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["2", "0"], done.stderr
    [sentence] = [line for line in done.stderr.splitlines() if line.startswith("ci/setup: ")]
    assert "run the same command again" in sentence
    assert "room on the disk" in sentence


@pytest.mark.skipif(os.geteuid() == 0 and not playable(), reason="root may write everywhere")
def test_a_checkout_that_cannot_be_written_is_named(checkout: Path) -> None:
    checkout.chmod(0o555)
    other = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
    try:
        assert "cannot be written" in said(set_up(checkout, REAL, **other))
    finally:
        checkout.chmod(0o755)
