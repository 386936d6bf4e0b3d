"""The shortest failing example of a failed case, found by running smaller and smaller scenarios in the sandbox."""

from collections.abc import Mapping
from typing import Any

from autograder.contract.compare import Deviation, first_deviation
from autograder.contract.observe import EMPTY_STATE, State, ids_of, unroll
from autograder.contract.scenario import Scenario
from autograder.contract.shrink import Operations, shrink
from autograder.grading.loading import LoadedSubmission
from autograder.sandbox.client import Died

SHARED_TRIALS = 400
FRESH_TRIALS = 30


def shortest_example(submission: LoadedSubmission, scenario: Scenario) -> Mapping[str, Any] | None:
    """Return the operations, and the states before and after the last of them, of the shortest failing run.

    Trials share a child, which is fast; only where the result does not fail again in a fresh one, as it does not when
    calls leave traces in the class, is the search repeated with a fresh child per trial.
    """
    for alone, trials in ((False, SHARED_TRIALS), (True, FRESH_TRIALS)):

        def run(operations: Operations, alone: bool = alone) -> Deviation | None:
            return _deviation(submission, scenario, operations, alone)

        first = run(scenario.operations)
        if first is None:
            continue
        shortest = shrink(scenario.operations, first, run, trials)
        confirmed = _deviation(submission, scenario, shortest, alone=True)
        if confirmed and confirmed.finding.code == first.finding.code:
            return _describe(submission, shortest, confirmed)
    return None


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
        steps = unroll(submission.run(operations, alone=True), len(operations))
    except Died:
        return None
    if not steps:
        return None
    before = steps[-2][1] if len(steps) > 1 else EMPTY_STATE
    return {
        "operations": [operation.to_wire() for operation in operations],
        "finding": deviation.finding.to_json(),
        "before": _plain(before, operations),
        "after": _plain(steps[-1][1], operations),
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
        r: {"seq_len": request.get("seq_len"), "table": ids_of(request.get("table")) or []}
        for r, request in state["requests"].items()
        if r not in elsewhere
    }
    return {
        "num_blocks": seen.get("num_blocks"),
        "block_size": seen.get("block_size"),
        "free": ids_of(seen.get("free")) or [],
        "requests": requests,
    }
