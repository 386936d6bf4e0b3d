"""Time limits of loading: reached once they count for nothing, reached twice they cost what is at fault."""

from collections.abc import Iterator

import pytest
from sandbox_samples import LEDGER, SHORT

from autograder.grading.one.loaded_submission import ROOM, LoadedSubmission
from autograder.sandbox.client import ForkServer

BUSY = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass"
LOOP, EXIT, SLEEP = "while True: pass", "import os; os._exit(3)", "import select; select.select([], [], [], 60)"
ANSWER = "def estimate_kv_cache_bytes(*a): return 5"


@pytest.fixture(scope="module")
def server() -> Iterator[ForkServer]:
    with ForkServer(SHORT) as server:
        yield server


def graded(server: ForkServer, *cells: str) -> tuple[object, list[tuple[str, object]]]:
    """Return what the last definition of the ledger gives, and the notes, as a fresh child has them, too."""
    submission = LoadedSubmission(server, cells)
    try:
        first = submission.run([LEDGER], alone=False)[0].get("returned")
        notes = [(note.code, note.details["cell"]) for note in submission.notes]
        assert submission.run([LEDGER], alone=True)[0].get("returned") == first
        assert [(note.code, note.details["cell"]) for note in submission.notes] == notes
        return first, notes
    finally:
        submission.close()


def test_cells_that_need_more_than_the_usual_time_but_not_twice_as_much_all_count(server: ForkServer) -> None:
    needed = SHORT.load_cpu_s * (1 + ROOM) / 2
    assert graded(server, BUSY.format(needed), ANSWER) == (5, [])


@pytest.mark.parametrize("fault", [LOOP, EXIT, SLEEP])
def test_a_cell_that_never_ends_is_stopped_and_those_below_it_run(server: ForkServer, fault: str) -> None:
    assert graded(server, fault, ANSWER) == (5, [("cell.stopped", 1)])


def test_many_slow_cells_below_the_answer_cost_nothing(server: ForkServer) -> None:
    slow = BUSY.format(SHORT.load_cpu_s * 0.7)
    returned, notes = graded(server, ANSWER, *[slow] * 8)
    assert returned == 5
    assert [code for code, _ in notes] == ["cell.stopped", "cell.skipped"]


@pytest.mark.parametrize("fault", [LOOP, EXIT])
def test_from_the_second_fault_on_the_definitions_alone_are_run(server: ForkServer, fault: str) -> None:
    answer = "def estimate_kv_cache_bytes(*a): return 6\nestimate_kv_cache_bytes = (lambda f: None)(0)"
    returned, notes = graded(server, ANSWER, *[fault] * 5, answer)
    assert returned == 6
    assert notes == [("cell.stopped", 2), ("cell.skipped", 3)]


@pytest.mark.parametrize("fault", [LOOP, EXIT, SLEEP])
@pytest.mark.parametrize(
    "cell",
    [
        "import math\nANSWER = 5\n{answer}\n{fault}",
        "{fault}\n{answer}",
        "%%time\n{answer}\n{fault}",
        "if True:\n    print()\n    {answer}\nelse:\n    sum()\n{fault}",
        "try:\n    import nothing\nexcept ImportError:\n    {answer}\n{fault}",
        "x = 1\nfrom __future__ import annotations\n1/0\n{answer}\n{fault}",
        "!ls\nimport math, nothing.at.all\n{answer}\n{fault}",
    ],
)
def test_a_slow_experiment_does_not_cost_what_its_cell_defines(server: ForkServer, fault: str, cell: str) -> None:
    returned, notes = graded(server, cell.format(fault=fault, answer=ANSWER))
    assert returned == 5
    assert ("cell.stopped", 1) in notes


@pytest.mark.parametrize("fault", [LOOP, EXIT, SLEEP])
def test_a_definition_that_never_ends_is_left_out(server: ForkServer, fault: str) -> None:
    trap = f"class A:\n    def f(self): pass\n    {fault}"
    assert graded(server, trap, ANSWER) == (5, [("cell.stopped", 1)])


def test_where_everything_takes_its_time_everything_is_asked_for_definitions(server: ForkServer) -> None:
    slow = BUSY.format(SHORT.load_cpu_s * ROOM / 20)
    returned, notes = graded(server, *[slow] * 60, ANSWER)
    assert returned == 5
    assert {code for code, _ in notes} == {"cell.stopped", "cell.skipped"}


def test_a_thread_that_waits_beside_the_notebook_costs_it_nothing(server: ForkServer) -> None:
    beat = "import threading, time\ndef beat():\n    while True: time.sleep(1)\nthreading.Thread(target=beat).start()"
    assert graded(server, beat, BUSY.format(SHORT.load_cpu_s * 0.5), ANSWER) == (5, [])


def test_deterministic_algorithms_cost_no_time(server: ForkServer) -> None:
    cell = "import torch\ntorch.use_deterministic_algorithms(True)\nassert torch.are_deterministic_algorithms_enabled()"
    compiled = (
        "@torch.compile\ndef f(x): return x\n@torch.compile(dynamic=True)\ndef g(x): return x\nassert f(g(1)) == 1"
    )
    submission = LoadedSubmission(server, [cell, compiled, ANSWER])
    submission.run([LEDGER], alone=False)
    submission.close()
    assert submission.notes == ()
    assert submission.cpu_s < SHORT.load_cpu_s
