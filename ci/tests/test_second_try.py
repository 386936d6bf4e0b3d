"""What fails beside others has a second try alone; what fails twice, or was never a test's failure, stays red."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import ROOT

FLAKY = """
from pathlib import Path

def test_that_needs_a_quiet_machine():
    seen = Path("seen")
    first = not seen.exists()
    seen.touch()
    assert not first

def test_that_holds():
    assert True
"""
BROKEN = FLAKY.replace("    assert not first", "    assert False")
STOPS = "import os, pytest\n\ndef test_stops():\n    pytest.exit('no more', returncode=3)\n"


@pytest.mark.parametrize(("tests", "status", "tries"), [(FLAKY, 0, 2), (BROKEN, 1, 2), (STOPS, 3, 1), ("", 5, 1)])
def test_a_failure_is_tried_once_more_alone(tmp_path: Path, tests: str, status: int, tries: int) -> None:
    (tmp_path / "ci").mkdir()
    shutil.copy(ROOT / "ci" / "test", tmp_path / "ci")
    tools = tmp_path / ".venv" / "bin"
    tools.mkdir(parents=True)
    for name, command in {
        "ci/setup": "true",
        ".venv/bin/ruff": "true",
        ".venv/bin/mypy": "true",
        ".venv/bin/nproc": "echo 1",
        ".venv/bin/pytest": f'echo try >>tries; exec {sys.executable} -m pytest "$@"',
    }.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "test_it.py").write_text(tests, encoding="utf-8")
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(["ci/test"], cwd=tmp_path, env=plain, capture_output=True, text=True)
    assert done.returncode == status, done.stdout + done.stderr
    assert (tmp_path / "tries").read_text(encoding="utf-8").count("try") == tries
    assert ("test_that_needs_a_quiet_machine PASSED" in done.stdout) == (tests == FLAKY)
    assert "test_that_holds" not in done.stdout
