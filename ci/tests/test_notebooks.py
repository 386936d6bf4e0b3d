"""The student notebooks, run for real by a kernel that cannot see this package, and their public checks.

The kernel starts in an empty folder. ``PYTHONPATH`` names a folder whose ``autograder.py`` refuses to be imported; it
goes before anything installed, so a notebook that needed this package would fail here.
"""

import linecache
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
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


def run(notebook: NotebookNode, saved: NotebookNode, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the notebook in a kernel, ``saved`` lying on disk; return everything it showed, as text."""
    work, shadow = folder / "work", folder / "shadow"
    work.mkdir()
    shadow.mkdir()
    shutil.copy(LESSON, work)
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
        ("zh", ("尚未作答", "要等 TODO 1、TODO 2", "还没有完成")),
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
    assert "5 of 5 public checks pass" in shown
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


@pytest.fixture
def define(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[NotebookNode], Student]:
    """Run a notebook's definitions where no notebook file can be found, as on Colab."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    monkeypatch.syspath_prepend(LESSON.parent)
    sys.modules.pop("paged_lesson", None)
    return Student


def answered(blank: str, answer: str) -> NotebookNode:
    return filled_in("en", RIGHT | {f"# {blank} = ???": answer})


def test_the_checks_speak_the_notebooks_language_where_no_file_can_be_found(
    define: Callable[[NotebookNode], Student],
) -> None:
    assert "尚未作答" in define(starter("zh")).shown("q2")
    assert "not attempted" not in define(starter("zh")).shown("q2")


def test_without_a_file_export_says_what_to_hand_in(
    define: Callable[[NotebookNode], Student], capsys: pytest.CaptureFixture[str]
) -> None:
    define(starter("en")).lesson.grader.export()
    assert "Download" in capsys.readouterr().out


@pytest.mark.parametrize("number", "1234")
def test_each_todo_is_checked_without_the_others(define: Callable[[NotebookNode], Student], number: str) -> None:
    lesson = define(filled_in("en", RIGHT, todos=number)).lesson
    statuses = {question: lesson.public_check(question).status for question in lesson.QUESTIONS}
    expected = dict.fromkeys(statuses, "not attempted") | {"q5": "waiting", f"q{number}": "passed"}
    assert statuses == expected


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("q1", ["  1. estimate_kv_cache_bytes(num_blocks=1, ", "Got: 1, 1, 1", "too small by a factor of 2"]),
        ("q2", ["  1. A prefill 9\nExpected", "Got: 9 tokens in 4 blocks", 'play(5, 3, "A prefill 9")']),
        ("q3", ["  1. A hold 1 1\n  2. A decode\nExpected", "2 tokens in 1 block", "1 token of A without a slot"]),
        ("q4", ["  1. A hold 3 2 0 1\n  2. A read\nExpected", "pool rows [0, 1, 2]", "The table says [2, 0, 1]"]),
    ],
)
def test_a_failed_check_shows_the_steps_the_line_the_rule_and_what_came(
    define: Callable[[NotebookNode], Student], question: str, told: list[str]
) -> None:
    student = define(filled_in("en", WRONG))
    text = student.shown(question)
    assert [part for part in [*told, student.lesson.rule(question), "Look at line"] if part not in text] == []
    assert (text.count("|") > 0) == (question != "q1"), "the pool is drawn"


