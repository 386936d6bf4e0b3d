"""Decoys around a watched call: what a watch that was tampered with reports is no report."""

from dataclasses import replace
from functools import partial

import pytest
from device_idioms import judged as judged_in_process
from device_idioms import source
from device_samples import in_this_process

from autograder.contract.device_compare import judge_watched
from autograder.contract.device_scenarios import device_scenarios
from autograder.contract.operations import Operation
from autograder.contract.seed import PUBLIC, Seed, new_seed
from autograder.sandbox.inside.device_executor import DeviceExecutor

PREFILL = Operation("prefill", ("m", "A"))


def judged(
    events: list[str],
    taken: object,
    device: str = "fakegpu",
    decoy: tuple = (2, 1024, 1, 0),
    called: Operation = PREFILL,
) -> str | None:
    made = Operation("new", ("m", 8, 4, 2, "bfloat16", device))
    before = (made, Operation("decoy", decoy), called)
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


BAIT = Operation("bait", (2, 512, 0))


@pytest.mark.parametrize(
    ("seen", "taken", "code"),
    [
        (["copy", "copy"], 1536, None),
        (["copy"], 1536, "device.watch"),
        ([], 1024, "device.watch"),
        (["copy", "copy"], 1024, "device.watch"),
        (["copy", "copy", "sync"], 1536, "device.watch"),
    ],
)
def test_a_bait_is_seen_as_it_was_laid(seen, taken, code) -> None:
    assert judged(["copy", "copy", "call", *seen, "end", "copy"], taken, called=BAIT) == code


def test_a_watch_that_forgets_what_calls_do_misses_the_baits() -> None:
    on_stand_in = in_this_process()
    device, lure = on_stand_in.args

    def forgetful() -> list[str]:
        seen = device.events()
        return [*seen[: seen.index("call") + 1], *seen[seen.index("end") :]] if "call" in seen else seen

    deaf = partial(DeviceExecutor, replace(device, events=forgetful), lure)
    through_the_host = source("return", "return cat_blocks[:{N}].cpu().to({D})")
    assert set(judged_in_process(on_stand_in, through_the_host).values()) == {"device.copy"}
    assert set(judged_in_process(deaf, through_the_host).values()) == {"device.watch"}


def decoys(seed: Seed) -> list[Operation]:
    operations = [o for s in device_scenarios("fakegpu", seed).values() for o in s.operations]
    return [o for o in operations if o.name in ("decoy", "bait")]


def places(seed: Seed) -> list[list[str]]:
    return [[o.name for o in s.operations] for s in device_scenarios("fakegpu", seed).values()]


def test_decoys_are_drawn_from_the_course_seed_and_the_file() -> None:
    ours, theirs = Seed(new_seed()), Seed(new_seed())
    same = ours.for_file("a")
    assert decoys(same) == decoys(ours.for_file("a"))
    for other in (ours.for_file("b"), theirs.for_file("a")):
        assert decoys(same) != decoys(other)
        assert places(same) != places(other)


def test_with_the_built_in_seed_nobody_can_know_a_decoy() -> None:
    assert decoys(PUBLIC.for_file("a")) != decoys(PUBLIC.for_file("a"))
    assert places(PUBLIC) != places(PUBLIC)


def test_each_case_with_a_call_has_a_bait() -> None:
    for names in places(Seed(new_seed())):
        assert ("bait" in names) == ("watched" in names)
