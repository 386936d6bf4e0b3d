"""A trusted submission's traces without a sandbox: thousands a second, for tests of what is asked and judged."""

import json
from collections.abc import Iterable
from functools import cache
from typing import Any

from autograder.contract.compare import Deviation, first_deviation
from autograder.contract.operations import Operation
from autograder.contract.scenario import Scenario
from autograder.sandbox.inside.executor import Executor
from autograder.sandbox.protocol import Frame
from autograder.sandbox.trusted.validate_reply import Trace, traces_of


@cache
def _code(source: str) -> Any:
    return compile(source, "submission", "exec")


def trace_of(source: str, operations: Iterable[Operation]) -> Trace:
    """Return what is observed of a submission that we wrote ourselves, run in this process."""
    operations, names = tuple(operations), {"__name__": "submission"}
    exec(_code(source), names)
    executor = Executor(names, [operation.payload for operation in operations if operation.payload])
    seen = [json.loads(json.dumps(executor.observe(operation.to_wire()))) for operation in operations]
    [trace] = traces_of(Frame({"traces": [seen]}, tuple(executor.encoder.blobs)), [len(operations)])
    return trace


def deviation_of(source: str, scenario: Scenario) -> Deviation | None:
    """Return how a submission leaves the contract in ``scenario``, None where it does not."""
    return first_deviation(
        scenario.question, scenario.operations, trace_of(source, scenario.operations), scenario.focus
    )


def by_hand(scenario: Scenario) -> Scenario:
    """Return the form of a scenario that sets states by hand, where it has one."""
    return scenario.form_by_hand if scenario.by_hand else scenario