@pytest.mark.parametrize(
    ("question", "blank", "answer", "told"),
    [
        ("q2", "allocated_blocks", "allocated_blocks = [self.free_blocks.pop(0) for _ in range(needed_blocks)]",
         "only choose them, the given lines below take them out"),
        ("q2", "needed_blocks", "needed_blocks = math.ceil(req.seq_len / self.block_size)", "line 7: needed_blocks = "),
        ("q2", "needed_blocks", "needed_blocks = req.seq_len / self.block_size", "so use `//`, not `/`"),
        ("q2", "allocated_blocks", "allocated_blocks = needed_blocks", "is a list of block numbers, not how many"),
        ("q3", "is_new_block_needed", "is_new_block_needed = ...", "one was asked for"),
        ("q4", "cat_blocks", "cat_blocks = torch.stack(list(blocks))", "Got: shape [1, 2, 2]; wanted [2, 2]"),
        ("q4", "cat_blocks", "cat_blocks = torch.cat(list(blocks), dim=1)", "Got: shape [1, 6]; wanted [3, 2]"),
        ("q4", "cat_blocks", "cat_blocks = blocks.flatten(0, 1).to(torch.float32)", "dtype torch.float32; the pool"),
        ("q4", "blocks", "blocks = self.physical_kv_cache[req.block_table]; self.physical_kv_cache += 1",
         "the read has changed the pool"),
    ],
)  # fmt: skip
def test_a_message_says_what_this_mistake_is(
    define: Callable[[NotebookNode], Student], question: str, blank: str, answer: str, told: str
) -> None:
    assert told in define(answered(blank, answer)).shown(question)


def test_a_refused_call_that_changes_something_is_noticed(define: Callable[[NotebookNode], Student]) -> None:
    restless = "if len(self.free_blocks) < needed_blocks: self.free_blocks.reverse()"
    needed = RIGHT["# needed_blocks = ???"]
    assert "the free list changed" in define(answered("needed_blocks", f"{needed}\n    {restless}")).shown("q2")


def test_a_block_put_in_front_of_the_table_is_noticed(define: Callable[[NotebookNode], Student]) -> None:
    notebook = filled_in("en", RIGHT)
    for cell in notebook.cells:
        cell.source = cell.source.replace("req.block_table.append(", "req.block_table.insert(0, ")
    assert "a new block goes to the end" in define(notebook).shown("q3")


def test_a_deque_and_numpy_integers_pass_the_public_checks(define: Callable[[NotebookNode], Student]) -> None:
    product = "np.prod([2, num_layers, num_kv_heads, head_dim, dtype_bytes])"
    answers = {
        "# kv_bytes_per_token = ???": f"kv_bytes_per_token = {product}",
        "# allocated_blocks = ???": "allocated_blocks = [*self.free_blocks][:needed_blocks]",
    }
    notebook = filled_in("en", RIGHT | answers)
    for cell in notebook.cells:
        cell.source = cell.source.replace("list(range(num_blocks))", "deque(range(num_blocks))")
        cell.source = cell.source.replace("self.free_blocks.sort()", "pass").replace(".pop(0)", ".popleft()")
        cell.source = cell.source.replace(
            "import subprocess", "import numpy as np\nfrom collections import deque\nimport subprocess"
        )
    lesson = define(notebook).lesson
    assert [lesson.public_check(question).status for question in lesson.QUESTIONS] == ["passed"] * 5


@pytest.mark.parametrize(
    "answer",
    ["blocks = self.physical_kv_cache[req.block_table].cpu()",
     "blocks = torch.tensor(self.physical_kv_cache[req.block_table].tolist())",
     "blocks = torch.zeros(2, 2, 3); blocks[:] = self.physical_kv_cache[req.block_table]"],
)  # fmt: skip
def test_a_copy_off_the_device_is_not_ready_and_no_open_todo(
    define: Callable[[NotebookNode], Student], answer: str
) -> None:
    outcome = define(answered("blocks", answer)).lesson.readiness()
    assert outcome.status == "failed"
    assert "not ready: numbers were copied off the device" in outcome.words
    assert "In line 11: blocks = " in outcome.words


def test_export_names_a_check_that_fails_and_a_read_that_is_not_ready(
    define: Callable[[NotebookNode], Student], capsys: pytest.CaptureFixture[str]
) -> None:
    answers = RIGHT | {"# needed_blocks = ???": WRONG["# needed_blocks = ???"],
                       "# blocks = ???": "blocks = self.physical_kv_cache[req.block_table].cpu()"}  # fmt: skip
    define(filled_in("en", answers)).lesson.grader.export()
    said = capsys.readouterr().out
    assert "3 of 5 public checks pass" in said
    assert "TODO 2 fails its public check" in said
    assert "GPU fails" in said


