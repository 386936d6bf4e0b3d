"""The real engine as judge: sequences recorded from vLLM are replayed against the reference model."""

import json
from pathlib import Path

import pytest

from autograder.contract.model import ReferenceModel
from autograder.contract.operations import Operation

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
