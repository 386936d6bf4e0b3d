"""The check at the end of a run notices what it is for."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from footprint import Footprint

HERE = Path(__file__).parent


def test_two_looks_in_a_row_see_the_same() -> None:
    now = Footprint.now()
    assert now.changes_until(now) == []
    assert {"/tmp", "/", str(HERE / "conftest.py")} <= now.modes.keys()


def test_every_kind_of_change_is_named() -> None:
    now = Footprint.now()
    later = replace(
        now,
        modes={**now.modes, "/tmp": (0o755, 0, 0)},
        accounts=now.accounts + b"eve:x:0:0::/:/bin/sh\n",
        mounts=now.mounts | {"/tmp/pytest-of-x/out"},
        strays=now.strays | {123456},
    )
    said = now.changes_until(later)
    assert len(said) == 4
    assert [word for word in ("/tmp had mode", "accounts", "still mounted", "lives on") if word not in str(said)] == []


def test_a_process_that_outlives_its_parent_is_a_stray() -> None:
    before = Footprint.now()
    sleeper = ["-c", "import time; time.sleep(60)", str(HERE)]
    program = (
        "import subprocess, sys\n"
        "quiet = {'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL}\n"
        f"print(subprocess.Popen([sys.executable, *{sleeper!r}], **quiet).pid)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    pid = int(done.stdout)
    try:
        said = before.changes_until(Footprint.now())
        parent = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[1]
        if parent != "1":
            pytest.skip("orphans have another parent here")
        assert f"process {pid} of the tests lives on" in said
    finally:
        os.kill(pid, 9)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can change what is not its own")
def test_a_run_that_changes_a_mode_fails(tmp_path: Path) -> None:
    for name in ("conftest.py", "footprint.py"):
        (tmp_path / name).write_text((HERE / name).read_text(encoding="utf-8"), encoding="utf-8")
    shared = tmp_path / "shared"
    shared.mkdir(mode=0o755)
    (tmp_path / "test_it.py").write_text(f"import os\ndef test_it(): os.chmod({str(shared)!r}, 0o700)\n")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path / "test_it.py")]
    path = f"{tmp_path}{os.pathsep}{HERE}"
    environment = {**os.environ, "PYTHONPATH": path, "TMPDIR": str(shared), "PYTEST_ADDOPTS": "--basetemp=t"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert "1 passed" in done.stdout
    assert f"{shared} had mode 755" in done.stdout
    assert done.returncode == 1
