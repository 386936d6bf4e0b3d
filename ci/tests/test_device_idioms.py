"""The stand-in follows CUDA's rules: every idiom of reading is judged as on a GPU, in one process without any walls."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from classes import solution
from device_samples import JOIN, RETURN

from autograder.contract.device_compare import device_deviation
from autograder.contract.device_scenarios import device_scenarios
from autograder.sandbox.inside.device_executor import executor_on

TABLE = tomllib.loads((Path(__file__).parent / "device_idioms.toml").read_text(encoding="utf-8"))
ALL = [(rule, *idiom) for rule, entry in TABLE["rules"].items() for idiom in entry["idioms"]]
LINES = {"join": JOIN, "return": RETURN}
PLACES = {
    "P": "self.physical_kv_cache",
    "D": "self.physical_kv_cache.device",
    "T": "req.block_table",
    "N": "req.seq_len",
    "H": "self.head_dim",
    "B": "self.block_size",
}


@pytest.fixture(scope="module")
def on_stand_in() -> Callable:
    return executor_on("fakegpu")


def judged(executor: Callable, source: str) -> dict[str, str]:
    """Return what each case of g4 finds, where it finds anything."""
    names: dict = {}
    exec(source, names)
    found = {}
    for id, scenario in device_scenarios("fakegpu").items():
        if scenario.question != "g4":
            continue
        on = executor(names, [o.payload for o in scenario.operations if o.payload])
        state: dict = {"managers": {}, "requests": {}}
        trace = []
        for operation in scenario.operations:
            seen = on.observe([operation.name, *operation.args])
            for kind, changed in (seen["state"] or {}).items():
                for label, fields in changed.items():
                    before = state[kind].get(label, {})
                    state = {**state, kind: {**state[kind], label: {**before, **_with_bytes(fields, on)}}}
            trace.append({**_with_bytes(seen, on), "state": state})
        deviation = device_deviation(scenario, trace)
        if deviation:
            found[id] = deviation.finding.code
    return found


def _with_bytes(value, on):
    """Return plain data with the bytes of its tensors in place, as the trusted side reads them."""
    if not isinstance(value, dict):
        return value
    if "blob" in value:
        return {**{k: v for k, v in value.items() if k != "blob"}, "bytes": on.encoder.blobs[value["blob"]]}
    return {key: _with_bytes(item, on) for key, item in value.items()}


def test_the_right_solution_passes(on_stand_in) -> None:
    assert judged(on_stand_in, solution()) == {}


def test_every_rule_has_a_source_and_every_idiom_a_name_of_its_own() -> None:
    assert all(entry["source"] for entry in TABLE["rules"].values())
    assert len({name for _, name, _, _ in ALL}) == len(ALL) >= 121


@pytest.mark.parametrize(("rule", "name", "line", "code"), ALL, ids=[name for _, name, _, _ in ALL])
def test_an_idiom_is_judged_as_on_cuda(on_stand_in, rule: str, name: str, line: str, code: str) -> None:
    for letter, meaning in PLACES.items():
        code = code.replace("{" + letter + "}", meaning)
    found = judged(on_stand_in, solution((LINES[line], code.replace("\n", "\n    "))))
    expected = TABLE["rules"][rule]["says"]
    if name in TABLE["refused"]:
        assert found, "it works now; take it off the list"
    elif expected == "ok":
        assert found == {}
    else:
        assert found.get("g4.basic") == expected