def test_a_cell_that_is_no_python_is_named_with_its_line(define: Callable[[NotebookNode], Student]) -> None:
    student = define(starter("en"))
    with pytest.raises(SyntaxError):
        student.run("@add_to_class(KVCacheManager)\ndef allocate_for_prefill(self, req):\n    needed_blocks = ???\n")
    assert "not Python yet. Line 3: needed_blocks = ???" in student.shown("q2")


def test_a_class_cell_that_ran_again_asks_for_the_todo_cells(
    define: Callable[[NotebookNode], Student], capsys: pytest.CaptureFixture[str]
) -> None:
    student = define(filled_in("en", RIGHT))
    student.run(next(cell for cell in student.names["In"] if "class KVCacheManager" in cell))
    assert "Run its cell (again)" in student.shown("q2")
    student.lesson.play(2, 2, "A prefill 2")
    assert "run the cell of TODO 2 (again)" in capsys.readouterr().out


def test_plain_otter_agrees_with_the_pictures(define: Callable[[NotebookNode], Student]) -> None:
    import otter

    for answers, passes in ((RIGHT, True), (WRONG, False)):
        lesson = define(filled_in("en", answers)).lesson
        plain = otter.Notebook.check(
            otter.Notebook(tests_dir=lesson.grader._tests_dir), "q2", {"public_check": lesson.public_check}
        )
        assert plain.passed_all is passes


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        (
            ["A prefll 6"],
            "there is no verb 'prefll'; there are prefill, decode, release, read, hold, find. Did you mean",
        ),
        (["A decode"], "there is no A yet"),
        (["A prefill 6", "A prefill 6"], "A is there already"),
        (["a prefill 6"], "called by one capital letter"),
        (["A prefill six"], "is written like"),
        (["A prefill"], "there is no A yet"),
        (["A hold 6 3"], "as many different free blocks as they fill"),
        (["A hold 4 9"], "as many different free blocks as they fill"),
        (["prefill"], "is no step"),
        ([7], "is no step"),
        (["A prefill 6", "A decode 0"], "how often"),
        ([], "Add steps"),
    ],
)
def test_play_refuses_what_it_cannot_read_in_one_sentence(
    define: Callable[[NotebookNode], Student], capsys: pytest.CaptureFixture[str], steps: list[Any], told: str
) -> None:
    define(filled_in("en", RIGHT)).lesson.play(5, 4, *steps)
    said = capsys.readouterr().out
    assert told in said
    assert said.count("\n") == 1


def test_play_carries_out_a_decode_several_times(
    define: Callable[[NotebookNode], Student], capsys: pytest.CaptureFixture[str]
) -> None:
    define(filled_in("en", RIGHT)).lesson.play(5, 4, "A prefill 4", "A decode 3")
    assert "A: 7 tokens" in capsys.readouterr().out


def test_the_picture_tells_used_wasted_free_shared_and_lost_slots_apart_without_colour(
    define: Callable[[NotebookNode], Student],
) -> None:
    lesson = define(starter("en")).lesson
    state = lesson.Snapshot(5, 4, (2,), {"A": ((0, 1), 6), "B": ((3, 0), 9)}, frozenset("AB"))
    assert [lesson.slots(state, block)[0] for block in range(5)] == ["!!!!", "AA..", "    ", "BBBB", "????"]
    assert lesson.broken_invariants(state) == [
        "A block is held twice.",
        "A block is lost: neither held nor free.",
        "B has tokens without a slot.",
    ]
    assert "1 token of B without a slot" in lesson.frame("now", state).text


