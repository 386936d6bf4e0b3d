"""The public checks: whoever fails one is told what went wrong, where, and how to see it."""

import pytest
from lesson_student import RIGHT, WRONG, Define, answered, filled_in, starter


@pytest.mark.parametrize("number", "1234")
def test_each_todo_is_checked_without_the_others(define: Define, number: str) -> None:
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
    define: Define, question: str, told: list[str]
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
        ("q2", "needed_blocks", "needed_blocks = req.seq_len + 1", "Look at line 7: needed_blocks"),
        ("q2", "allocated_blocks", "allocated_blocks = self.free_blocks[1:1]", "Look at line 8: allocated_blocks"),
        ("q2", "allocated_blocks", "allocated_blocks = self.free_blocks[:needed_blocks]; del self.free_blocks[:1]",
         "only choose them, the given lines below take them out"),
        ("q2", "needed_blocks", "needed_blocks = 0\n    while needed_blocks < 1: pass", "stopped: the call was still"),
        ("q3", "is_new_block_needed", "is_new_block_needed = False; self.allocate_for_prefill(req)",
         "line 8: is_new_block_needed = False; self.allocate_for_prefill(req) → line 5: raise ValueError"),
        ("q4", "blocks", "blocks = self.get_physical_cache(req)", "calls itself, again and again.\nIn line 11: blocks"),
        ("q4", "blocks", "blocks = self.physical_kv_cache[:len(req.block_table)]",
         "lie in blocks [0]. The table says [3]"),
        ("q4", "blocks", "req.block_table.sort(); blocks = self.physical_kv_cache[req.block_table]",
         "reading changes nothing.\nLook at line 11: req.block_table.sort()"),
        ("q4", "cat_blocks", "cat_blocks = blocks.flatten(0, 1).T", "Rows and columns are swapped"),
        ("q4", "cat_blocks", "return", "Nothing was returned"),
        ("q4", "cat_blocks", "cat_blocks = torch.stack(list(blocks))", "Got: shape [1, 2, 5]; wanted [2, 5]"),
        ("q4", "cat_blocks", "cat_blocks = torch.cat(list(blocks), dim=1)", "Got: shape [1, 15]; wanted [3, 5]"),
        ("q4", "cat_blocks", "cat_blocks = blocks.flatten(0, 1).to(torch.float32)", "dtype torch.float32; the pool"),
        ("q4", "blocks", "blocks = self.physical_kv_cache[req.block_table]; self.physical_kv_cache += 1",
         "the read has changed the pool"),
    ],
)  # fmt: skip
def test_a_message_says_what_this_mistake_is(define: Define, question: str, blank: str, answer: str, told: str) -> None:
    assert told in define(answered(blank, answer)).shown(question)


def test_a_failed_check_shows_the_students_own_values(define: Define) -> None:
    student = define(filled_in("en", WRONG))
    assert "Your values: needed_blocks = 4; allocated_blocks = [1, 2, 3, 4]" in student.shown("q2")
    assert "Your values: new_seq_len = 2; is_new_block_needed = False" in student.shown("q3")
    assert "Your values: blocks = tensor of shape [3, 1, 5]; cat_blocks = tensor of shape [3, 5]" in student.shown("q4")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("@add_to_class(KVCacheManager)\ndef allocate_for_prefill", "def allocate_for_prefill",
         "the line @add_to_class(KVCacheManager) above it is missing"),
        ("def allocate_for_prefill(self: KVCacheManager", "def prefill(self: KVCacheManager", "its name has to stay"),
        ("def allocate_for_prefill(self: KVCacheManager, ", "def allocate_for_prefill(", "first argument is `self`"),
        ('raise RuntimeError("OOM")\n    for', "pass\n    for", "an OOM has to be raised.\nLook at line 9: if len("),
        ("< needed_blocks", "<= needed_blocks", "that is enough.\nLook at line 9: if len("),
    ],
)  # fmt: skip
def test_a_given_line_that_was_changed_is_pointed_at(define: Define, old: str, new: str, told: str) -> None:
    notebook = filled_in("en", RIGHT)
    assert sum(old in cell.source for cell in notebook.cells) == 1
    cells = [cell for cell in notebook.cells if old in cell.source]
    student = define(notebook)
    student.names["KVCacheManager"] = type("KVCacheManager", (student.names["KVCacheManager"],), {})
    del student.names["allocate_for_prefill"]
    delattr(student.names["KVCacheManager"].__base__, "allocate_for_prefill")
    student.run(cells[0].source.replace(old, new))
    assert told in student.shown("q2")


