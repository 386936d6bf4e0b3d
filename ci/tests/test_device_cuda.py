"""What can be said of CUDA without a GPU: its report about waiting is read, from every thread; old cards are named."""

import threading
import warnings

import pytest
import torch

from autograder.sandbox.inside import cuda, events
from autograder.sandbox.inside.no_device import NoDevice

TORCH_SAYS = "called a synchronizing CUDA operation (Triggered internally at /pytorch/c10/cuda/CUDAFunctions.cpp:170.)"


class SyncDebug:
    """Stands in for CUDA's report: while it is on, a wait warns in torch's own words."""

    def __init__(self) -> None:
        self.modes: list[str] = []

    def set(self, mode: str) -> None:
        if not self.modes:
            warnings.warn("Synchronization debug mode is a prototype feature and does not yet detect all", stacklevel=2)
        self.modes.append(mode)

    def wait(self) -> None:
        if self.modes and self.modes[-1] == "warn":
            warnings.warn(TORCH_SAYS, stacklevel=2)


@pytest.fixture
def report(monkeypatch) -> SyncDebug:
    debug = SyncDebug()
    monkeypatch.setattr(torch.cuda, "set_sync_debug_mode", debug.set)
    return debug


def test_each_wait_is_noted_where_it_happens(report) -> None:
    note, take = events.new_log()
    with cuda.cuda_watch(note)():
        note("call")
        report.wait()
        report.wait()
        note("end")
        report.wait()
    report.wait()
    assert take() == ["call", "wait", "wait", "end", "wait"]
    assert report.modes == ["warn", "default"]


def test_a_wait_in_another_thread_is_noted(report) -> None:
    note, take = events.new_log()
    with cuda.cuda_watch(note)():
        thread = threading.Thread(target=report.wait)
        thread.start()
        thread.join()
    assert take() == ["wait"]


def test_other_warnings_and_a_filter_of_the_submission_s_change_nothing(report) -> None:
    note, take = events.new_log()
    watch = cuda.cuda_watch(note)
    warnings.simplefilter("ignore")
    with watch():
        warnings.warn("something else", stacklevel=2)
        report.wait()
    assert take() == ["wait"]


def test_a_new_thread_is_watched_as_its_parent_is(monkeypatch) -> None:
    for name in ("_start_new_thread", "_start_joinable_thread"):
        if hasattr(threading, name):
            monkeypatch.setattr(threading, name, getattr(threading, name))
    import _thread

    for name in ("start_new_thread", "start_new"):
        monkeypatch.setattr(_thread, name, getattr(_thread, name))
    note, take = events.new_log()
    events.watch_new_threads("cpu", note)
    thread = threading.Thread(target=lambda: torch.ones(2).sum().item())
    thread.start()
    thread.join()
    assert take() == ["sync"]


@pytest.mark.parametrize(
    ("capability", "archs", "served"),
    [
        ((7, 0), ["sm_75", "sm_80", "sm_90"], False),
        ((7, 5), ["sm_75", "sm_80", "sm_90"], True),
        ((8, 9), ["sm_75", "sm_80", "sm_90"], True),
        ((6, 1), ["sm_50", "sm_60", "sm_90"], True),
        ((12, 0), ["sm_50", "sm_90"], False),
        ((9, 0), ["sm_75", "sm_80", "sm_90", "compute_90"], True),
        ((9, 0), [], True),
    ],
)
def test_a_card_that_the_build_has_no_code_for_is_named(capability, archs, served) -> None:
    said = cuda.too_old("Some card", capability, archs)
    assert (said == "") is served
    assert said == "" or ("Some card" in said and said.count(". ") == 0)


def test_a_build_without_cuda_says_what_to_do() -> None:
    if torch.version.cuda:
        pytest.skip("this torch has CUDA")
    with pytest.raises(NoDevice, match="ci/gpu"):
        cuda.open_cuda()
