"""Ways to read the pool and what CUDA makes of each, and judging one in this process, without any walls."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from classes import solution
from device_samples import JOIN, RETURN

from autograder.contract.device_compare import device_deviation
from autograder.contract.device_scenarios import device_scenarios

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


def source(line: str, code: str) -> str:
    """Return the master's solution with the idiom in it."""
    for letter, meaning in PLACES.items():
        code = code.replace("{" + letter + "}", meaning)
    return solution((LINES[line], code.replace("\n", "\n    ")))


def agrees(name: str, rule: str, found: dict[str, str]) -> bool:
    """Tell whether what g4 found of an idiom is what it must say."""
    expected = TABLE["rules"][rule]["says"]
    return not found if expected == "ok" else found.get("g4.basic") == expected


def judged(executor: Callable, source: str, device: str = "fakegpu") -> dict[str, str]:
    """Return what each case of g4 finds, where it finds anything."""
    names: dict = {}
    exec(source, names)
    found = {}
    for id, scenario in device_scenarios(device).items():
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


def _with_bytes(value: Any, on: Any) -> Any:
    """Return plain data with the bytes of its tensors in place, as the trusted side reads them."""
    if not isinstance(value, dict):
        return value
    if "blob" in value:
        return {**{k: v for k, v in value.items() if k != "blob"}, "bytes": on.encoder.blobs[value["blob"]]}
    return {key: _with_bytes(item, on) for key, item in value.items()}
