"""One submission has one budget, whatever it does with it; when it is used up the rest says so and the next starts."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest
from sandbox_samples import CASE, LEDGER, RIGHT, SHORT

from autograder.contract.operations import Operation
from autograder.grading.one.loaded_submission import LoadedSubmission
from autograder.sandbox.client import Died, ForkServer, request_for
from autograder.sandbox.limits import MIB, MOST_NOTES

POOR = replace(SHORT, submission_s=1.0, submission_wall_s=30.0, submission_bytes=2 * MIB, wall_s=10)
SLOW_LOADS = {
    "work": "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass",
    "sleep": "import select\nselect.select([], [], [], 0.1)",
    "naps": "import select\nfor _ in range(15): select.select([], [], [], 0.005); sum(range(1000))",
    "sleep behind a first thread that ended": (
        "import ctypes, select, threading\nthreading.Thread(target=select.select, args=([], [], [], 60)).start()\n"
        "ctypes.CDLL(None).syscall(60, 0)"
    ),
    "calls that wait in the kernel": (
        "import ctypes, time\nend = time.monotonic() + 0.2\n"
        "while time.monotonic() < end: ctypes.CDLL(None).syscall(324, 1, 0)"
    ),
    "a cell's number without end": (
        "import os, select, struct\nfor number in range(2, 99999):\n    body = b'{\"cell\": %d}' % number\n"
        "    os.write(4, struct.pack('!4sII', b'PA01', len(body), 0) + body)\n    select.select([], [], [], 0.02)"
    ),
}
WORKS = "    end = time.process_time() + 0.2\n    while time.process_time() < end: pass\n    return 7"
BUSY = "import os, sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\nprint('busy', flush=True)\nwhile True: pass"
DIES = "import os\ndef estimate_kv_cache_bytes(*_): os._exit(1)"
TALKS = "def estimate_kv_cache_bytes(*_): return ['x' * 190] * 4000"


@pytest.fixture(scope="module")
def poor() -> ForkServer:
    with ForkServer(POOR) as server:
        yield server


def spend(server: ForkServer, cells: Sequence[str], most: int = 60) -> set[str]:
    """Ask until the budget ends it; return how the last case ended, and what became of cells."""
    submission, code = LoadedSubmission(server, cells), ""
    for _ in range(most):
        try:
            submission.run([LEDGER], alone=True)
            code = "answered"
        except Died as died:
            code = died.finding.code
        if code == "run.budget":
            break
    submission.close()
    return {code, *(note.code for note in submission.notes)}


@pytest.mark.parametrize("kind", SLOW_LOADS)
def test_no_way_of_loading_slowly_outlasts_the_budget(kind: str, poor: ForkServer) -> None:
    ends = spend(poor, [SLOW_LOADS[kind], DIES])
    assert ends & {"run.budget", "cell.stopped"}, "neither ended nor left out"


def test_waiting_for_a_processor_that_others_hold_counts_nowhere() -> None:
    """The work takes a third of the limit of wall-clock seconds, and several times that limit until it gets done."""
    with ForkServer(replace(SHORT, wall_s=0.6)) as server, server.spawn() as child:
        child.load(["import time\ndef estimate_kv_cache_bytes(*_):\n" + WORKS])
        here = min(os.sched_getaffinity(0))
        os.sched_setaffinity(child.pid, {here})
        others = [subprocess.Popen([sys.executable, "-Ic", BUSY, str(here)], stdout=subprocess.PIPE) for _ in range(6)]
        try:
            for other in others:
                assert other.stdout is not None
                assert other.stdout.readline() == b"busy\n"
            started = time.monotonic()
            assert child.run([LEDGER])[0]["returned"] == 7
            assert time.monotonic() - started > 0.6
        finally:
            for other in others:
                other.kill()
                other.communicate()


def test_a_child_that_never_reads_what_it_is_asked_is_ended_all_the_same(poor: ForkServer) -> None:
    """More is asked than a pipe holds: what is still to be written is no excuse for the one who does not read."""
    large = Operation("fill", ("m", 1), payload=bytes(300_000))
    poor.begin_submission()
    with poor.spawn() as child:
        child.load(["def estimate_kv_cache_bytes(*_):\n    while True: pass"])
        with pytest.raises(Died) as died:
            list(child.answers([request_for([[LEDGER]]), request_for([[large]])]))
    assert died.value.finding.code == "run.cpu"


def test_replies_just_below_a_limit_are_counted_together() -> None:
    with ForkServer(replace(POOR, submission_s=60.0)) as server:  # so that no time is what ends it
        assert "run.budget" in spend(server, [TALKS], most=8)


def test_the_graders_own_work_is_charged_too(poor: ForkServer) -> None:
    submission = LoadedSubmission(poor, [RIGHT])
    submission.run(CASE, alone=True)
    end = time.thread_time() + POOR.submission_s
    while time.thread_time() < end:
        pass
    with pytest.raises(Died) as died:
        submission.run(CASE, alone=False)
    assert died.value.finding.code == "run.budget"


def test_the_next_submission_has_a_budget_of_its_own(poor: ForkServer) -> None:
    assert spend(poor, [SLOW_LOADS["work"], DIES]) & {"run.budget", "cell.stopped"}
    after = LoadedSubmission(poor, [RIGHT])
    assert len(after.run(CASE, alone=True)) == len(CASE)
    after.close()


def test_a_report_has_room_for_some_notes_on_cells_and_counts_the_rest(poor: ForkServer) -> None:
    submission = LoadedSubmission(poor, ["1 / 0"] * (MOST_NOTES + 60) + [RIGHT])
    submission.run(CASE, alone=True)
    submission.close()
    codes = [note.code for note in submission.notes]
    assert codes == ["cell.failed"] * MOST_NOTES + ["cell.more"]
    assert submission.notes[-1].details["count"] == 60
