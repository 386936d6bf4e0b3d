"""Cell magics: those whose body a kernel would run as Python keep it, and all others take it away."""

import pytest
from sandbox_samples import LEDGER, spawn

RUN_AS_PYTHON = ("%%time", "%%timeit", "%%capture", "%%capture output", "%%prun", "%%debug", "  %%time", "\n\n%%time")
NOT_PYTHON = ("%%bash", "%%writefile solution.py", "%%html", "%%javascript", "%%markdown", "%%latex")
ANSWER = "def estimate_kv_cache_bytes(*args):\n    return 7\n"


def answer(cell: str) -> object:
    """Return what the function answers that a cell defines, after one that defines it otherwise."""
    with spawn() as child:
        assert child.load([ANSWER.replace("7", "1"), cell]) == []
        return child.run([LEDGER])[0]["returned"]


@pytest.mark.parametrize("magic", RUN_AS_PYTHON)
def test_a_cell_under_a_magic_that_runs_it_counts(magic: str) -> None:
    assert answer(f"{magic}\n{ANSWER}") == 7


@pytest.mark.parametrize("magic", NOT_PYTHON)
def test_a_cell_under_a_magic_of_another_language_does_not(magic: str) -> None:
    assert answer(f"{magic}\n{ANSWER}") == 1


@pytest.mark.parametrize(
    "line", ["%matplotlib inline", "!pip install x", "%pip install x", "?len", "%load_ext a", "x = !ls"]
)
def test_a_line_that_is_no_python_leaves_the_rest_of_its_cell(line: str) -> None:
    assert answer(f"{line}\n{ANSWER}{line}\n") == 7
