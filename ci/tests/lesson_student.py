"""What the tests of the lesson have in common: a student's notebook, in this process and without a kernel."""

import linecache
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.release import notebooks

ROOT = Path(__file__).parents[2]
LESSON = ROOT / "assignment/paged_lesson.py"
TODO = re.compile(r'raise NotImplementedError\("TODO (\d)"\)')
RIGHT = {
    "# kv_bytes_per_token = ???": "kv_bytes_per_token = 2 * num_layers * num_kv_heads * head_dim * dtype_bytes",
    "# kv_bytes_per_block = ???": "kv_bytes_per_block = block_size * kv_bytes_per_token",
    "# total_cache_bytes = ???": "total_cache_bytes = num_blocks * kv_bytes_per_block",
    "# needed_blocks = ???": "needed_blocks = -(-req.seq_len // self.block_size)",
    "# allocated_blocks = ???": "allocated_blocks = self.free_blocks[-needed_blocks:]",
    "# new_seq_len = ???": "new_seq_len = req.seq_len + 1",
    "# is_new_block_needed = ???": "is_new_block_needed = req.seq_len >= len(req.block_table) * self.block_size",
    "# blocks = ???": "blocks = self.physical_kv_cache[req.block_table]",
    "# cat_blocks = ???": "cat_blocks = blocks.flatten(0, 1)",
}
WRONG = RIGHT | {
    "# kv_bytes_per_token = ???": "kv_bytes_per_token = num_layers * num_kv_heads * head_dim * dtype_bytes",
    "# needed_blocks = ???": "needed_blocks = req.seq_len // self.block_size + 1",
    "# is_new_block_needed = ???": "is_new_block_needed = new_seq_len % self.block_size == 1",
    "# blocks = ???": "blocks = self.physical_kv_cache[sorted(req.block_table)]",
}


def starter(lang: str) -> NotebookNode:
    return nbformat.read(ROOT / f"assignment/paged_attention.{lang}.ipynb", as_version=4)


def filled_in(lang: str, answers: dict[str, str], todos: str = "1234") -> NotebookNode:
    """Return the notebook as a student leaves it: blanks replaced, raise lines deleted."""
    notebook = starter(lang)
    for cell in notebook.cells:
        open_todo = TODO.search(cell.source) if cell.cell_type == "code" else None
        if open_todo and open_todo[1] in todos:
            for blank, answer in answers.items():
                cell.source = cell.source.replace(f"    {blank}\n", f"    {answer}\n")
            cell.source = re.sub(r"\n +raise NotImplementedError.*", "", cell.source)
    return notebook


def answered(blank: str, answer: str) -> NotebookNode:
    return filled_in("en", RIGHT | {f"# {blank} = ???": answer})


def solved_master() -> NotebookNode:
    facts = notebooks.facts_of(ROOT)
    solved = notebooks.build(ROOT / notebooks.MASTER, "en", facts, solved=True)["paged_attention.en.solution.ipynb"]
    return nbformat.reads(solved.decode(), as_version=4)


def in_the_master(line: str, body: str) -> NotebookNode:
    """Return the solved notebook with one line replaced, as in the device samples."""
    notebook = solved_master()
    assert sum(cell.source.count(line) for cell in notebook.cells if cell.cell_type == "code") == 1
    for cell in notebook.cells:
        cell.source = cell.source.replace(line, body.replace("\n", "\n    "))
    return notebook


Namespace = dict[str, Any]


class Student:
    """The lesson and a student's notebook in this process, without a kernel."""

    def __init__(self, notebook: NotebookNode) -> None:
        self.lesson = __import__("paged_lesson")
        self.names: Namespace = {"__name__": "__main__", "In": [], "__file__": ""}
        for cell in notebook.cells:
            if cell.cell_type == "code" and re.search(
                r"(?m)^(import|def estimate|def make_room|class|@add_to_class)", cell.source
            ):
                self.run(cell.source)

    def run(self, source: str) -> None:
        """Run one cell; a cell that does not compile stays in the history, as in a notebook."""
        name = f"<cell {len(self.names['In'])}>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        self.names["In"].append(source)
        exec(compile(source, name, "exec"), self.names)

    def shown(self, question: str) -> str:
        return str(self.lesson.public_check(question))


Define = Callable[[NotebookNode], Student]


@pytest.fixture
def define(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Define:
    """Run a notebook's definitions where no notebook file can be found, as on Colab."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    monkeypatch.syspath_prepend(LESSON.parent)
    sys.modules.pop("paged_lesson", None)
    return Student
