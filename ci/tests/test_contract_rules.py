"""Every rule of the contract, tried on a submission on paper: right ones pass, and each fault breaks its own rule."""

from collections import defaultdict
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from paper import Paper, Refused, out_of_memory
from paper_faults import FAULTS, GIVEN, LEDGERS
from wrong_on_paper import BLOCK, TOKEN, TOTAL, decode_when, reports, wrong

from autograder.contract.compare import Deviation, first_deviation
from autograder.contract.operations import Operation
from autograder.contract.quiet import spoken_aloud
from autograder.contract.scenario import Script
from autograder.contract.scenarios import scenarios

Fault = Callable[[type[Paper]], type[Paper]]


MOST_CALLS = 150
"""Of a case that a wrong submission is tried on: each fault shows in a short one."""


@cache
def asked(every: bool) -> dict[str, tuple[Operation, ...]]:
    """Return the operations of every case, or of the short ones."""
    aloud = {case: spoken_aloud(whole.by_hand or whole.operations) for case, whole in scenarios().items()}
    return {case: operations for case, operations in aloud.items() if every or len(operations) <= MOST_CALLS}


def judged(paper: type[Paper]) -> dict[str, Deviation]:
    """Return every case that a submission loses, with the deviation: what another TODO is guilty of costs points there.

    Each is asked as it is where a fault is to be named: by hand where it has such a form, and aloud.
    """
    found = {}
    for case, operations in asked(paper in RIGHT).items():
        whole = scenarios()[case]
        deviation = first_deviation(whole.question, operations, paper().answer(operations), whole.focus)
        if deviation and (deviation.owner in (whole.question, "q5") or whole.question == "q5"):
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


RIGHT = (Paper, FirstFree, OtherKinds)


@pytest.mark.parametrize("paper", RIGHT)
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


@pytest.mark.parametrize(
    ("blocks", "rows", "code"),
    [
        (1, 4, "read.uncut"),
        (1, 2, "read.tail"),
        (3, 4, "read.first_block"),
        (3, 8, "read.last_block"),
        (3, 12, "read.uncut"),
        (3, 9, "read.tail"),
    ],
)
def test_a_wrong_cut_is_named_by_the_number_of_rows_that_came_back(blocks: int, rows: int, code: str) -> None:
    class Cuts(Paper):
        def read(self, m: dict[str, Any], r: dict[str, Any]) -> Any:
            return super().read(m, {**r, "seq_len": rows})

    operations = Script().new(4, 4, 2).fill().arrive("A", 4 * blocks - 1).read("A").operations
    found = first_deviation("q4", operations, Cuts().answer(operations))
    assert found is not None
    assert found.finding.code == code


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
    assert found["q2"] <= {"blocks.kind", "blocks.entry", "blocks.lost"}


@pytest.mark.parametrize(("field", "value"), [("seq_len", {"float": "0x1p+2"}), ("seq_len", {"other": "bool"})])
def test_a_length_of_another_kind_is_named(field: str, value: Any) -> None:
    def seen(self: Paper, r: dict[str, Any]) -> dict[str, Any]:
        return Paper.seen_request(self, r) | ({field: value} if r["table"] else {})

    assert rules(wrong(seen_request=seen))["q2"] <= {"blocks.kind", "blocks.entry", "blocks.number"}


@pytest.mark.parametrize("value", [{"other": "set"}, None, {"list": [{"float": "0x1p+1"}]}])
def test_a_table_of_another_kind_is_named(value: Any) -> None:
    def seen(self: Paper, r: dict[str, Any]) -> dict[str, Any]:
        return Paper.seen_request(self, r) | ({"table": value} if r["table"] else {})

    assert rules(wrong(seen_request=seen))["q2"] <= {"blocks.kind", "blocks.entry", "blocks.number"}


# Who pays


def test_a_table_that_cannot_grow_is_prefill_s_fault() -> None:
    class Frozen(Paper):
        def seen_request(self, r: dict[str, Any]) -> dict[str, Any]:
            return {**super().seen_request(r), "table": {"tuple": list(r["table"])}}

        def decode(self, m: dict[str, Any], r: dict[str, Any]) -> Any:
            raise Refused("AttributeError")

    operations = scenarios()["q2.table_can_grow"].operations
    grown = first_deviation("q2", operations, Frozen().answer(operations))
    assert grown is not None
    assert (grown.finding.code, grown.owner) == ("prefill.grow", "q2")
    lost = judged(Frozen)
    assert {d.owner for case, d in lost.items() if d.finding.code == "prefill.grow"} <= {"q2"}
    assert not [case for case in lost if case.startswith("q3") and lost[case].finding.code == "prefill.grow"]


def test_the_step_at_fault_is_the_first_one() -> None:
    late = wrong(decode=decode_when(lambda n, t, b: n > t * b))
    for case, deviation in judged(late).items():
        whole = scenarios()[case]
        before = spoken_aloud(whole.by_hand or whole.operations)[: deviation.step]
        assert first_deviation(whole.question, before, late().answer(before), whole.focus) is None


def test_a_manager_made_again_forgets_its_requests() -> None:
    new = Operation("new", ("m", 4, 2, 1, "float32", "cpu"))
    operations = (new, Operation("request", ("A", 7, 3)), Operation("prefill", ("m", "A")), new)
    assert first_deviation("q2", operations, Paper().answer(operations)) is None
