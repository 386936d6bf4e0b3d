"""Whatever the checks on a reply let pass can be judged: odd values in right traces, and nothing raises.

Nor does what leaves with a finding come from anywhere but closed lists.
"""

import copy
import json
import re
from functools import cache
from typing import Any

from classes import solution
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.contract.closed_lists import CONTRACT_NAMES, DTYPES, EXCEPTIONS, KINDS, OWN
from autograder.contract.compare import first_deviation
from autograder.contract.device_compare import device_deviation
from autograder.contract.device_scenarios import device_scenarios
from autograder.contract.observations import open_todo
from autograder.contract.questions import questions
from autograder.contract.scenario import Scenario
from autograder.contract.scenarios import scenarios
from autograder.contract.seed import Seed
from autograder.findings import Finding
from autograder.reporting.words import LANGUAGES, Words
from autograder.sandbox.inside.executor import Executor
from autograder.sandbox.protocol import Frame, ProtocolError
from autograder.sandbox.trusted.validate_reply import traces_of

SMALL = 15
MERSENNE = 2**61 - 1
SECRET = "leaked7word"
WORDS = {*CONTRACT_NAMES, *EXCEPTIONS, *KINDS, *DTYPES, OWN, "-"}
PARTS = {"free", "free_blocks", "pool", "table", "block_table", "seq_len", "request_id", "num_blocks", "block_size"}

ints = st.sampled_from([0, 1, -1, 3, 7, 2**31, -(2**63), 2**64, 10**400, -(10**400), *(k * MERSENNE for k in range(9))])
texts = st.sampled_from(["", SECRET, "OOM", "q3", "ellipsis", "float", "missing", "float32", "x" * 300, "\ud800"])
floats = st.sampled_from(["0x1p-1", "0x1.8p+1000", "-0x0p+0", "nan", "inf", "-inf", "0x1p99999", SECRET])
tensors = st.fixed_dictionaries(
    {"dtype": texts, "shape": st.lists(ints, max_size=4), "device": texts},
    optional={"blob": st.integers(-1, 3)},
)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | ints | st.fixed_dictionaries({"str": texts}) | st.fixed_dictionaries({"other": texts})
    | st.fixed_dictionaries({"float": floats}) | st.fixed_dictionaries({"tensor": tensors}),
    lambda inner: st.one_of(
        *(st.fixed_dictionaries({tag: st.lists(inner, max_size=4)}) for tag in ("list", "tuple", "sequence", "set")),
        st.fixed_dictionaries({"dict": st.dictionaries(texts | st.sampled_from(["utilization", "events"]), inner)}),
    ),
    max_leaves=6,
)  # fmt: skip
raised = st.fixed_dictionaries(
    {
        "name": texts, "bases": st.lists(st.sampled_from(["RuntimeError", "ValueError", "TypeError", SECRET])),
        "text": texts, "oom": st.booleans(), "blank": st.none() | texts,
        "missing": st.none() | st.sampled_from([SECRET, "Request", "get_physical_cache"]),
    }
)  # fmt: skip


@cache
def right_traces() -> list[tuple[Scenario, list[Any], tuple[bytes, ...]]]:
    """Return the small cases with what the solution answers, as it travels."""
    answered = []
    for scenario in scenarios().values():
        if len(scenario.operations) > SMALL:
            continue
        names: dict[str, Any] = {"__name__": "submission"}
        exec(compile(solution(), "submission", "exec"), names)
        executor = Executor(names, [operation.payload for operation in scenario.operations if operation.payload])
        seen = [json.loads(json.dumps(executor.observe(operation.to_wire()))) for operation in scenario.operations]
        answered.append((scenario, seen, tuple(executor.encoder.blobs)))
    return answered


def spoil(data: st.DataObject, seen: list[Any]) -> list[Any]:
    """Return a trace in which one to four things are not as they were."""
    seen = copy.deepcopy(seen)
    for _ in range(data.draw(st.integers(1, 4))):
        observation = seen[data.draw(st.integers(0, len(seen) - 1))]
        states = [part for group in (observation["state"] or {}).values() for part in group.values() if part]
        if states and data.draw(st.booleans()):
            part = data.draw(st.sampled_from(states))
            part[data.draw(st.sampled_from(sorted(part)))] = data.draw(values)
        elif "ends" not in observation:
            observation.pop("returned", None)
            observation.pop("raised", None)
            key, drawn = data.draw(st.sampled_from([("returned", values), ("raised", raised)]))
            observation[key] = data.draw(drawn)
        elif observation["ends"]:
            observation["ends"][data.draw(st.integers(0, len(observation["ends"]) - 1))] = data.draw(st.integers(0, 2))
            observation["raised"] = [data.draw(raised), data.draw(raised)]
    return seen


def is_ours(finding: Finding) -> bool:
    """Tell whether every detail is a word of ours, none of the submission's."""
    details = [str(detail) for detail in finding.details.values()]
    return all(
        detail in WORDS or detail.removeprefix("other_") in PARTS or re.fullmatch(r"[a-z_]{1,20}|\d{1,2}", detail)
        for detail in details
    ) and SECRET not in "".join(details)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_answer_that_is_let_in_is_judged_without_an_exception_and_nothing_of_it_is_repeated(
    data: st.DataObject,
) -> None:
    scenario, seen, blobs = data.draw(st.sampled_from(right_traces()))
    try:
        [trace] = traces_of(Frame({"traces": [spoil(data, seen)]}, blobs), [len(seen)])
    except ProtocolError:
        return
    blanks = questions()[scenario.question].blanks
    found = [open_todo(observation, blanks) for observation in trace]
    deviation = first_deviation(scenario.question, scenario.operations, trace, scenario.focus)
    for finding in [*found, deviation and deviation.finding]:
        if finding:
            assert is_ours(finding), finding
            assert all(SECRET not in Words(lang).sentence(finding) for lang in LANGUAGES)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_odd_facts_from_a_device_are_judged_without_an_exception(data: st.DataObject) -> None:
    scenario = data.draw(st.sampled_from(list(device_scenarios("cuda", Seed("the same decoys each time")).values())))
    state = {"managers": {}, "requests": {}}
    answers = [{"returned": data.draw(values), "state": state} for _ in scenario.operations]
    try:
        [trace] = traces_of(Frame({"traces": [answers]}, ()), [len(answers)])
    except ProtocolError:
        return
    deviation = device_deviation(scenario, trace)
    assert deviation is None or is_ours(deviation.finding)
