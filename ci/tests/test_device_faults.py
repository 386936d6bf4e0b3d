"""A machine's fault is the machine's: errors in our own steps and late ones end in pending points."""

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import pytest
from classes import solution
from device_samples import JOIN, MASTER, in_this_process, patched, stand_in

from autograder.config import Config
from autograder.contract.device_scenarios import device_scenarios
from autograder.grading.many import canary
from autograder.grading.one.grade_on_device import grade_on_device
from autograder.intake.submission import Submission
from autograder.reporting.schema import row
from autograder.reporting.words import Words
from autograder.sandbox.inside import arrange, device_executor
from autograder.sandbox.inside.device_executor import DeviceExecutor
from autograder.sandbox.limits import EXIT_DEVICE, EXIT_MACHINE

ECC = RuntimeError("CUDA error: uncorrectable ECC error encountered")
LATE = RuntimeError("CUDA error: device-side assert triggered")


class Ended(BaseException):
    """Stands for the end of the child's process; the executor catches it, as it catches everything."""


@pytest.fixture(scope="module")
def on_stand_in() -> Callable:
    return in_this_process()


@pytest.fixture
def ends(monkeypatch) -> list[int]:
    statuses: list[int] = []

    def end(status: int) -> None:
        statuses.append(status)
        raise Ended

    monkeypatch.setattr(device_executor, "_exit", end)
    return statuses


def broken(on_stand_in: Callable, **functions: Any) -> Callable:
    """Return what makes executors whose device has these functions in place of its own."""
    device, lure = on_stand_in.args
    return lambda names, payloads: DeviceExecutor(dataclasses.replace(device, **functions), lure, names, payloads)


def carried_out(executor: Callable, case: str, source: str) -> None:
    names: dict = {}
    exec(source, names)
    scenario = device_scenarios("fakegpu")[case]
    on = executor(names, [o.payload for o in scenario.operations if o.payload])
    for operation in scenario.operations:
        on.observe([operation.name, *operation.args])


def fails(error: Exception) -> Callable[..., Any]:
    def step(*_: Any, **__: Any) -> None:
        raise error

    return step


def test_an_ecc_error_while_we_fill_the_pool_is_the_machine_s(on_stand_in, ends, monkeypatch) -> None:
    monkeypatch.setattr(arrange, "fill", fails(ECC))
    carried_out(on_stand_in, "g4.basic", solution())
    assert ends[0] == EXIT_MACHINE


def test_an_ecc_error_while_we_allocate_is_the_machine_s(on_stand_in, ends, monkeypatch) -> None:
    monkeypatch.setattr(device_executor, "_empty", fails(ECC))
    carried_out(on_stand_in, "g1.float32", solution())
    assert ends[0] == EXIT_MACHINE


@pytest.mark.parametrize("function", ["start", "settle"])
def test_an_error_that_comes_late_in_a_step_of_ours_is_the_machine_s(on_stand_in, ends, function: str) -> None:
    carried_out(broken(on_stand_in, **{function: fails(LATE)}), "g4.basic", solution())
    assert ends[0] == EXIT_MACHINE


def test_an_error_that_comes_late_while_we_look_at_a_result_ends_the_process(on_stand_in, ends) -> None:
    sick = broken(on_stand_in, to_host=fails(LATE), fault=lambda error: EXIT_DEVICE)
    carried_out(sick, "g4.basic", solution())
    assert ends[0] == EXIT_DEVICE


def test_words_of_an_error_alone_end_nothing(on_stand_in, ends) -> None:
    carried_out(on_stand_in, "g4.basic", solution((JOIN, f"raise RuntimeError('{ECC}')")))
    assert ends == []


@pytest.mark.parametrize(("status", "code"), [(EXIT_MACHINE, "run.machine"), (EXIT_DEVICE, "device.fault")])
def test_points_of_a_call_that_met_a_fault_stay_pending(status: int, code: str) -> None:
    cells = patched((JOIN, f"import os\nos._exit({status})"))
    submission = Submission("ada", "ada.py", "0" * 64, cells, MASTER.encode())
    result = grade_on_device(stand_in(), submission, Config(readiness_counts=True), Words("en")).result
    assert (result.points, result.max_points, result.pending_points) == (15, 15, 5)
    assert result.notes[-1].code == code
    assert canary.has_machine_fault(row(result))


def test_the_reference_solution_passes_on_the_stand_in() -> None:
    canary.check(stand_in())


def test_a_device_that_fails_on_the_reference_solution_stops_with_one_sentence(monkeypatch, tmp_path) -> None:
    dying = tmp_path / "dying.py"
    dying.write_text(solution((JOIN, "import os; os._exit(89)")), "utf-8")
    monkeypatch.setattr(canary, "SOLUTION", dying)
    with pytest.raises(canary.DeviceUnfit, match=r"g4\.basic.*device\.fault.*--resume") as stopped:
        canary.check(stand_in())
    assert str(stopped.value).count(". ") == 0


HEALTHY, FAULTY = {"student": "a", "notes": []}, {"student": "b", "notes": [{"code": "device.fault", "details": {}}]}


def test_the_canary_comes_first_last_and_at_each_fault() -> None:
    checks: list[int] = []
    seen = list(canary.watched_over([HEALTHY, FAULTY, None, HEALTHY], lambda: checks.append(1)))
    assert (len(seen), len(checks)) == (4, 3)


def test_a_row_of_a_sick_device_is_not_written_and_earlier_ones_are_kept() -> None:
    checks = itertools.count(1)

    def check() -> None:
        if next(checks) > 1:
            raise canary.DeviceUnfit("sick")

    kept = []
    with pytest.raises(canary.DeviceUnfit):
        kept.extend(canary.watched_over([HEALTHY, HEALTHY, FAULTY, HEALTHY], check))
    assert kept == [] or kept == [HEALTHY, HEALTHY]
