"""The shortest failing example of a failed case, found by running smaller and smaller scenarios in the sandbox."""

from collections.abc import Mapping, Sequence
from typing import Any

from autograder.contract.compare import Deviation, first_deviation
from autograder.contract.miniature import miniature
from autograder.contract.observations import EMPTY_STATE, State, is_int
from autograder.contract.quiet import hushed, spoken_aloud
from autograder.contract.scenario import Scenario
from autograder.contract.shrink import Operations, Trial, drop_chunks, shrink
from autograder.grading.one.loaded_submission import LoadedSubmission
from autograder.sandbox.client import Died

SHARED_TRIALS = 250
FRESH_TRIALS = 200
SHORT, SMALL, LONG = 6, 8, 12
MOST_FORMS = 6
TOO_LARGE = 64
"""On a pool of more blocks a fault that the small world does not show is not searched for block by block."""
FEW = 24
"""So many calls are tried one by one; of more, whole stretches are left out first."""


def shortest_example(submission: LoadedSubmission, failed: Sequence[Scenario]) -> Mapping[str, Any] | None:
    """Return the shortest failing run found for one question: its operations, and the state after each.

    The failed cases are tried in order until one gives an example of at most :data:`SHORT` operations on a pool of at
    most :data:`SMALL` blocks; the number of trials is fixed, so the same submission gives the same example.
    """
    best: Mapping[str, Any] | None = None
    for scenario in failed[:MOST_FORMS]:
        found = _shrunk(submission, scenario)
        if found and (best is None or _size(found) < _size(best)):
            best = found
        if best and _size(best) <= (SHORT, SMALL):
            return best
    return best and _too_large(best)


def _too_large(example: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return, in place of an example that nobody could follow or draw, how large the smallest one found is."""
    pools = [operation for operation in example["operations"] if operation[0] == "new"]
    if not any(pool[2] > SMALL for pool in pools) and len(example["operations"]) <= LONG:
        return example
    sizes = [max((pool[place] for pool in pools), default=0) for place in (2, 3)]
    said = ["real_size", *sizes, len(example["operations"])]
    return {"operations": [said], "finding": example["finding"], "earlier": [], "before": None, "after": None}


def _size(example: Mapping[str, Any]) -> tuple[int, int]:
    pools = [operation[2] for operation in example["operations"] if operation[0] == "new"]
    return max(len(example["operations"]), SHORT), max([*pools, SMALL])


def _shrunk(submission: LoadedSubmission, scenario: Scenario) -> Mapping[str, Any] | None:
    """Shrink one failing scenario.

    Trials share a child, which is fast; only where the result does not fail again in a fresh one, as it does not when
    calls leave traces in the class, is the search repeated with a fresh child per trial.
    """
    for alone, trials in ((False, SHARED_TRIALS), (True, FRESH_TRIALS)):

        def run(operations: Operations, alone: bool = alone) -> Deviation | None:
            return _deviation(submission, scenario, operations, alone)

        start = _few(scenario, run, trials // 2)
        first = run(start) if start else None
        if first is None:
            continue
        large = any(operation.args[1] > TOO_LARGE for operation in start if operation.name == "new")
        shortest = start if large else shrink(start, first, run, trials)
        confirmed = _deviation(submission, scenario, shortest, alone=True)
        if confirmed and confirmed.finding.code == first.finding.code:
            return _describe(submission, shortest, confirmed)
    return None


def _few(scenario: Scenario, run: Trial, trials: int) -> Operations:
    """Return where to start: the scenario itself, or a few of its calls, aloud and small, where some are quiet."""
    operations = spoken_aloud(scenario.operations)
    if len(operations) == len(scenario.operations):
        return operations
    found = run(scenario.operations)
    if found is None:
        return ()
    operations = spoken_aloud(scenario.operations[: found.step + 1])
    aloud = int(scenario.operations[found.step].name != "quiet")  # of a quiet read nobody sees what it returned

    def fails(candidate: Operations) -> bool:
        last = len(candidate) - aloud
        again = run((*hushed(candidate[:last]), *candidate[last:]))
        return again is not None and again.owner == found.owner

    for attempt in range(2):
        small = miniature(operations)
        if fails(small):
            operations = small
        if attempt == 0:
            operations = drop_chunks(operations, fails, trials, FEW)
    return operations


def _deviation(
    submission: LoadedSubmission, scenario: Scenario, operations: Operations, alone: bool
) -> Deviation | None:
    try:
        trace = submission.run(operations, alone)
    except Died:
        return None
    return first_deviation(scenario.question, operations, trace, scenario.focus)


def _describe(submission: LoadedSubmission, operations: Operations, deviation: Deviation) -> Mapping[str, Any] | None:
    try:
        states = [observation["state"] for observation in submission.run(operations, alone=True)]
    except Died:
        return None
    before = states[-2] if len(states) > 1 else EMPTY_STATE
    return {
        "operations": [operation.to_wire() for operation in operations],
        "finding": deviation.finding.to_json(),
        "earlier": [_plain(state, operations) for state in states[:-2]],
        "before": _plain(before, operations),
        "after": _plain(states[-1], operations),
    }


def _plain(state: State, operations: Operations) -> dict[str, Any] | None:
    """Return the pool that the last operation is about, with the requests that were used on it, for a picture."""
    pools = [name for o in operations for name in o.args[:1] if name in state["managers"]]
    if not pools:
        return None
    m = operations[-1].args[0] if operations[-1].args[0] in state["managers"] else pools[-1]
    elsewhere = {o.args[1] for o in operations if o.args[0] in state["managers"] and o.args[0] != m and len(o.args) > 1}
    seen = state["managers"][m]
    requests = {
        r: {"seq_len": request.get("seq_len"), "table": _ids(request.get("table"))}
        for r, request in state["requests"].items()
        if r not in elsewhere
    }
    by_hand = {o.args[0] for o in operations if o.name == "place"}
    placed = {b for r, request in state["requests"].items() if r in by_hand for b in _ids(request.get("table"))}
    return {
        "num_blocks": seen.get("num_blocks"),
        "block_size": seen.get("block_size"),
        "free": [b for b in _ids(seen.get("free")) if b not in placed],
        "requests": requests,
    }


def _ids(value: Any) -> list[int | None]:
    """Return the entries of an observed sequence, None for those that are no block ids."""
    items = next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else None
    return [item if is_int(item) else None for item in items] if isinstance(items, list) else []
