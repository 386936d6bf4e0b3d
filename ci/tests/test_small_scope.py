"""Every reachable pair of state and call in the small world is walked by the cases; what is missing is named."""

from dataclasses import replace
from functools import cache

import pytest
from classes import solution
from in_process import by_hand, deviation_of

from autograder.contract.model import ReferenceModel, ReferencePool, ReferenceRequest
from autograder.contract.operations import Operation
from autograder.contract.quiet import spoken_aloud
from autograder.contract.scenario import Scenario
from autograder.contract.walk import SIZES, walks

JUDGED = {"q2": "prefill", "q3": "decode", "q5": "release"}
Held = tuple[str, int, int]
Pair = tuple[int, int, Held, Held, str]
ABSENT = ("absent", 0, 0)


def seen_as(pool: ReferencePool, request: ReferenceRequest | None) -> Held:
    """Return a request's state up to renaming of blocks."""
    if request is None:
        return ABSENT
    needed = min(-(-request.seq_len // pool.block_size), pool.num_blocks + 1)
    if not request.table:
        return ("waits for", needed, 0)
    return ("holds", len(request.table), request.seq_len - (len(request.table) - 1) * pool.block_size)


def model_of(blocks: int, size: int, lengths: tuple[int, int]) -> ReferenceModel | None:
    """Return a model with two requests: a length of 0 is none, a negative one waits, a positive one holds blocks."""
    model = ReferenceModel()
    model.apply(Operation("new", ("m", blocks, size, 1, "float32", "cpu")))
    for r, length in zip("AB", lengths, strict=True):
        if length:
            model.apply(Operation("request", (r, 1, abs(length))))
        if length > 0 and model.apply(Operation("prefill", ("m", r))).outcome != "ok":
            return None
    return model


def lengths_of(model: ReferenceModel) -> tuple[int, ...]:
    requests = [model.requests.get(r) for r in "AB"]
    return tuple(0 if q is None else q.seq_len if q.table else -q.seq_len for q in requests)


def reachable(blocks: int, size: int) -> set[Pair]:
    """Return every pair of state and call that two requests can get to, by the model alone."""
    pairs, todo, known = set(), [(0, 0)], {(0, 0)}
    while todo:
        state = todo.pop()
        for own, r in enumerate("AB"):
            other = "BA"[own]
            calls = ["release", "prefill", "decode"] if state[own] > 0 else ["release", "prefill"] if state[own] else []
            arrivals = [] if state[own] else range(1, blocks * size + 2)
            for name, length in [*((name, 0) for name in calls), *(("prefill", length) for length in arrivals)]:
                model = model_of(blocks, size, state)
                assert model is not None
                pool = model.pools["m"]
                if length:
                    model.apply(Operation("request", (r, 1, length)))
                mine, others = (seen_as(pool, model.requests.get(q)) for q in (r, other))
                pairs.add((blocks, size, mine, others, name))
                model.apply(Operation(name, ("m", r)))
                if name == "release":
                    del model.requests[r]
                after = lengths_of(model)
                if after not in known:
                    known.add(after)
                    todo.append(after)
    return pairs


def walked(scenario: Scenario) -> set[Pair]:
    """Return the pairs that a scenario of one manager at a time meets."""
    model, pairs, gone = ReferenceModel(), set(), set()
    for call in spoken_aloud(scenario.operations):
        if call.name in ("prefill", "decode", "release"):
            pool, r = model.pools["m"], call.args[1]
            mine, others = (
                seen_as(pool, None if q in gone else model.requests.get(q)) for q in (r, "BA"["AB".index(r)])
            )
            pairs.add((pool.num_blocks, pool.block_size, mine, others, call.name))
        outcome = model.apply(call).outcome
        if call.name in ("release", "vacate") and outcome == "ok":
            gone.add(call.args[1])
        if call.name == "request":
            gone.discard(call.args[0])
        if call.name == "new":
            gone = set()
    return pairs


@cache
def everything() -> set[Pair]:
    return set().union(*(reachable(*size) for size in SIZES))


def demand(wanted: set[Pair], met: set[Pair]) -> None:
    missing = sorted(wanted - met)
    assert wanted
    assert not missing, f"{len(missing)} of {len(wanted)}: {missing[:20]}"


@pytest.mark.parametrize("question", JUDGED)
def test_every_reachable_pair_is_walked_by_the_submissions_own_calls(question):
    met = set().union(*map(walked, walks()))
    demand({pair for pair in everything() if pair[-1] == JUDGED[question]}, met)


@pytest.mark.parametrize("question", ["q2", "q3"])
def test_each_todos_own_calls_meet_every_state_set_by_hand(question):
    met = set().union(*(walked(by_hand(scenario)) for scenario in walks() if scenario.question == question))
    demand({pair for pair in everything() if pair[-1] == JUDGED[question]}, met)


def test_a_walk_that_leaves_something_out_is_told_what():
    [prefills, *_] = walks()
    shorter = replace(prefills, operations=prefills.operations[:-1])
    with pytest.raises(AssertionError, match=r"\(3, 3, .*prefill"):
        demand({pair for pair in everything() if pair[-1] == "prefill"}, walked(shorter))


@pytest.mark.parametrize("case", walks(), ids=lambda case: case.id)
def test_the_solution_walks_on_both_roads(case):
    assert deviation_of(solution(), case) is None
    assert deviation_of(solution(), by_hand(case)) is None