def test_a_refused_call_that_changes_something_is_noticed(define: Define) -> None:
    restless = "if len(self.free_blocks) < needed_blocks: self.free_blocks.reverse()"
    needed = RIGHT["# needed_blocks = ???"]
    assert "the free list changed" in define(answered("needed_blocks", f"{needed}\n    {restless}")).shown("q2")


def test_a_block_put_in_front_of_the_table_is_noticed(define: Define) -> None:
    notebook = filled_in("en", RIGHT)
    for cell in notebook.cells:
        cell.source = cell.source.replace("req.block_table.append(", "req.block_table.insert(0, ")
    assert "a new block goes to the end" in define(notebook).shown("q3")


def test_a_deque_and_numpy_integers_pass_the_public_checks(define: Define) -> None:
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


def test_a_cell_that_is_no_python_is_named_with_its_line(define: Define) -> None:
    student = define(starter("en"))
    with pytest.raises(SyntaxError):
        student.run("@add_to_class(KVCacheManager)\ndef allocate_for_prefill(self, req):\n    needed_blocks = ???\n")
    assert "not Python yet. Line 3: needed_blocks = ???" in student.shown("q2")


def test_a_class_cell_that_ran_again_asks_for_the_todo_cells(
    define: Define, capsys: pytest.CaptureFixture[str]
) -> None:
    student = define(filled_in("en", RIGHT))
    student.run(next(cell for cell in student.names["In"] if "class KVCacheManager" in cell))
    assert "Run its cell (again)" in student.shown("q2")
    student.lesson.play(2, 2, "A prefill 2")
    assert "run the cell of TODO 2 (again)" in capsys.readouterr().out
    student.lesson.when_ready(lambda: student.names["KVCacheManager"](2, 2, 1).allocate_for_decode(None))
    assert "run the cell of TODO 3 (again)" in capsys.readouterr().out


def test_a_read_that_takes_blocks_out_of_the_table_is_shown_the_line_that_does(define: Define) -> None:
    taken = (
        "blocks = []\n    while req.block_table:\n        blocks.append(self.physical_kv_cache[req.block_table.pop(0)])"
    )
    notebook = filled_in(
        "en", RIGHT | {"# blocks = ???": taken, "# cat_blocks = ???": "cat_blocks = torch.cat(blocks)"}
    )
    shown = define(notebook).shown("q4")
    assert "Got: pool rows [6, 7], but the state is wrong" in shown
    assert "blocks.append(self.physical_kv_cache[req.block_table.pop(0)])" in shown.partition("Look at line")[2]


def test_the_line_of_a_list_comprehension_is_named_once(define: Define) -> None:
    student = define(answered("allocated_blocks", "allocated_blocks = [self.free[i] for i in range(needed_blocks)]"))
    assert student.shown("q2").count("self.free[i]") == 1


@pytest.mark.parametrize(
    ("name", "told"), [("list", "run `del list`"), ("Request", "Run the cell"), ("KVCacheManager", "Run the cell")]
)
def test_a_name_that_a_cell_has_overwritten_is_named_with_what_to_do(
    define: Define, capsys: pytest.CaptureFixture[str], name: str, told: str
) -> None:
    student = define(filled_in("en", RIGHT))
    student.names[name] = student.names["KVCacheManager"](5, 4, 1)
    student.lesson.play(5, 4, "A prefill 6")
    student.lesson.when_ready(lambda: student.lesson.serve((16,)))
    said = capsys.readouterr().out.splitlines()
    assert [told in line for line in (*said, student.shown("q2"), str(student.lesson.readiness()))] == [True] * 4


@pytest.mark.parametrize("length", ["req.seq_len + 1.0", "None"])
def test_a_length_that_is_no_integer_fails_without_a_traceback(define: Define, length: str) -> None:
    text = define(answered("new_seq_len", f"new_seq_len = {length}")).shown("q3")
    assert text.startswith("✗ q3")
    assert "not an integer" in text