def test_a_token_is_followed_through_table_and_pool(define: Callable[[NotebookNode], Student]) -> None:
    lesson = define(starter("en")).lesson
    state = lesson.Snapshot(5, 4, (2,), {"A": ((0, 1, 3), 9)}, frozenset("A"))
    told = "\n".join(lesson.way(state, "A", 8))
    assert [
        part for part in ("8 // 4 = 2", "8 % 4 = 0", "block_table[2] = 3", "3 * 4 + 0 = 12") if part not in told
    ] == []
    assert "has no token 9" in lesson.diagram(state, "A", 9).text


def test_a_prediction_is_answered_by_the_students_own_code_once_it_is_right(
    define: Callable[[NotebookNode], Student], capsys: pytest.CaptureFixture[str]
) -> None:
    for answers, said in ((WRONG, "Kept."), (RIGHT, "≠ bytes_per_token: your prediction 60, your code 120")):
        define(filled_in("en", answers)).lesson.guess("q1", bytes_per_token=60, bytes_per_block_of_4=480)
        assert said in capsys.readouterr().out


def test_every_prediction_of_the_notebook_has_an_answer(define: Callable[[NotebookNode], Student]) -> None:
    lesson = define(filled_in("en", RIGHT)).lesson
    asked = re.findall(r'(?m)^guess\("(.+?)", (.*)\)$', "\n".join(cell.source for cell in starter("en").cells))
    assert {question: set(re.findall(r"(\w+)=", names)) for question, names in asked} == {
        question: set(answers) for question, answers in lesson.ANSWERS.items()
    }
    answers = {name: answer() for known in lesson.ANSWERS.values() for name, answer in known.items()}
    assert answers["blocks_for_1_4_5_8_tokens"] == [1, 1, 2, 2]
    assert answers["decodes_that_take_a_block"] == [1, 5]
    assert answers["rows"] == [12, 13, 14, 3, 4, 5, 6]


@pytest.mark.parametrize("length", ["req.seq_len + 1.0", "None"])
def test_a_length_that_is_no_integer_fails_without_a_traceback(
    define: Callable[[NotebookNode], Student], length: str
) -> None:
    text = define(answered("new_seq_len", f"new_seq_len = {length}")).shown("q3")
    assert text.startswith("✗ q3")
    assert "not an integer" in text


def test_the_script_form_shows_what_the_notebook_shows(tmp_path: Path) -> None:
    shutil.copy(LESSON, tmp_path)
    shutil.copy(ROOT / "assignment/paged_attention.en.py", tmp_path)
    done = subprocess.run(
        [sys.executable, "paged_attention.en.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "○ q2: not attempted" in done.stdout
    assert "Submit paged_attention.en.py itself." in done.stdout


def solved_master() -> NotebookNode:
    facts = notebooks.facts_of(ROOT)
    solved = notebooks.build(ROOT / notebooks.MASTER, "en", facts, solved=True)["paged_attention.en.solution.ipynb"]
    return nbformat.reads(solved.decode(), as_version=4)


def test_the_stretch_exercises_can_be_solved_and_wait_where_they_are_open(
    define: Callable[[NotebookNode], Student], capsys: pytest.CaptureFixture[str]
) -> None:
    for notebook, mark in ((solved_master(), "✓"), (filled_in("en", RIGHT), "○")):
        define(notebook).lesson.stretch()
        assert re.findall(r"(?m)^(.) Stretch \d", capsys.readouterr().out) == [mark, mark]


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("running[-1 - len(victims)]", "running[len(victims)]", "the two newest have to go"),
        ("if room < needed:", "if False:", "OOM, and nobody released"),
        ("        running.remove(victim)\n", "", "not running any more"),
        ("parent.block_table[:full]", "parent.block_table[:]", "one shared, one the child's own"),
        ("child.block_table.append(own)", "child.block_table.append(block)", "has to be the child's own"),
        ("len(self.free_blocks) < len(started)", "False", "a fork is an OOM"),
        ("if self.users[block] == 0", "", "while two still use it"),
        ("            self.physical_kv_cache[own] = self.physical_kv_cache[block]\n", "", "tokens have to be copied"),
    ],
)
def test_a_wrong_stretch_exercise_is_told_what_is_wrong(
    define: Callable[[NotebookNode], Student], capsys: pytest.CaptureFixture[str], right: str, wrong: str, told: str
) -> None:
    notebook = solved_master()
    assert sum(right in cell.source for cell in notebook.cells) == 1
    for cell in notebook.cells:
        cell.source = cell.source.replace(right, wrong)
    define(notebook).lesson.stretch()
    assert told in capsys.readouterr().out


