"""A kernel is the judge of what a notebook means: grading ends where a plain IPython kernel ends, or kinder."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from expected import SAMPLES, Expected, expectations

from autograder.contract.questions import questions

ROOT = Path(__file__).resolve().parents[2]
EXPECTED = expectations("kernel")
COMPARABLE = [name for name, want in EXPECTED.items() if not want.rejected and not want.absent]


@cache
def kernel() -> dict[str, str]:
    """Return what a kernel ends with, for every sample that a plain one can run."""
    command = [
        sys.executable,
        ROOT / "ci" / "tests" / "kernel_oracle.py",
        *(SAMPLES / "kernel" / name for name in COMPARABLE),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    outcomes: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return outcomes


def graded(want: Expected) -> str:
    """Return the expected grade in the oracle's form."""
    return "".join(str(int(want.questions[question][1] == "passed")) for question in questions().with_todo)


@pytest.mark.parametrize("name", COMPARABLE)
def test_a_kernel_ends_as_the_sample_says(name: str) -> None:
    want = EXPECTED[name]
    assert kernel()[name] == (want.kernel or graded(want))


@pytest.mark.parametrize("name", [name for name in COMPARABLE if EXPECTED[name].kernel])
def test_where_grading_differs_it_is_kinder(name: str) -> None:
    want = EXPECTED[name]
    assert want.kernel != graded(want)
    assert all(mine >= theirs for mine, theirs in zip(graded(want), want.kernel, strict=True))


def test_there_are_enough_samples_and_most_are_as_a_kernel_has_them() -> None:
    assert len(EXPECTED) >= 100
    assert sum(not EXPECTED[name].kernel for name in COMPARABLE) >= 80
