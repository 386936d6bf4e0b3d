"""Decoys around a watched call: what a watch that was tampered with reports is no report."""

import pytest

from autograder.contract.device_compare import judge_watched
from autograder.contract.operations import Operation

PREFILL = Operation("prefill", ("m", "A"))


def judged(events: list[str], taken: object, device: str = "fakegpu", decoy: tuple = (2, 1024, 1, 0)) -> str | None:
    made = Operation("new", ("m", 8, 4, 2, "bfloat16", device))
    before = (made, Operation("decoy", decoy), PREFILL)
    facts = {"dict": {"events": {"list": [{"str": event} for event in events]}, "taken": taken}}
    found = judge_watched(before, {"returned": None}, facts)
    return found.code if found else None


HONEST = ["copy", "copy", "call", "end", "copy"]
ON_CUDA = ["copy", "wait", "copy", "wait", "call", "end", "copy", "wait"]


def test_an_honest_report_is_believed() -> None:
    assert judged(HONEST, 1024) is None
    assert judged(ON_CUDA, 1024, "cuda") is None


@pytest.mark.parametrize(
    ("events", "taken"),
    [
        ([], 0),
        (["call", "end"], 1024),
        (["copy", "call", "end", "copy"], 1024),
        (["copy", "copy", "call", "end"], 1024),
        (["copy", "copy", "copy", "call", "end", "copy"], 1024),
        (["copy", "copy", "call", "copy"], 1024),
        (["end", "copy", "copy", "call", "copy"], 1024),
        (HONEST, 0),
        (HONEST, 512),
        (HONEST, None),
        (HONEST, {"str": "1024"}),
        ([None], 1024),
    ],
)
def test_a_report_that_misses_a_decoy_is_no_report(events, taken) -> None:
    assert judged(events, taken) == "device.watch"


def test_on_cuda_a_copy_that_cuda_does_not_report_is_missed() -> None:
    assert judged(HONEST, 1024, "cuda") == "device.watch"


@pytest.mark.parametrize(
    ("event", "code"),
    [("copy", "device.copy"), ("sync", "device.sync"), ("wait", "device.sync"), ("index", "device.index")],
)
def test_what_the_call_itself_did_is_judged(event: str, code: str) -> None:
    assert judged(["copy", "copy", "call", event, "end", "copy"], 1024) == code


def test_memory_of_the_call_is_what_a_decoy_did_not_take() -> None:
    assert judged(HONEST, 1024 + 512) == "device.memory"


def test_a_flood_of_events_is_judged_by_its_beginning() -> None:
    assert judged((["copy", "copy", "call"] + ["sync"] * 100)[:64], 1024) == "device.sync"
