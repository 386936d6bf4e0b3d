"""The real engine as judge: sequences recorded from vLLM are replayed against the reference model and the solution."""

import json
from pathlib import Path

import pytest
from classes import MASTER

from autograder.contract.compare import first_deviation
from autograder.contract.model import ReferenceModel
from autograder.contract.operations import Operation
from autograder.intake.script import script_cells
from autograder.sandbox.client import ForkServer

GOLDEN = json.loads((Path(__file__).parent / "data" / "golden_vllm0320.json").read_text())


def replay(recorded: dict) -> list[str]:
    """Return every step at which the model decides differently from the engine."""
    model = ReferenceModel()
    model.apply(Operation("new", ("m", recorded["num_blocks"], recorded["block_size"], 1, "float32", "cpu")))
    differences = []
    for step in recorded["ops"]:
        name, number = step[0], step[1]
        r, (outcome, blocks, free) = f"r{number}", step[-3:]
        if name == "prefill" and r not in model.requests:
            model.apply(Operation("request", (r, number, step[2])))
        seen = model.apply(Operation(name, ("m", r)))
        held = len(model.requests[r].table)
        if (seen.outcome, len(model.pools["m"].free)) != (outcome, free) or blocks not in (None, held):
            differences.append(f"{step}: {seen.outcome}, {held} blocks, {len(model.pools['m'].free)} free")
    return differences


def test_there_are_two_hundred_recorded_sequences_of_every_kind():
    assert len(GOLDEN) == 200
    assert {1} < {recorded["block_size"] for recorded in GOLDEN}
    assert any(step[-3] == "OOM" for recorded in GOLDEN for step in recorded["ops"])


@pytest.mark.parametrize("recorded", GOLDEN, ids=lambda recorded: f"seed{recorded['seed']}")
def test_the_reference_model_decides_as_the_engine_does(recorded):
    assert replay(recorded) == []


def operations_of(recorded: dict) -> tuple[Operation, ...]:
    """Return a recorded sequence as the operations a hidden test would ask for."""
    operations = [Operation("new", ("m", recorded["num_blocks"], recorded["block_size"], 1, "float32", "cpu"))]
    known = set()
    for name, number, *rest in recorded["ops"]:
        if name == "prefill" and number not in known:
            known.add(number)
            operations.append(Operation("request", (f"r{number}", number, rest[0])))
        operations.append(Operation(name, ("m", f"r{number}")))
    return tuple(operations)


def test_the_solution_decides_as_the_engine_does():
    cells = script_cells(MASTER.read_text(encoding="utf-8"))
    with ForkServer() as server, server.spawn() as child:
        assert child.load(cells) == []
        agreed = 0
        for recorded in GOLDEN:
            operations = operations_of(recorded)
            deviation = first_deviation("q5", operations, child.run(operations))
            assert deviation is None, (recorded["seed"], operations[deviation.step], deviation.finding)
            agreed += 1
    assert agreed == 200
