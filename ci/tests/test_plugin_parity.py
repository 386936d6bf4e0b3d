"""Otter and our batch say the same: one submission of each kind, graded both ways."""

import shutil
import subprocess
import sys

import pytest
from commands import ENVIRONMENT, ROOT

SAMPLES = ROOT / "solutions" / "submissions"
KINDS = (
    "honest/reference.ipynb",
    "honest/reference-text.md",
    "partial/starter-notebook.ipynb",
    "partial/modulo-one.py",
    "partial/syntax-error.ipynb",
    "alternative/strided-views.py",
    "hostile/sys-exit.py",
    "hostile/lying-eq.py",
    "odd/foreign-kernel.ipynb",
    "odd/truncated.ipynb",
    "odd/two-answers",
    "odd/mac.zip",
)


@pytest.mark.timeout(600)
def test_twelve_kinds_of_submission_give_the_same_bytes(tmp_path):
    for kind in KINDS:
        source, target = SAMPLES / kind, tmp_path / kind.split("/")[1]
        shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
    command = [sys.executable, str(ROOT / "ci" / "parity.py"), str(tmp_path)]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert "12 of 12 the same (8 by otter run, 4 by run_autograder), 0 different" in done.stdout
