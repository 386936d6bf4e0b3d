"""Comparing a trace from a device with the contract: what the device saw of each call, and what CPU cases judge."""

from typing import Any

from autograder.contract.compare import Deviation, first_deviation
from autograder.contract.compare_read import compare_read
from autograder.contract.model import ReferencePool, ReferenceRequest
from autograder.contract.observations import is_int, kind_of, raised_name
from autograder.contract.operations import LEDGER_KEYS, Operation
from autograder.contract.questions import questions
from autograder.contract.scenario import Scenario
from autograder.findings import Finding

TOTAL = LEDGER_KEYS[2]
LARGEST_ROUNDING = 2 << 20
"""How much more than asked for CUDA's caching allocator may hand out for one large tensor."""

ON_DEVICE_ONLY = frozenset({"watched", "pool", "vast"})
CODES = {event: f"device.{event}" for event in ("copy", "sync", "elsewhere", "index", "mixed")}


def device_deviation(scenario: Scenario, trace: list[Any]) -> Deviation | None:
    """Return where and how a trace first breaks the contract on the device that the scenario names, or None."""
    question, operations = questions().judged_as(scenario.question).id, scenario.operations
    found = _first_on_device(scenario, trace)
    if any(operation.name == "vast" for operation in operations):
        return found or _vast(operations, trace)
    kept = [i for i, operation in enumerate(operations) if operation.name not in ON_DEVICE_ONLY]
    plain = first_deviation(question, [operations[i] for i in kept], [trace[i] for i in kept], scenario.focus)
    if plain and (found is None or kept[plain.step] < found.step):
        return Deviation(kept[plain.step], plain.finding, plain.owner)
    return found


def _first_on_device(scenario: Scenario, seen: list[dict[str, Any]]) -> Deviation | None:
    question = questions().judged_as(scenario.question).id
    for i, operation in enumerate(scenario.operations):
        finding = None
        if operation.name == "watched":
            finding = _of_call(scenario.operations[:i], seen[i - 1], seen[i].get("returned"))
        elif operation.name == "pool":
            finding = _of_pool(seen[i - 1].get("returned"), seen[i].get("returned"))
        if finding:
            return Deviation(i - 1, finding, question)
    return None


def _of_call(before: tuple[Operation, ...], call: dict[str, Any], watched: Any) -> Finding | None:
    facts = watched.get("dict", {}) if isinstance(watched, dict) else {}
    events = [event.get("str") for event in facts.get("events", {}).get("list", ())]
    for event in events:
        if event in CODES:
            return Finding(CODES[event])
    if before[-1].name == "read":  # may wait for indices on their way to the device, and needs memory for its result
        return _of_result(before, call.get("returned"))
    if "wait" in events:
        return Finding("device.sync")
    return Finding("device.memory") if facts.get("taken") else None


def _of_result(before: tuple[Operation, ...], returned: Any) -> Finding | None:
    made = next(o for o in reversed(before) if o.name in ("new", "vast") and o.args[0] == before[-1].args[0])
    dtype, device = made.args[4:6]
    tensor = returned.get("tensor") if isinstance(returned, dict) else None
    if not isinstance(tensor, dict):
        return None
    if tensor.get("device") not in (device, "meta" if made.name == "vast" else device):
        return Finding("device.elsewhere")
    return Finding("device.dtype") if tensor.get("dtype") != dtype else None


def _of_pool(ledger: Any, taken: Any) -> Finding | None:
    entries = ledger.get("dict", {}) if isinstance(ledger, dict) else {}
    total = entries.get(TOTAL)
    if taken is None or not is_int(total):
        return None  # no such dtype here, or a matter for the comparison of ledgers
    return None if 0 <= taken - total <= LARGEST_ROUNDING else Finding("device.ledger")


def _vast(operations: tuple[Operation, ...], seen: list[dict[str, Any]]) -> Deviation | None:
    made, read = operations[0], next(i for i, o in enumerate(operations) if o.name == "read")
    _, num_blocks, block_size, head_dim, dtype, _ = made.args
    if "raised" in seen[0]:
        return Deviation(0, Finding("device.pool", {"got": raised_name(seen[0])}), questions().given_code)
    if "raised" in seen[read]:
        return Deviation(read, Finding("read.refused", {"got": raised_name(seen[read])}), questions().owner["read"])
    length = operations[read - 1].args[2]
    returned = seen[read]["returned"]
    tensor = returned.get("tensor") if isinstance(returned, dict) else None
    if not isinstance(tensor, dict):
        return Deviation(read, Finding("read.kind", {"kind": kind_of(returned)}), questions().owner["read"])
    expected = None if seen[0]["returned"] == {"str": "meta"} else made.payload
    pool = ReferencePool(num_blocks, block_size, head_dim, dtype, [], made.payload)
    finding = compare_read(pool, ReferenceRequest(length, [num_blocks - 1]), returned, expected)
    return Deviation(read, finding, questions().owner["read"]) if finding else None
