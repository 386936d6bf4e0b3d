"""Cell magics: those whose body a kernel would run as Python keep it, and all others take it away."""

import pytest
from sandbox_samples import LEDGER, PATIENCE, spawn

RUN_AS_PYTHON = ("%%time", "%%timeit", "%%capture", "%%capture output", "%%prun", "%%debug", "\n\n%%time")
NOT_PYTHON = ("%%bash", "%%writefile solution.py", "%%html", "%%javascript", "%%markdown", "%%latex")
ANSWER = "def estimate_kv_cache_bytes(*args):\n    return 7\n"


def answer(cell: str) -> tuple[object, list[str]]:
    """Return what the function answers that a cell defines, after one that defines it otherwise, and the notes."""
    with spawn() as child:
        notes = child.load([ANSWER.replace("7", "1"), cell], room=PATIENCE)
        return child.run([LEDGER], PATIENCE)[0]["returned"], [f"{note['code']} {note['details']}" for note in notes]


@pytest.mark.parametrize("magic", RUN_AS_PYTHON)
def test_a_cell_under_a_magic_that_runs_it_counts(magic: str) -> None:
    assert answer(f"{magic}\n{ANSWER}") == (7, [])


@pytest.mark.parametrize("magic", NOT_PYTHON)
def test_a_cell_under_a_magic_of_another_language_does_not(magic: str) -> None:
    returned, notes = answer(f"{magic}\n{ANSWER}")
    assert returned == 1
    assert [note.partition(" ")[0] for note in notes] in ([], ["cell.magic"])


def test_an_indented_cell_magic_is_no_magic_to_a_kernel_either() -> None:
    returned, notes = answer(f"  %%time\n{ANSWER}")
    assert returned == 1
    assert [note.partition(" ")[0] for note in notes] == ["cell.syntax"]


@pytest.mark.parametrize(
    "line", ["%matplotlib inline", "!pip install x", "%pip install x", "?len", "%load_ext a", "x = !ls"]
)
def test_a_line_that_is_no_python_leaves_the_rest_of_its_cell(line: str) -> None:
    assert answer(f"{line}\n{ANSWER}{line}\n") == (7, [])
