"""Every rule of the contract, tried on a submission on paper: right ones pass, and each fault breaks its own rule."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from paper import Paper, Refused, out_of_memory
from paper_faults import BLOCK, FAULTS, GIVEN, LEDGERS, TOKEN, TOTAL, decode_when, raises, read_with, reports, wrong

from autograder.contract.compare import Deviation, first_deviation, judged_start
from autograder.contract.device_compare import device_deviation
from autograder.contract.device_scenarios import device_scenarios
from autograder.contract.operations import Operation
from autograder.contract.scenarios import scenarios
from autograder.contract.shrink import shrink

Fault = Callable[[type[Paper]], type[Paper]]


def judged(paper: type[Paper]) -> dict[str, Deviation]:
    """Return every case that a submission loses, with the deviation."""
    found = {}
    for case, scenario in scenarios().items():
        trace = paper().answer(scenario.operations)
        deviation = first_deviation(scenario.question, scenario.operations, trace, scenario.focus)
        if deviation:
            found[case] = deviation
    return found


def rules(paper: type[Paper]) -> dict[str, set[str]]:
    """Return, by question, the rules that were broken."""
    found = defaultdict(set)
    for case, deviation in judged(paper).items():
        found[case[:2]].add(deviation.finding.code)
    return dict(found)


class FirstFree(Paper):
    def take(self, m: dict[str, Any], count: int) -> list[int]:
        if count > len(m["free"]):
            raise out_of_memory()
        return [m["free"].pop(0) for _ in range(count)]


class OtherKinds(Paper):
    """Tables and free lists as other sequences, an error class of its own for a full pool."""

    def seen_manager(self, m: dict[str, Any]) -> dict[str, Any]:
        return {**super().seen_manager(m), "free": {"sequence": list(reversed(m["free"]))}}

    def seen_request(self, r: dict[str, Any]) -> dict[str, Any]:
        return {**super().seen_request(r), "table": {"tuple": list(r["table"])}}

    def take(self, m: dict[str, Any], count: int) -> list[int]:
        if count > len(m["free"]):
            raise Refused("PoolFull", "RuntimeError", oom=True)
        return super().take(m, count)


@pytest.mark.parametrize("paper", [Paper, FirstFree, OtherKinds])
def test_a_right_submission_breaks_no_rule_whichever_blocks_it_takes(paper: type[Paper]) -> None:
    assert judged(paper) == {}


@pytest.mark.parametrize("fault", LEDGERS)
def test_a_fault_of_the_ledger_breaks_its_rule_in_the_cases_about_it(fault: str) -> None:
    ledger, code, cases = LEDGERS[fault]
    lost = judged(wrong(ledger=ledger))
    assert {deviation.finding.code for deviation in lost.values()} == {code}
    assert {case for case in lost if case != "q1.exact_integers"} >= {f"q1.{case}" for case in cases}
    assert all(case.startswith("q1.") and d.owner == "q1" for case, d in lost.items())
    assert ("q1.refuses_non_positive" in lost) == (code == "ledger.refusal")


@pytest.mark.parametrize(("entry", "case"), [(BLOCK, "q1.per_block"), (TOTAL, "q1.total")])
def test_a_level_that_follows_from_a_wrong_one_below_costs_nothing(entry: str, case: str) -> None:
    def ledger(self: Paper, num_blocks: int, block_size: int, *rest: int) -> Any:
        told = Paper.ledger(self, num_blocks, block_size, *rest)["dict"]
        below = told[TOKEN] // 2 if entry == BLOCK else told[BLOCK] + 8
        if entry == BLOCK:
            told = told | {TOKEN: below, BLOCK: below * block_size, TOTAL: below * block_size * num_blocks}
        else:
            told = told | {BLOCK: below, TOTAL: below * num_blocks}
        return {"dict": told}

    lost = judged(wrong(ledger=ledger))
    assert case not in lost
    assert "q1.total" not in lost
    assert ("q1.per_token" in lost, "q1.per_block" in lost) == (entry == BLOCK, entry == TOTAL)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_breaks_its_own_rule_in_its_own_question(fault: str) -> None:
    methods, expected = FAULTS[fault]
    found = rules(wrong(**methods))
    assert {question: codes for question, codes in found.items() if question != "q5"} == expected


@pytest.mark.parametrize("fault", GIVEN)
def test_a_fault_of_given_code_costs_points_in_q5(fault: str) -> None:
    methods, expected = GIVEN[fault]
    found = rules(wrong(**methods))
    assert found["q5"] & expected, found
    lost = [d for case, d in judged(wrong(**methods)).items() if case.startswith("q5") and d.finding.code in expected]
    assert {deviation.owner for deviation in lost} == {"q5"}


def test_a_report_within_rounding_is_right() -> None:
    close = reports("utilization", lambda v: {"float": (float.fromhex(v["float"]) + 1e-12).hex()})
    assert judged(wrong(report=close)) == {}


# Kinds of values


class Odd(Paper):
    kind: Any = None

    def seen_manager(self, m: dict[str, Any]) -> dict[str, Any]:
        return super().seen_manager(m) | (
            {"free": self.kind} if any(r["table"] for r in self.requests.values()) else {}
        )


@pytest.mark.parametrize("kind", [{"list": [{"other": "bool"}]}, {"other": "set"}, {"list": 3}, 3, None, {"dict": {}}])
def test_a_free_list_of_another_kind_is_named(kind: Any) -> None:
    found = rules(type("Wrong", (Odd,), {"kind": kind}))
    assert found["q2"] == {"blocks.kind"}


@pytest.mark.parametrize(("field", "value"), [("seq_len", {"float": "0x1p+2"}), ("seq_len", {"other": "bool"})])
def test_a_length_of_another_kind_is_named(field: str, value: Any) -> None:
    def seen(self: Paper, r: dict[str, Any]) -> dict[str, Any]:
        return Paper.seen_request(self, r) | ({field: value} if r["table"] else {})

    assert rules(wrong(seen_request=seen))["q2"] == {"blocks.kind"}


@pytest.mark.parametrize("value", [{"other": "set"}, None, {"list": [{"float": "0x1p+1"}]}])
def test_a_table_of_another_kind_is_named(value: Any) -> None:
    def seen(self: Paper, r: dict[str, Any]) -> dict[str, Any]:
        return Paper.seen_request(self, r) | ({"table": value} if r["table"] else {})

    assert rules(wrong(seen_request=seen))["q2"] == {"blocks.kind"}


# Who pays


def test_a_table_that_cannot_grow_is_prefill_s_fault() -> None:
    class Frozen(Paper):
        def seen_request(self, r: dict[str, Any]) -> dict[str, Any]:
            return {**super().seen_request(r), "table": {"tuple": list(r["table"])}}

        def decode(self, m: dict[str, Any], r: dict[str, Any]) -> Any:
            raise Refused("AttributeError")

    lost = judged(Frozen)
    assert lost["q2.table_can_grow"].finding.code == "prefill.grow"
    assert {d.owner for case, d in lost.items() if d.finding.code == "prefill.grow"} == {"q2"}
    assert not [case for case in lost if case.startswith("q3") and lost[case].finding.code == "prefill.grow"]


def test_what_a_question_uses_without_judging_costs_nothing_there() -> None:
    release_fails = judged(wrong(release=raises("KeyError")))
    assert {case[:2] for case in release_fails} == {"q5"}
    prefill_fails = judged(wrong(prefill=raises("KeyError")))
    assert {case[:2] for case in prefill_fails} == {"q2", "q5"}


def test_the_step_at_fault_is_the_first_one() -> None:
    lost = judged(wrong(decode=decode_when(lambda n, t, b: n > t * b)))
    for case, deviation in lost.items():
        operations = scenarios()[case].operations
        assert operations[deviation.step].name == "decode"
        before = operations[: deviation.step]
        trace = wrong(decode=decode_when(lambda n, t, b: n > t * b))().answer(before)
        assert first_deviation(case[:2], before, trace, scenarios()[case].focus) is None


@pytest.mark.parametrize("case", scenarios())
def test_a_scenario_is_judged_from_its_start_up_to_the_first_foreign_call(case: str) -> None:
    foreign = {"q2": {"ledger", "decode", "read", "release"}, "q3": {"ledger", "prefill", "read", "release"}}
    scenario = scenarios()[case]
    at = next((i for i, o in enumerate(scenario.operations) if o.name in foreign.get(scenario.question, ())), None)
    expected = None if at is None else replace(scenario, operations=scenario.operations[:at])
    assert judged_start(scenario) == expected


def test_a_manager_made_again_forgets_its_requests() -> None:
    new = Operation("new", ("m", 4, 2, 1, "float32", "cpu"))
    operations = (new, Operation("request", ("A", 7, 3)), Operation("prefill", ("m", "A")), new)
    assert first_deviation("q2", operations, Paper().answer(operations)) is None


# On a device


def ledger_case(excess: int, dtype: str = "float32") -> Deviation | None:
    """Judge g1 where a real pool takes so many bytes more than the right ledger says."""
    scenario = device_scenarios("cuda")[f"g1.{dtype}"]
    trace: list[Any] = []
    for operation in scenario.operations:
        if operation.name == "ledger":
            trace.append({"returned": Paper().ledger(*operation.args), "state": Paper().state()})
        else:
            total = trace[-1]["returned"]["dict"][TOTAL]
            trace.append({"returned": total + excess, "state": Paper().state()})
    return device_deviation(scenario, trace)


@pytest.mark.parametrize("excess", [0, 512, 2 << 20])
def test_a_ledger_may_lie_below_the_memory_taken_by_what_an_allocator_rounds(excess: int) -> None:
    assert ledger_case(excess) is None


@pytest.mark.parametrize("excess", [-1, -512, -(2 << 20), (2 << 20) + 1, 1 << 30])
@pytest.mark.parametrize("dtype", ["float32", "half", "float8"])
def test_a_ledger_above_the_memory_taken_or_far_below_is_wrong(excess: int, dtype: str) -> None:
    deviation = ledger_case(excess, dtype)
    assert deviation is not None
    assert (deviation.finding.code, deviation.owner) == ("device.ledger", "q1")


def test_a_dtype_that_the_device_lacks_is_not_judged_by_its_memory() -> None:
    scenario = device_scenarios("cuda")["g1.float8"]
    ledger = {"returned": Paper().ledger(*scenario.operations[0].args), "state": Paper().state()}
    assert device_deviation(scenario, [ledger, {"returned": None, "state": Paper().state()}]) is None


def seen_on_device(facts: dict[str, Any], case: str = "g2.basic", paper: type[Paper] = Paper) -> Deviation | None:
    """Judge a right submission of whose calls the device tells these facts."""
    scenario, on = device_scenarios("cpu")[case], paper()
    trace = []
    for operation in scenario.operations:
        if operation.name == "watched":
            trace.append({"returned": {"dict": facts}, "state": on.state()})
        else:
            trace.append(on.observe(operation))
    return device_deviation(scenario, trace)


def events(*names: str) -> dict[str, Any]:
    return {"events": {"list": [{"str": name} for name in names]}, "taken": 0}


@pytest.mark.parametrize("case", ["g2.basic", "g3.basic"])
@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (events(), None),
        (events("kernel"), None),
        (events("copy"), "device.copy"),
        (events("wait"), "device.sync"),
        (events("sync", "copy"), "device.sync"),
        (events("elsewhere"), "device.elsewhere"),
        ({**events(), "taken": 512}, "device.memory"),
    ],
)
def test_bookkeeping_leaves_the_device_alone(case: str, facts: dict[str, Any], code: str | None) -> None:
    deviation = seen_on_device(facts, case)
    assert (deviation.finding.code if deviation else None) == code


@pytest.mark.parametrize(
    ("facts", "code"),
    [
        (events("wait"), None),
        ({**events(), "taken": 1 << 20}, None),
        (events("copy"), "device.copy"),
        (events("sync"), "device.sync"),
        (events("index"), "device.index"),
        (events("mixed"), "device.mixed"),
    ],
)
def test_reading_may_take_memory_and_wait_for_indices_but_never_copies(facts: dict[str, Any], code: str | None) -> None:
    deviation = seen_on_device(facts, "g4.basic")
    assert (deviation.finding.code if deviation else None) == code


def test_a_result_elsewhere_or_of_another_dtype_is_named_on_a_device() -> None:
    for change, code in (({"device": "meta"}, "device.elsewhere"), ({"dtype": "float32"}, "device.dtype")):
        moved = wrong(read=read_with(lambda t, m, r, change=change: {"tensor": t | change}))
        deviation = seen_on_device(events(), "g4.basic", moved)
        assert deviation is not None
        assert (deviation.finding.code, deviation.owner) == (code, "q4")


def test_a_cpu_fault_on_a_device_breaks_the_same_rule() -> None:
    deviation = seen_on_device(events(), "g3.grows", wrong(decode=decode_when(lambda n, t, b: n > t * b)))
    assert deviation is not None
    assert deviation.finding.code == "decode.late"


# Shrinking


@pytest.mark.parametrize("trials", [0, 1, 40])
def test_what_comes_after_the_fault_is_cut_before_anything_is_tried(trials: int) -> None:
    paper = wrong(decode=decode_when(lambda n, t, b: n > t * b))
    scenario = scenarios()["q3.grows_when_full"]
    deviation = judged(paper)["q3.grows_when_full"]
    tried = 0

    def run(operations: tuple[Operation, ...]) -> Deviation | None:
        nonlocal tried
        tried += 1
        return first_deviation("q3", operations, paper().answer(operations))

    shortest = shrink(scenario.operations, deviation, run, trials)
    assert len(shortest) <= deviation.step + 1
    assert tried <= trials
    again = first_deviation("q3", shortest, paper().answer(shortest))
    assert again is not None
    assert (again.finding.code, again.step) == (deviation.finding.code, len(shortest) - 1)
    if trials == 40:
        assert len(shortest) <= 6
