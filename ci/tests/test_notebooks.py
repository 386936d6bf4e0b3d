"""The student notebooks, run for real by a kernel that cannot see this package, and their public checks.

The kernel starts in an empty folder. ``PYTHONPATH`` names a folder whose ``autograder.py`` refuses to be imported; it
goes before anything installed, so a notebook that needed this package would fail here.
"""

import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

ROOT = Path(__file__).parents[2]
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


def run(notebook: NotebookNode, saved: NotebookNode, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the notebook in a kernel, ``saved`` lying on disk; return everything it showed, as text."""
    work, shadow = folder / "work", folder / "shadow"
    work.mkdir()
    shadow.mkdir()
    (shadow / "autograder.py").write_text("raise ModuleNotFoundError('a student does not have this package')")
    monkeypatch.setenv("PYTHONPATH", str(shadow))
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    nbformat.write(saved, work / f"paged_attention.{saved.metadata.lang}.ipynb")
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": work}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return "\n".join(output.get("text") or output["data"]["text/plain"] for output in outputs)


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", ("not attempted", "waiting for TODO 1, TODO 2", "still open")),
        ("zh", ("尚未作答", "在等待 TODO 1、TODO 2", "还没有完成")),
    ],
)
def test_an_untouched_notebook_runs_through_and_says_what_is_open(
    lang: str, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = run(starter(lang), starter(lang), tmp_path, monkeypatch)
    assert [word for word in words if word not in shown] == []
    assert re.findall(r"(?m)^○ (q\d)", shown)[-5:] == ["q1", "q2", "q3", "q4", "q5"]
    assert "✗" not in shown
    assert "✓" not in shown


def test_a_solved_notebook_passes_all_public_checks_and_exports_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved = filled_in("en", RIGHT)
    shown = run(filled_in("en", RIGHT), solved, tmp_path, monkeypatch)
    assert re.findall(r"(?m)^✓ (q\d)", shown)[-5:] == ["q1", "q2", "q3", "q4", "q5"]
    assert "131,072 tokens" in shown
    assert "Ready for a GPU." in shown
    assert "Submit paged_attention.en.zip" in shown
    with zipfile.ZipFile(tmp_path / "work" / "paged_attention.en.zip") as archive:
        assert ".OTTER_LOG" not in archive.namelist()
        exported = nbformat.reads(archive.read("paged_attention.en.ipynb").decode(), as_version=4)
    assert [cell.source for cell in exported.cells] == [cell.source for cell in solved.cells]


def test_a_solved_notebook_that_was_not_saved_is_noticed_at_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = run(filled_in("zh", RIGHT), starter("zh"), tmp_path, monkeypatch)
    assert re.findall(r"(?m)^✓ (q\d)", shown)[-5:] == ["q1", "q2", "q3", "q4", "q5"]
    assert "可以上 GPU。" in shown
    assert "请保存（Ctrl+S）" in shown
    assert "请提交" not in shown


Namespace = dict[str, Any]


@pytest.fixture
def define(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[NotebookNode], Namespace]:
    """Run a notebook's definitions where no notebook file can be found, as on Colab."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)

    def define(notebook: NotebookNode) -> Namespace:
        namespace: Namespace = {"__name__": "__main__"}
        for cell in notebook.cells:
            if cell.cell_type == "code" and re.search(r"(?m)^(import|def|class|grader =)", cell.source):
                exec(compile(cell.source, f"<{cell.id}>", "exec"), namespace)
        return namespace

    return define


def shown(namespace: Namespace, question: str) -> str:
    return str(namespace["grader"].check(question))


def test_without_a_file_the_checks_speak_both_languages(define: Callable[[NotebookNode], Namespace]) -> None:
    text = shown(define(starter("zh")), "q2")
    assert "not attempted" in text
    assert "尚未作答" in text


def test_without_a_file_export_says_what_to_hand_in(
    define: Callable[[NotebookNode], Namespace], capsys: pytest.CaptureFixture[str]
) -> None:
    define(starter("en"))["grader"].export()
    assert "Download" in capsys.readouterr().out


@pytest.mark.parametrize("number", "1234")
def test_each_todo_is_checked_without_the_others(define: Callable[[NotebookNode], Namespace], number: str) -> None:
    namespace = define(filled_in("en", RIGHT, todos=number))
    statuses = {question: namespace["public_check"](question).status for question in namespace["RULES"]}
    expected = dict.fromkeys(statuses, "not attempted") | {"q5": "waiting", f"q{number}": "passed"}
    assert statuses == expected


@pytest.mark.parametrize(
    ("question", "steps", "got"),
    [
        ("q1", "  1. estimate_kv_cache_bytes(num_blocks=1, ", "(1, 1, 1)"),
        ("q2", "  1. A prefill 9\nExpected", "9 tokens in 4 block(s)"),
        ("q3", "  1. A hold 1 1\n  2. A decode\nExpected", "2 tokens in 1 block(s)"),
        ("q4", "  1. A hold 3 2 0 1\n  2. A read\nExpected", "pool rows [0, 1, 2]"),
    ],
)
def test_a_failed_check_shows_the_shortest_steps_the_rule_and_what_came(
    define: Callable[[NotebookNode], Namespace], question: str, steps: str, got: str
) -> None:
    namespace = define(filled_in("en", WRONG))
    text = shown(namespace, question)
    assert steps in text
    assert namespace["RULES"][question] in text
    assert got in text
    assert (text.count("|") > 0) == (question != "q1"), "the pool is drawn before and after"


def test_a_refused_call_that_changes_something_is_noticed(define: Callable[[NotebookNode], Namespace]) -> None:
    restless = "if len(self.free_blocks) < needed_blocks: self.free_blocks.reverse()"
    answers = RIGHT | {"# needed_blocks = ???": f"{RIGHT['# needed_blocks = ???']}\n    {restless}"}
    assert "the free list changed" in shown(define(filled_in("en", answers)), "q2")


def test_plain_otter_agrees_with_the_pictures(define: Callable[[NotebookNode], Namespace]) -> None:
    import otter

    for answers, passes in ((RIGHT, True), (WRONG, False)):
        namespace = define(filled_in("en", answers))
        plain = otter.Notebook.check(
            otter.Notebook(tests_dir=namespace["grader"]._tests_dir), "q2", {"public_check": namespace["public_check"]}
        )
        assert plain.passed_all is passes


def test_the_picture_tells_used_wasted_free_shared_and_lost_slots_apart_without_colour(
    define: Callable[[NotebookNode], Namespace],
) -> None:
    namespace = define(starter("en"))
    state = namespace["Snapshot"](5, 4, (2,), {"A": ((0, 1), 6), "B": ((3, 0), 5)})
    drawn = [namespace["slots"](state, block)[0] for block in range(5)]
    assert drawn == ["!!!!", "AA..", "    ", "BBBB", "????"]
    assert namespace["broken_invariants"](state) == [
        "A block is held twice. / 有的块被持有了两次。",
        "A block is lost: neither held nor free. / 有的块丢失了：既没人持有，也不空闲。",
    ]
    assert namespace["draw"](("now", state)).markup.count("<rect") == 20


@pytest.mark.parametrize("length", ["req.seq_len + 1.0", "None"])
def test_a_length_that_is_no_integer_fails_without_a_traceback(
    define: Callable[[NotebookNode], Namespace], length: str
) -> None:
    text = shown(define(filled_in("en", RIGHT | {"# new_seq_len = ???": f"new_seq_len = {length}"})), "q3")
    assert text.startswith("✗ q3")
    assert "cannot be interpreted as an integer" in text
