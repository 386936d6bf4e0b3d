"""Replies as a hostile child could send them, by the thousand, and what the trusted side does with each.

Some are bytes at random, some true frames with bytes changed, most are frames whose JSON has the shape of a trace with
something odd in it; the last go on to the comparison, which must bear whatever the decoder lets pass.
"""

import json
import random
import time
from collections import Counter
from collections.abc import Iterable
from typing import Any

from autograder.contract.compare import first_deviation
from autograder.contract.observations import open_todo
from autograder.contract.questions import questions
from autograder.contract.scenario import Scenario
from autograder.contract.scenarios import scenarios
from autograder.sandbox.protocol import HEADER, MAGIC, Decoder, ProtocolError
from autograder.sandbox.trusted.validate_reply import notes_of, traces_of

LIMIT = 1 << 16
SLOW_S = 0.5
_ODD = (
    None, True, False, 0, 1, -1, 2, 3, 7, 1 << 31, -(1 << 63), 1 << 64, 10**400, "", "q3", "x" * 500, [], {}, [[]],
    {"list": []}, {"list": [0, 1]}, {"list": [0, True]}, {"list": [[0]]}, {"tuple": [1]}, {"sequence": [3, 2]},
    {"other": "x"}, {"other": 1}, {"other": "ellipsis"}, {"str": "OOM"}, {"float": "0x1p-1"}, {"float": "nan"},
    {"float": "0x1p99999"}, {"float": "inf"}, {"dict": {"kv_bytes_per_token": 1}},
    {"dict": {"utilization": {"float": "inf"}}},
    {"dict": []}, {"tensor": {"dtype": "float32", "shape": [2, 2], "device": "cpu", "blob": 0}},
    {"tensor": {"dtype": "float32", "shape": [1 << 70, -1], "device": "cpu", "blob": 0}},
    {"tensor": {"dtype": "bfloat16", "shape": [], "device": "cuda:0"}}, {"tensor": {"blob": -1}}, {"tensor": None},
    {"list": [{"list": [{"list": [0]}]}]}, {"unknown": 0}, {"list": 1, "tuple": 2},
)  # fmt: skip
_TEXTS = (
    b"[" * 20_000, b'{"traces":' + b"[" * 3000 + b"]" * 3000 + b"}", b'{"a":' * 3000,
    b'{"traces":[' + b"9" * 9000 + b"]}",
    b'{"traces":[1e999]}', b'{"traces":[NaN]}', b'{"traces":["\\ud800"]}', b'{"traces":["\xff"]}', b"null", b"",
    b'"traces"', b'{"loaded":[{"code":"cell.newer","details":{"cell":1,"line":true,"python":"y"}}]}',
    b'{"loaded":[{"code":"cell.newer","details":{"cell":1,"python":"y"}}]}', b'{"loaded":{"errors":[]}}',
    b'{"loaded":[{"code":"run.machine","details":{}}]}', b'{"loaded":[' + b"{}," * 500 + b"{}]}",
    b'{"traces":[],"traces":[],"blobs":[]}',
)  # fmt: skip


def run(seed: int, count: int) -> Counter[str]:
    """Feed ``count`` replies and return what became of them; an exception that is not ProtocolError comes out."""
    chance = random.Random(seed)
    cases = [s for s in scenarios().values() if len(s.operations) <= 10]
    ends: Counter[str] = Counter()
    for _ in range(count):
        scenario = chance.choice(cases)
        started = time.process_time()
        ends[_receive(scenario, _reply(chance, scenario), chance)] += 1
        if time.process_time() - started > SLOW_S:
            ends["slow"] += 1
    return ends


def _receive(scenario: Scenario, reply: bytes, chance: random.Random) -> str:
    decoder = Decoder(LIMIT)
    try:
        frames = [message.read() for chunk in _chunks(reply, chance) for message in decoder.feed(chunk)]
    except ProtocolError:
        return "refused by the decoder"
    if len(frames) != 1:
        return "unfinished"
    try:
        if "loaded" in frames[0].data:
            notes_of(frames[0].data["loaded"], 3)
            return "errors of cells"
        [trace] = traces_of(frames[0], [len(scenario.operations)])
    except ProtocolError:
        return "refused as a trace"
    for observation in trace:
        open_todo(observation, questions()[scenario.question].blanks)
    deviation = first_deviation(scenario.question, scenario.operations, trace, scenario.focus)
    return "failed" if deviation else "passed"


def _chunks(reply: bytes, chance: random.Random) -> Iterable[bytes]:
    cut = chance.randrange(len(reply) + 1) if chance.random() < 0.3 else 0
    return (reply[:cut], reply[cut:]) if cut else (reply,)


def _reply(chance: random.Random, scenario: Scenario) -> bytes:
    kind = chance.random()
    if kind < 0.1:
        return chance.randbytes(chance.randrange(64))
    if kind < 0.15:
        return _frame(chance.choice(_TEXTS), b"")
    sizes = chance.choice(([], [4], [16], [0, 4], [4, 4]))
    told = sizes if chance.random() < 0.9 else chance.choice(([-1], [True], "x", [1 << 70], [3]))
    reply = _frame(_json({"traces": [_trace(chance, scenario)], "blobs": told}), bytes(sum(sizes)))
    if kind < 0.4:
        mutable = bytearray(reply)
        for _ in range(chance.randrange(1, 4)):
            mutable[chance.randrange(len(mutable))] = chance.randrange(256)
        return bytes(mutable)
    return reply


def _frame(text: bytes, blobs: bytes) -> bytes:
    return HEADER.pack(MAGIC, len(text), len(blobs)) + text + blobs


def _json(data: Any) -> bytes:
    return json.dumps(data).encode()


def _trace(chance: random.Random, scenario: Scenario) -> Any:
    labels = sorted({arg for operation in scenario.operations for arg in operation.args if isinstance(arg, str)})
    observations: list[Any] = [_observation(chance, labels) for _ in scenario.operations]
    if observations and chance.random() < 0.05:
        observations.pop()
    return observations


def _observation(chance: random.Random, labels: list[str]) -> Any:
    state: Any = None
    if chance.random() < 0.7:
        state = {
            "managers": {
                m: _parts(chance, ("num_blocks", "block_size", "free", "pool")) for m in _some(chance, labels)
            },
            "requests": {r: _parts(chance, ("seq_len", "table")) for r in _some(chance, labels)},
        }
    if chance.random() < 0.01:
        return chance.choice(_ODD)
    if chance.random() < 0.2:
        return {"raised": _raised(chance), "state": state}
    return {"returned": _value(chance), "state": state}


def _raised(chance: random.Random) -> Any:
    name = chance.choice(("RuntimeError", "ValueError", "NameError", ""))
    return {
        "name": name, "bases": chance.choice(([name], [], ["Exception", name])) if chance.random() < 0.9 else [1],
        "text": "OOM", "oom": chance.random() < 0.5 if chance.random() < 0.9 else 1,
        "blank": chance.choice((None, "blocks", "needed_blocks")),
        "missing": chance.choice((None, None, None, "decode")),
    }  # fmt: skip


def _parts(chance: random.Random, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: _value(chance) for name in names}


def _some(chance: random.Random, labels: list[str]) -> list[str]:
    return [label for label in labels if chance.random() < 0.9]


def _value(chance: random.Random) -> Any:
    if chance.random() < 0.9:
        return chance.choice((0, 4, 8, {"list": [0, 1, 2, 3]}, {"list": []}, {"list": list(range(8))}))
    return chance.choice(_ODD)