def test_the_server_shows_that_blocks_admit_more_requests_than_reservations(
    define: Callable[[NotebookNode], Student],
) -> None:
    lesson = define(filled_in("en", RIGHT)).lesson
    fine, coarse = lesson.day(16), lesson.day(256)
    assert fine.admitted > 3 * coarse.admitted
    assert fine.utilization > 0.85 > coarse.utilization
    assert coarse.preempted == 0
    assert lesson.plot([fine, coarse]).count("<svg") == 2


STORIES = [
    (4, 3, [("A prefill 7", (7, 3)), ("A prefill", "ValueError")]),
    (4, 3, [("A prefill 2", (2, 1)), ("A decode", (3, 1))]),
    (4, 3, [("A prefill 6", (6, 2)), ("A decode", (7, 3)), ("A decode", (8, 3))]),
    (2, 3, [("A prefill 6", (6, 2)), ("A decode", "OOM"), ("A release", (6, 0)), ("A release", "ValueError")]),
    (2, 3, [("A prefill 9", "OOM"), ("B prefill 4", (4, 2))]),
    (3, 1, [("A prefill 1", (1, 1)), ("A decode", (2, 2))]),
    (2, 3, [("A hold 3 0", (3, 1)), ("A release", (3, 0)), ("B prefill 6", (6, 2))]),
]


def test_short_examples_catch_every_wrong_allocator_and_the_notebooks_two_catch_two(
    define: Callable[[NotebookNode], Student], capsys: pytest.CaptureFixture[str]
) -> None:
    lesson = define(starter("en")).lesson
    lesson.examples(*STORIES)
    assert "Valid: 7 of 7 stories. Caught: 11 of 11" in capsys.readouterr().out
    given = next(cell.source for cell in starter("en").cells if cell.source.startswith("examples("))
    exec(given, {"examples": lesson.examples})
    assert "Valid: 2 of 2 stories. Caught: 2 of 11" in capsys.readouterr().out


@pytest.mark.parametrize("question", ["q2", "q3"])
def test_the_right_allocators_of_the_examples_agree_with_the_public_cases(
    define: Callable[[NotebookNode], Student], question: str
) -> None:
    lesson = define(starter("en")).lesson
    found = [
        lesson.first_difference(make(*case[:2]), case)
        for make in lesson.right_boxes()
        for case in lesson.CASES[question]
    ]
    assert set(found) == {""}


@pytest.mark.parametrize(
    ("story", "told"),
    [
        ((4, 3, [("A prefill 7", (7, 2))]), "not what a right allocator does: A prefill 7 → 7 tokens in 3 blocks"),
        ((4, 3, [("A prefll 7", (7, 3))]), "no verb 'prefll'"),
        ((4, 3, [("A read", [0])]), "examples may hold, prefill, decode and release"),
        ((4,), "cannot be read"),
        (7, "cannot be read"),
    ],
)
def test_an_example_that_is_wrong_or_unreadable_is_named(
    define: Callable[[NotebookNode], Student], capsys: pytest.CaptureFixture[str], story: Any, told: str
) -> None:
    define(starter("en")).lesson.examples(story)
    said = capsys.readouterr().out
    assert told in said
    assert "Valid: 0 of 1" in said
