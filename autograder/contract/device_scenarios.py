"""The named scenarios of g1 to g4: what the CPU cases ask, on a device, with every call watched."""

from collections.abc import Iterable
from dataclasses import replace
from random import Random

from autograder.contract.cell_bytes import unique_cells
from autograder.contract.decoys import beside_a_pool, drawn_for, watched
from autograder.contract.ledger import LAYOUT, TOTAL
from autograder.contract.operations import Operation
from autograder.contract.questions import question_of
from autograder.contract.scenario import Operations, Scenario, Script
from autograder.contract.seed import PUBLIC, Seed

LEDGER_DTYPES = {"float32": 4, "float16": 2, "bfloat16": 2, "float8": 1}
VAST = (2049, 1024, 1024)
"""Blocks, block size and head dimension of a pool with more than 2**31 cells."""
VAST_ROWS = 5


def device_scenarios(device: str, seed: Seed = PUBLIC) -> dict[str, Scenario]:
    """Return every scenario of the GPU part by its id; the first of a question is its basic case.

    The seed draws the decoys alone: nobody can know one before it comes, and no honest result depends on it.
    """
    draw = drawn_for(seed)
    parts = (_ledger(draw), _prefill(device, draw), _decode(device, draw), _read(device, draw))
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


def many_calls(device: str) -> tuple[Operation, ...]:
    """Return many calls of each kind on one manager, never judged: they show what is taken and not returned."""
    script = Script("bfloat16", device).new(256, 16, 64)
    for i in range(64):
        script.arrive(f"r{i}", 20).decode(f"r{i}").read(f"r{i}")
    return tuple(script.operations)


def _scenario(id: str, draw: Random, script: Script, *last: Operation) -> Scenario:
    def looked_at(form: Operations) -> Operations:
        return (*watched(form, draw), *last, Operation("gone", ())) if form else ()

    plain = script.scenario(id)
    return replace(plain, operations=looked_at(plain.operations), by_hand=looked_at(plain.by_hand))


def _ledger(draw: Random) -> list[Scenario]:
    def case(id: str, dtypes: Iterable[str]) -> Scenario:
        operations = []
        for dtype in dtypes:
            num_blocks, block_size, layers, heads, head_dim = 370, 16, 3, 5, 128
            shape = [num_blocks, layers, 2, heads, block_size, head_dim]
            dimensions = (num_blocks, block_size, layers, heads, head_dim, LEDGER_DTYPES[dtype])
            operations += [Operation("ledger", dimensions), beside_a_pool(draw), Operation("pool", (dtype, shape))]
        return Scenario(id, question_of(id), tuple(operations), (TOTAL, LAYOUT))

    return [
        case("g1.float32", ["float32"]),
        case("g1.half", ["float16", "bfloat16"]),
        case("g1.float8", ["float8"]),
    ]


def _prefill(device: str, draw: Random) -> list[Scenario]:
    def script() -> Script:
        return Script("bfloat16", device)

    full = script().new(4, 4).fill().arrive("B", 17).arrive("A", 5).prefill("B", "A").arrive("C", 8).arrive("D", 1)
    return [
        _scenario("g2.basic", draw, script().new(8, 4).fill().arrive("A", 6)),
        _scenario(
            "g2.many", draw, script().new(12, 4).fill(1).arrive("A", 4).arrive("B", 9).arrive("C", 1).arrive("D", 16)
        ),
        _scenario("g2.refusal", draw, full),
    ]


def _decode(device: str, draw: Random) -> list[Scenario]:
    def script() -> Script:
        return Script("bfloat16", device)

    full = script().new(2, 4).fill().hold("A", [1], 4).hold("B", [0], 3).decode("A", 2).decode("B").decode("B")
    return [
        _scenario("g3.basic", draw, script().new(8, 4).fill().hold("A", [5, 2], 6).decode("A")),
        _scenario("g3.grows", draw, script().new(8, 4).fill(1).hold("A", [6, 1], 7).decode("A", 6)),
        _scenario("g3.refusal", draw, full),
    ]


def _read(device: str, draw: Random) -> list[Scenario]:
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
        _scenario("g4.basic", draw, basic, Operation("again", (1,))),
        _scenario("g4.dtypes", draw, dtypes),
        _scenario("g4.current_values", draw, current, Operation("again", (1,))),
        _scenario("g4.vast", draw, _vast(device)),
    ]


def _vast(device: str) -> Script:
    script = Script("bfloat16", device)
    rows = unique_cells(VAST_ROWS * VAST[2], "bfloat16")
    script.operations.append(Operation("vast", ("m", *VAST, "bfloat16", device), rows))
    script.request("A", VAST_ROWS).place("A", [VAST[0] - 1], VAST_ROWS)
    script.operations.append(Operation("read", ("m", "A")))
    return script
