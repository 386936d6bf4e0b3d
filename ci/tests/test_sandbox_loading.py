"""A notebook's cells run as in a notebook, and what cannot run costs its own cell only."""

import pytest
from sandbox_samples import CASE, LEDGER, PATIENCE, RIGHT, load, spawn, trace


def ledger(*cells: str) -> object:
    """Return what ``estimate_kv_cache_bytes()`` returns after these cells."""
    with spawn() as child:
        child.load(cells, room=PATIENCE)
        return child.run([LEDGER], PATIENCE)[0].get("returned")


def test_a_failing_cell_does_not_stop_the_rest_and_is_noted_with_its_line() -> None:
    failed, broken = load("x = 1", "y = 2\n\nraise ValueError('no ' * 200)", "def broken(:", "assert x == 1 and y == 2")
    assert (failed["code"], broken["code"]) == ("cell.failed", "cell.syntax")
    assert (failed["details"]["cell"], failed["details"]["error"], failed["details"]["line"]) == (2, "ValueError", 3)
    assert len(failed["details"]["text"]) == 200
    assert broken["details"] == {"cell": 3, "line": 1, "column": 12, "code": "def broken(:", "text": "invalid syntax"}


@pytest.mark.parametrize("table", ["[" + "[1]," * 60_000 + "]", "'" + "1," * 510_000 + "'"], ids=["lists", "text"])
def test_a_table_of_many_values_is_a_cell_like_any_other(table: str) -> None:
    """The wire counts brackets and commas of what comes from a child, and of nothing that goes to one."""
    size = 60_000 if table[0] == "[" else len(table) - 2
    assert ledger(f"rows = {table}", "def estimate_kv_cache_bytes(*a): return len(rows)") == size


@pytest.mark.parametrize("leave", ["exit()", "quit()", "import sys; sys.exit(1)", "raise KeyboardInterrupt"])
def test_leaving_a_cell_early_does_not_leave_the_notebook(leave: str) -> None:
    assert ledger(leave, "def estimate_kv_cache_bytes(*a): return 5") == 5


def test_an_exception_whose_own_code_fails_is_noted_all_the_same() -> None:
    hostile = "class E(Exception):\n    def __str__(self): raise SystemExit\nraise E"
    [note] = load(hostile)
    assert note == {"code": "cell.failed", "details": {"cell": 1, "error": "E", "line": 3, "text": ""}}


def test_the_last_definition_of_a_name_wins() -> None:
    assert ledger(*(f"def estimate_kv_cache_bytes(*a): return {n}" for n in (1, 2, 3))) == 3


def test_the_code_under_main_runs_as_in_a_notebook() -> None:
    assert (
        ledger("answer = 1\nif __name__ == '__main__': answer = 2", "def estimate_kv_cache_bytes(*a): return answer")
        == 2
    )


def test_dataclasses_pickles_and_annotations_find_their_module() -> None:
    cell = (
        "import dataclasses, pickle, typing, inspect\n@dataclasses.dataclass\nclass Point:\n    x: 'int' = 3\n"
        "assert pickle.loads(pickle.dumps(Point())) == Point()\nassert typing.get_type_hints(Point) == {'x': int}\n"
        "def f(): return 3\nassert 'return 3' in inspect.getsource(f)"
    )
    assert load(cell) == []


def test_a_future_import_lasts_for_later_cells() -> None:
    assert load("from __future__ import annotations", "def f(x: Undefined) -> AlsoUndefined: ...") == []


LINES = {
    "%matplotlib inline\nx = 1": 2,
    "!pip install torch \\\n  numpy\nx = 1": 2,
    "if True:\n    !ls\n    %time y = 1\n!!ls\nx = y": 5,
    "x = %timeit -o f()\nx = !ls\nx = 1": 3,
    "torch.Tensor?\n?print\nprint??\nx = 1": 4,
    "\n\n%%time\nx = 1": 4,
    "%time x = 1": 1,
    "await __import__('asyncio').sleep(60)\nx = 1": 2,
    "    x = 1": 1,
    ">>> x = 1": 1,
}


@pytest.mark.parametrize("source", LINES)
def test_magics_pass_and_lines_keep_their_numbers(source: str) -> None:
    after = source + "\nassert x == 1, x\nraise ValueError"
    if source.startswith("    "):
        after = after.replace("\n", "\n    ")
    if source != "!pip install torch \\\n  numpy\nx = 1":  # IPython itself makes one line of a command over several
        assert [(n["code"], n["details"]["line"]) for n in load(after)] == [("cell.failed", LINES[source] + 2)]
    assert load(source, "assert x == 1") == []


def test_a_cell_that_is_python_is_left_as_it_is() -> None:
    assert ledger("text = '''\n%time\n!ls\n'''", "def estimate_kv_cache_bytes(*a): return len(text)") == 11


def test_the_usual_lines_of_a_notebook_pass() -> None:
    cell = """
import otter
grader = otter.Notebook("paged_attention.ipynb")
grader.check("q1"); grader.check_all(); grader.export(run_tests=True)
from google.colab import drive, files
drive.mount("/content/drive")
from IPython.display import display, clear_output, HTML
display(HTML("<b>hi</b>")); clear_output(wait=True)
get_ipython().run_line_magic("matplotlib", "inline")
import matplotlib.pyplot as plt
figure, axes = plt.subplots(1, 2, figsize=(3, 3))
axes[0].plot([1, 2]); plt.show()
name = input("your name: ")
print(name, file=__import__("sys").stderr)
assert name == ""
"""
    assert load("%load_ext autoreload\n!nvidia-smi\n" + cell, cell) == []


def test_a_null_byte_or_a_lone_surrogate_costs_its_cell_only() -> None:
    assert ledger("x = '\0'", "y = '\ud800'", "def estimate_kv_cache_bytes(*a): return 1") == 1


def test_a_right_submission_gives_the_same_trace_cell_by_cell() -> None:
    parts = RIGHT.split("\n\n")
    methods = RIGHT.index("    def get_physical_cache")
    by_method = [RIGHT[:methods], "class KVCacheManager(KVCacheManager):\n" + RIGHT[methods:]]
    assert len(parts) > 3
    assert trace([RIGHT]) == trace(by_method)
    assert all("returned" in seen for seen in trace([RIGHT], CASE))


def test_random_numbers_are_the_same_in_every_child() -> None:
    numbers = "[random.random(), torch.rand(1), numpy.random.rand()]"
    cell = f"import random, torch, numpy\ndef estimate_kv_cache_bytes(*a): return {numbers}"
    assert ledger(cell) == ledger(cell)
    assert "list" in str(ledger(cell))


def test_sets_of_strings_have_the_same_order_in_every_child() -> None:
    cell = "def estimate_kv_cache_bytes(*a): return list({'a', 'b', 'c', 'd', 'e'})"
    assert ledger(cell) == ledger(cell)
