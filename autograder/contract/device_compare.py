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

ON_DEVICE_ONLY = frozenset({"watched", "pool", "vast", "decoy", "bait", "settle", "again", "gone"})
CALL, END, WAIT = "call", "end", "wait"
MOST_EVENTS = 64
"""What a child notes of one call at most."""
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
    table, owner = questions(), questions().judged_as(scenario.question).id
    for i, operation in enumerate(scenario.operations):
        finding = None
        if operation.name == "watched":
            owner = table.owner.get(scenario.operations[i - 1].name, owner)
            finding = judge_watched(scenario.operations[:i], seen[i - 1], seen[i].get("returned"))
        elif operation.name == "settle" and seen[i]["state"] != seen[i - 2]["state"]:
            finding = Finding("device.late")
        elif operation.name == "gone":
            finding = _first_code(_words(seen[i].get("returned")))
        elif operation.name == "again":
            finding = _of_earlier(scenario.operations[:i], seen, operation.args[0])
        elif operation.name == "pool":
            _, size, _, _ = scenario.operations[i - 1].args
            finding = _of_pool(seen[i - 2].get("returned"), seen[i].get("returned"), size)
        if finding:
            return Deviation(i - 1, finding, owner)
    return None


def judge_watched(before: tuple[Operation, ...], call: dict[str, Any], watched: Any) -> Finding | None:
    """Judge what the device saw of the last call, where the decoys around it prove that it was looking."""
    *_, decoy, operation = before
    seen = _between_decoys(decoy, watched, _device(before) == "cuda")
    if seen is None:
        return Finding("device.watch")
    events, taken = seen
    if operation.name == "bait":
        copies, size, _ = operation.args
        return (
            None if (_copies(events, _device(before) == "cuda"), taken) == (copies, size) else Finding("device.watch")
        )
    if found := _first_code(events):
        return found
    if operation.name == "read":  # may wait for indices on their way to the device, and needs memory for its result
        return _of_result(before, call.get("returned"))
    if WAIT in events:
        return Finding("device.sync")
    return Finding("device.memory") if taken else None


def _device(operations: tuple[Operation, ...]) -> str:
    return str(next((o.args[5] for o in operations if o.name in ("new", "vast")), ""))


def _between_decoys(decoy: Operation, watched: Any, cuda: bool) -> tuple[list[str], int] | None:
    """Return events and bytes of the call alone; None where a decoy's are not among them, as they must be.

    CUDA itself must have reported that the host waited for each copy.
    """
    ahead, size, behind, _ = decoy.args
    facts = _entries(watched)
    events, taken = _words(facts.get("events")), facts.get("taken")
    if not is_int(taken) or taken < size or CALL not in events:
        return None
    start = events.index(CALL)
    end = len(events) if len(events) == MOST_EVENTS else _last(events, END)
    before, after = events[:start], events[end + 1 :]
    if end < start or _copies(before, cuda) != ahead or (_copies(after, cuda) != behind and end < len(events)):
        return None
    return events[start + 1 : end], taken - size


def _words(value: Any) -> list[str]:
    items = _entry(value, "list")
    return [str(_entry(item, "str")) for item in items] if isinstance(items, list) else []


def _first_code(events: list[str]) -> Finding | None:
    return next((Finding(CODES[event]) for event in events if event in CODES), None)


def _copies(events: list[str], cuda: bool) -> int:
    """Return how many copies there are, on CUDA each with a wait; -1 where there is anything else."""
    copies, waits = events.count("copy"), events.count(WAIT)
    return copies if copies + waits == len(events) and (waits >= copies or not cuda) else -1


def _last(events: list[str], event: str) -> int:
    return max((i for i, one in enumerate(events) if one == event), default=-1)


def _entries(value: Any) -> dict[str, Any]:
    content = _entry(value, "dict")
    return content if isinstance(content, dict) else {}


def _entry(value: Any, tag: str) -> Any:
    return value.get(tag) if isinstance(value, dict) else None


def _of_earlier(before: tuple[Operation, ...], seen: list[dict[str, Any]], back: int) -> Finding | None:
    """Say that what a read returned has changed since, by work that was not finished or by a later read."""
    read = [i for i, operation in enumerate(before) if operation.name == "read" and "returned" in seen[i]]
    if len(read) <= back:
        return None
    unchanged = seen[read[-1 - back]]["returned"] == seen[len(before)].get("returned")
    return None if unchanged else Finding("device.reused" if back else "device.late")


def _of_result(before: tuple[Operation, ...], returned: Any) -> Finding | None:
    made = next(o for o in reversed(before) if o.name in ("new", "vast") and o.args[0] == before[-1].args[0])
    dtype, device = made.args[4:6]
    tensor = returned.get("tensor") if isinstance(returned, dict) else None
    if not isinstance(tensor, dict):
        return None
    if tensor.get("device") not in (device, "meta" if made.name == "vast" else device):
        return Finding("device.elsewhere")
    return Finding("device.dtype") if tensor.get("dtype") != dtype else None


def _of_pool(ledger: Any, taken: Any, decoy: int) -> Finding | None:
    total = _entries(ledger).get(TOTAL)
    if taken is None or not is_int(total):
        return None  # no such dtype here, or a matter for the comparison of ledgers
    if not is_int(taken) or taken < decoy:
        return Finding("device.watch")
    return None if 0 <= taken - decoy - total <= LARGEST_ROUNDING else Finding("device.ledger")


def _vast(operations: tuple[Operation, ...], seen: list[dict[str, Any]]) -> Deviation | None:
    made, read = operations[0], next(i for i, o in enumerate(operations) if o.name == "read")
    _, num_blocks, block_size, head_dim, dtype, _ = made.args
    if "raised" in seen[0]:
        return Deviation(0, Finding("device.pool", {"got": raised_name(seen[0])}), questions().given_code)
    if "raised" in seen[read]:
        return Deviation(read, Finding("read.refused", {"got": raised_name(seen[read])}), questions().owner["read"])
    length = next(o.args[2] for o in operations if o.name == "place")
    returned = seen[read]["returned"]
    tensor = returned.get("tensor") if isinstance(returned, dict) else None
    if not isinstance(tensor, dict):
        return Deviation(read, Finding("read.kind", {"kind": kind_of(returned)}), questions().owner["read"])
    expected = None if seen[0]["returned"] == {"str": "meta"} else made.payload
    pool = ReferencePool(num_blocks, block_size, head_dim, dtype, [], made.payload)
    finding = compare_read(pool, ReferenceRequest(length, [num_blocks - 1]), returned, expected)
    return Deviation(read, finding, questions().owner["read"]) if finding else None
