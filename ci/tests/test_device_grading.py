"""Results of the GPU part: readiness without points, points where they count, faults of the machine never charged."""

import subprocess
import sys
from dataclasses import replace

import pytest
from click.testing import CliRunner
from device_samples import JOIN, MASTER, RETURN, patched, stand_in

from autograder.cli import main
from autograder.config import Config
from autograder.grading.one.grade_on_device import grade_on_device
from autograder.grading.one.hidden_test_files import hidden_test_files
from autograder.intake.submission import Submission
from autograder.reporting.gradebook import grades_csv, student_files
from autograder.reporting.merge import merge
from autograder.reporting.results import SubmissionResult, TestResult
from autograder.reporting.words import Words

WORDS = Words("en")
RIGHT = patched()
COPIES = patched((RETURN, RETURN + ".cpu()"))


def graded(cells: tuple[str, ...], config: Config | None = None) -> SubmissionResult:
    submission = Submission("ada", "ada.py", "0" * 64, cells, MASTER.encode())
    return grade_on_device(stand_in(), submission, config or Config(), WORDS).result


def on_cpu(like: SubmissionResult) -> SubmissionResult:
    tests = (TestResult("q1.per_token", "q1", "passed", 80, 80),)
    return replace(like, device="cpu", tests=tests, pending_points=20)


@pytest.fixture(scope="module")
def ready() -> SubmissionResult:
    return graded(RIGHT)


@pytest.fixture(scope="module")
def counted() -> SubmissionResult:
    return graded(COPIES, Config(readiness_counts=True))


def test_each_gpu_question_is_worth_five_points() -> None:
    [file] = hidden_test_files("gpu")
    totals = {q: sum(int(c.points) for c in file.test_cases if c.name.startswith(q)) for q in ("g1", "g2", "g3", "g4")}
    assert totals == {"g1": 5, "g2": 5, "g3": 5, "g4": 5}
    assert all(case.hidden for case in file.test_cases)


def test_readiness_gives_no_points_and_leaves_twenty_pending(ready: SubmissionResult) -> None:
    assert (ready.device, ready.points, ready.max_points, ready.pending_points) == ("fakegpu", 0, 0, 20)
    assert {question.status for question in ready.questions.values()} == {"passed"}
    assert list(ready.questions) == ["g1", "g2", "g3", "g4"]


def test_readiness_is_not_shown_as_zero_points(ready: SubmissionResult) -> None:
    report = student_files(ready, WORDS, "hint")["report.md"].decode()
    assert "GPU readiness: 13 of 13 checks passed" in report
    assert "0 of 0" not in report
    assert grades_csv([ready]).decode().splitlines()[1] == "ada,graded,,,,,,,,,,0,0,20,0,,,,,,"


def test_points_are_earned_on_the_stand_in_only_where_the_course_says_so(counted: SubmissionResult) -> None:
    assert (counted.points, counted.max_points, counted.pending_points) == (15, 20, 0)
    assert counted.questions["g4"].points == 0
    assert {test.finding.code for test in counted.tests if test.finding} == {"device.copy"}


def test_merged_readiness_leaves_the_cpu_points_and_what_is_pending(ready: SubmissionResult) -> None:
    merged = merge(on_cpu(ready), ready)
    assert (merged.points, merged.max_points, merged.pending_points) == (80, 80, 20)


def test_a_result_that_counts_replaces_readiness_in_any_order(
    ready: SubmissionResult, counted: SubmissionResult
) -> None:
    cuda = replace(counted, device="cuda", gradescope={})
    merged = merge(merge(on_cpu(ready), ready), cuda)
    assert (merged.points, merged.max_points, merged.pending_points) == (95, 100, 0)
    assert merged == merge(merge(on_cpu(ready), cuda), ready)


def test_what_the_machine_kept_from_being_judged_stays_pending() -> None:
    ends_like_a_broken_machine = patched((JOIN, "import os\nos._exit(88)"))
    result = graded(ends_like_a_broken_machine, Config(readiness_counts=True))
    assert (result.points, result.max_points, result.pending_points) == (15, 15, 5)
    assert result.notes[-1].code == "run.machine"


@pytest.mark.parametrize("command", [["grade", __file__], ["doctor"]], ids=lambda command: command[0])
def test_without_cuda_one_sentence_says_what_to_do(command: list[str], tmp_path: object) -> None:
    out = ["-o", f"{tmp_path}/out"] if command[0] == "grade" else []
    result = CliRunner().invoke(main, [*command, *out, "--device", "cuda"])
    if result.exit_code == 0:
        pytest.skip("this machine has CUDA")
    assert result.exit_code == 2
    [line] = result.output.splitlines()
    assert line.startswith("autograder: ")
    assert "CUDA" in line


def test_grading_on_the_cpu_loads_nothing_of_the_device_part() -> None:
    program = (
        "import sys, autograder.grading.many.batch, autograder.grading.one.judge;"
        "print([m for m in sys.modules if 'device' in m.rpartition('autograder.')[2] and m.startswith('autograder.')"
        " or m in ('torch', 'autograder.sandbox.trusted.gpu_server')])"
    )
    assert subprocess.check_output([sys.executable, "-c", program], text=True).strip() == "[]"


def test_attention_over_a_scattered_and_a_whole_cache_is_the_same_and_never_scored() -> None:
    submission = Submission("ada", "ada.py", "0" * 64, RIGHT, MASTER.encode())
    graded = grade_on_device(stand_in(), submission, Config(), WORDS)
    assert graded.timing["attention_equal"] == 1
    assert graded.result.points == 0
