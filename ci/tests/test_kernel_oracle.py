"""A kernel is the judge of what a notebook means: grading ends where a plain IPython kernel ends, or kinder."""

import json
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "solutions" / "submissions" / "kernel"
EXPECTED = tomllib.loads((SAMPLES / "expected.toml").read_text(encoding="utf-8"))
FULL = {"q1": 15, "q2": 20, "q3": 20, "q4": 15}
COMPARABLE = [name for name, want in EXPECTED.items() if "points" in want and "absent" not in want]


@cache
def kernel() -> dict[str, str]:
    """Return what a kernel ends with, for every sample that a plain one can run."""
    command = [sys.executable, ROOT / "ci" / "tests" / "kernel_oracle.py", *(SAMPLES / name for name in COMPARABLE)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    outcomes: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return outcomes


def graded(want: dict[str, Any]) -> str:
    """Return the expected grade in the oracle's form."""
    points = want.get("questions", FULL if want["points"] == 80 else {})
    return "".join(str(int(points[question] == full)) for question, full in FULL.items())


@pytest.mark.parametrize("name", COMPARABLE)
def test_a_kernel_ends_as_the_sample_says(name: str) -> None:
    want = EXPECTED[name]
    assert kernel()[name] == want.get("kernel", graded(want))


@pytest.mark.parametrize("name", [name for name in COMPARABLE if "kernel" in EXPECTED[name]])
def test_where_grading_differs_it_is_kinder(name: str) -> None:
    want = EXPECTED[name]
    assert want["kernel"] != graded(want)
    assert all(mine >= theirs for mine, theirs in zip(graded(want), want["kernel"], strict=True))


def test_there_are_enough_samples_and_most_are_as_a_kernel_has_them() -> None:
    assert len(EXPECTED) >= 100
    assert sum("kernel" not in EXPECTED[name] for name in COMPARABLE) >= 80
