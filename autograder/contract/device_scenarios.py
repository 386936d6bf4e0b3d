"""The named scenarios of g1 to g4: what the CPU cases ask, on a device, with every call watched."""

from collections.abc import Iterable
from functools import cache
from random import SystemRandom

from autograder.contract.cell_bytes import unique_cells
from autograder.contract.ledger import LAYOUT, TOTAL
from autograder.contract.operations import Operation
from autograder.contract.questions import question_of
from autograder.contract.scenario import Scenario, Script

WATCHED_CALLS = frozenset({"prefill", "decode", "read"})
LEDGER_DTYPES = {"float32": 4, "float16": 2, "bfloat16": 2, "float8": 1}
VAST = (2049, 1024, 1024)
"""Blocks, block size and head dimension of a pool with more than 2**31 cells."""
VAST_ROWS = 5
ALLOCATION = 512
"""CUDA hands out memory in multiples of this, so that a decoy's bytes are counted exactly."""
_draw = SystemRandom()  # nobody can know a decoy before it comes, and no honest result depends on it


@cache
def device_scenarios(device: str) -> dict[str, Scenario]:
    """Return every scenario of the GPU part by its id; the first of a question is its basic case."""
    parts = (_ledger(), _prefill(device), _decode(device), _read(device))
    return {s.id: s for scenarios in parts for s in scenarios}


def measured(device: str) -> tuple[Operation, ...]:
    """Return the operations whose answers are reported beside the result and never judged.

    Attention runs over a scattered request and over the same rows in one piece, garbage around both.
    """
    num_blocks, size, dim, length = 16, 64, 64, 500
    table = [11, 2, 7, 4, 13, 0, 9, 5]
    scattered = Script("float32", device).new(num_blocks, size, dim, m="scattered").fill_only(table, length)
    content = scattered.operations[-1].payload
    block = len(content) // num_blocks
    in_order = [*table, *(i for i in range(num_blocks) if i not in table)]
    whole = Script("float32", device).new(num_blocks, size, dim, m="whole")
    whole.operations.append(
        Operation("fill", ("whole",), b"".join(content[i * block : (i + 1) * block] for i in in_order))
    )
    scattered.request("S", length).place("S", table, length)
    whole.request("W", length).place("W", list(range(len(table))), length)
    attend = [Operation("attend", ("scattered", "S")), Operation("attend", ("whole", "W"))]
    return (*scattered.operations, *whole.operations, *attend, Operation("rates", ("whole", "W")))


def watched(operations: Iterable[Operation]) -> list[Operation]:
    """Return the operations with a look at the device after each call of the submission that it is about.

    Each such call stands between decoys: host copies and an allocation that the look has to show. What was read is
    looked at again when nothing is under way any more.
    """
    steps: list[Operation] = []
    for operation in operations:
        if operation.name not in WATCHED_CALLS:
            steps.append(operation)
            continue
        decoy = (_draw.randint(1, 4), ALLOCATION * _draw.randint(1, 64), _draw.randint(1, 4), _draw.randint(0, 1))
        steps += [Operation("decoy", decoy), operation, Operation("watched", ()), Operation("settle", ())]
        if operation.name == "read":
            steps.append(Operation("again", (0,)))
    return steps


def _scenario(id: str, script: Script, *last: Operation) -> Scenario:
    return Scenario(id, question_of(id), (*watched(script.operations), *last, Operation("gone", ())))


def _ledger() -> list[Scenario]:
    def case(id: str, dtypes: Iterable[str]) -> Scenario:
        operations = []
        for dtype in dtypes:
            num_blocks, block_size, layers, heads, head_dim = 370, 16, 3, 5, 128
            shape = [num_blocks, layers, 2, heads, block_size, head_dim]
            dimensions = (num_blocks, block_size, layers, heads, head_dim, LEDGER_DTYPES[dtype])
            decoy = Operation("decoy", (0, ALLOCATION * _draw.randint(6 << 10, 18 << 10), 0, 0))
            operations += [Operation("ledger", dimensions), decoy, Operation("pool", (dtype, shape))]
        return Scenario(id, question_of(id), tuple(operations), (TOTAL, LAYOUT))

    return [
        case("g1.float32", ["float32"]),
        case("g1.half", ["float16", "bfloat16"]),
        case("g1.float8", ["float8"]),
    ]


def _prefill(device: str) -> list[Scenario]:
    def script() -> Script:
        return Script("bfloat16", device)

    full = script().new(4, 4).fill().arrive("B", 17).arrive("A", 5).prefill("B", "A").arrive("C", 8).arrive("D", 1)
    return [
        _scenario("g2.basic", script().new(8, 4).fill().arrive("A", 6)),
        _scenario("g2.many", script().new(12, 4).fill(1).arrive("A", 4).arrive("B", 9).arrive("C", 1).arrive("D", 16)),
        _scenario("g2.refusal", full),
    ]


def _decode(device: str) -> list[Scenario]:
    def script() -> Script:
        return Script("bfloat16", device)

    full = script().new(2, 4).fill().hold("A", [1], 4).hold("B", [0], 3).decode("A", 2).decode("B").decode("B")
    return [
        _scenario("g3.basic", script().new(8, 4).fill().hold("A", [5, 2], 6).decode("A")),
        _scenario("g3.grows", script().new(8, 4).fill(1).hold("A", [6, 1], 7).decode("A", 6)),
        _scenario("g3.refusal", full),
    ]


def _read(device: str) -> list[Scenario]:
    basic = Script("bfloat16", device).new(8, 4, 3).fill().request("A", 14).place("A", [3, 1, 7, 0], 14).read("A")
    basic.request("B", 6).place("B", [2, 5], 6).read("B")
    others: list[Operation] = []
    for dtype in ("float16", "float32", "float64"):
        script = Script(dtype, device).new(6, 4, 3, m=dtype).fill_only([5, 0, 3], 10)
        others += script.request(dtype, 10).place(dtype, [5, 0, 3], 10).read(dtype).operations
    dtypes = Script()
    dtypes.operations = others
    current = Script("bfloat16", device).new(6, 5, 2).fill(1).request("A", 10).place("A", [4, 1], 10).read("A")
    current.fill(2).read("A").place("A", [2], 1).read("A").place("A", [2, 6], 6).read("A")
    return [
        _scenario("g4.basic", basic, Operation("again", (1,))),
        _scenario("g4.dtypes", dtypes),
        _scenario("g4.current_values", current, Operation("again", (1,))),
        _scenario("g4.vast", _vast(device)),
    ]


def _vast(device: str) -> Script:
    script = Script("bfloat16", device)
    rows = unique_cells(VAST_ROWS * VAST[2], "bfloat16")
    script.operations.append(Operation("vast", ("m", *VAST, "bfloat16", device), rows))
    script.request("A", VAST_ROWS).place("A", [VAST[0] - 1], VAST_ROWS)
    script.operations.append(Operation("read", ("m", "A")))
    return script
