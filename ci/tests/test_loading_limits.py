"""Time limits of loading: reached once they count for nothing, reached twice they cost what is at fault."""

from collections.abc import Iterator

import pytest
from sandbox_samples import LEDGER, SHORT

from autograder.grading.one.loaded_submission import MAX_LEFT_OUT, ROOM, LoadedSubmission
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
def test_a_cell_that_never_ends_is_left_out_and_those_below_it_run(server: ForkServer, fault: str) -> None:
    assert graded(server, fault, ANSWER) == (5, [("cell.stopped", 1)])


def test_many_slow_cells_below_the_answer_cost_nothing(server: ForkServer) -> None:
    slow = BUSY.format(SHORT.load_cpu_s * 0.7)
    returned, notes = graded(server, ANSWER, *[slow] * 8)
    assert returned == 5
    assert [code for code, _ in notes] == ["cell.stopped"] * MAX_LEFT_OUT + ["cell.skipped"]


@pytest.mark.parametrize("fault", [LOOP, EXIT])
def test_from_the_second_fault_on_nothing_runs_and_what_is_defined_stays(server: ForkServer, fault: str) -> None:
    returned, notes = graded(server, ANSWER, *[fault] * 5, "def estimate_kv_cache_bytes(*a): return 6")
    assert returned == 5
    assert notes == [("cell.stopped", 2), ("cell.skipped", 3)]


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
