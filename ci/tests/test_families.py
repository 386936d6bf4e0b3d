"""Drawn cases: the same for everyone with the seed, within public ranges, right for every right solution."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from classes import CEILING, NEEDS_BLOCK, ROOT, solution
from in_process import by_hand, deviation_of, trace_of

from autograder.contract.families.drawn import FAMILIES, drawn_scenarios
from autograder.contract.ledger import TOTAL
from autograder.contract.model import ReferenceModel
from autograder.contract.questions import questions
from autograder.contract.quiet import calls_of, spoken_aloud
from autograder.contract.scenario import BY_CALLS, Scenario
from autograder.contract.scenarios import scenarios
from autograder.contract.seed import PUBLIC, Seed
from autograder.intake.discover import discover
from autograder.intake.read import read
from autograder.intake.submission import Submission
from autograder.sandbox.client import Limits

SEEDS = [PUBLIC, *(Seed(f"{n:064x}") for n in range(1, 6))]
CASES = [family.case for family in FAMILIES]
RIGHT = sorted((ROOT / "solutions" / "submissions" / "alternative").glob("*.py"))
OWN_BOOKS = {"free-blocks-counted"}
"""Right by their own calls alone: what is set by hand passes their records by."""
CALLS_A_LIFE = 500


def calls(scenario: Scenario) -> list:
    return [call for operation in scenario.operations for call in calls_of(operation)]


def source_of(path: Path) -> str:
    submission = read(discover([path])[0])
    assert isinstance(submission, Submission)
    return "\n\n\n".join(submission.cells)


def test_the_same_seed_draws_the_same_cases_and_another_seed_others():
    families = {family.case: family for family in FAMILIES}
    again = {case: families[case](random.Random(5)) for case in CASES}
    assert all(families[case](random.Random(5)) == again[case] for case in CASES)
    drawn = [drawn_scenarios(seed) for seed in SEEDS]
    for case in CASES:
        assert len({repr(scenarios[case].operations) for scenarios in drawn}) == len(SEEDS)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.sha256[:6])
def test_a_drawn_case_keeps_to_its_public_ranges(case, seed):
    family, drawn = next(f for f in FAMILIES if f.case == case), calls(drawn_scenarios(seed)[case])
    names = {"num_blocks": 1, "block_size": 2, "head_dim": 3}
    for name, place in names.items():
        low, high = family.ranges.get(name, (1, 2))  # where a family names no head dimension, rows are short
        assert all(low <= call.args[place] <= high for call in drawn if call.name == "new")
    model, longest = ReferenceModel(), 0
    for call in drawn:
        value = model.apply(call).value
        if call.name == "ledger":
            assert 0 < value[TOTAL] < 2**63
        if call.name in ("prefill", "decode", "seize"):
            longest = max(longest, len(model.requests[call.args[1]].table))
    assert longest <= family.ranges.get("table", family.ranges["num_blocks"])[1]
    if "calls" in family.ranges:
        assert len(drawn) >= family.ranges["calls"][0] >= CALLS_A_LIFE


@pytest.mark.parametrize("case", [case for case in CASES if not case.startswith("q1")])
@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.sha256[:6])
def test_a_drawn_case_is_of_real_size(case, seed):
    drawn = calls(drawn_scenarios(seed)[case])
    model, longest = ReferenceModel(), 0
    for call in drawn:
        model.apply(call)
        if call.name in ("prefill", "decode", "seize"):
            longest = max(longest, len(model.requests[call.args[1]].table))
    assert max(call.args[1] for call in drawn if call.name == "new") >= 40
    assert longest > 16


@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_every_right_solution_passes_every_drawn_case_on_both_roads(path):
    source = source_of(path)
    for scenario in drawn_scenarios(SEEDS[1]).values():
        for form in [scenario] if path.stem in OWN_BOOKS else [scenario, by_hand(scenario)]:
            assert deviation_of(source, form) is None, scenario.id


@pytest.mark.parametrize("case", CASES)
def test_the_solution_passes_a_drawn_case_spoken_aloud(case):
    scenario = drawn_scenarios(PUBLIC)[case]
    for form in (scenario, by_hand(scenario)):
        aloud = replace(form, operations=spoken_aloud(form.operations))
        assert deviation_of(solution(), aloud) is None


@pytest.mark.parametrize("case", CASES)
def test_a_case_spoken_aloud_stays_within_what_a_child_may_answer(case):
    for seed in SEEDS:
        seen = trace_of(solution(), spoken_aloud(drawn_scenarios(seed)[case].operations))
        assert len(repr(seen[-1])) < Limits().reply_bytes
    assert len(calls(drawn_scenarios(PUBLIC)[case])) < 1500


BIG = {
    "q1": [("2 * num_layers * num_kv_heads", "(2 - (num_kv_heads == 1)) * num_layers * num_kv_heads")],
    "q2": [(CEILING, CEILING + " + (len(self.free_blocks) > 16)")],
    "q3": [(NEEDS_BLOCK, NEEDS_BLOCK + " and len(req.block_table) < 17")],
    "q4": [("for block in req.block_table]", "for block in req.block_table[:16] + sorted(req.block_table[16:])]")],
}


@pytest.mark.parametrize("question", BIG)
@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.sha256[:6])
def test_what_is_wrong_at_real_size_alone_fails_every_drawn_case_of_its_question(question, seed):
    source = solution(*BIG[question])
    drawn = [s for s in drawn_scenarios(seed).values() if s.question == question]
    assert [s.id for s in drawn if None in (deviation_of(source, s), deviation_of(source, by_hand(s)))] == []


@pytest.mark.parametrize("question", ["q2", "q3", "q4"])
def test_cases_of_real_size_carry_a_quarter_of_the_points(question):
    table = questions()
    drawn = sum(case.points for case in table[question].cases if case.id in CASES)
    assert 4 * drawn >= table[question].points


def test_the_form_by_calls_sets_nothing_by_hand_but_the_tables_that_must_be_refused() -> None:
    """A submission with books of its own is right, and what is done past its calls would spoil them."""
    by_hand_names = {*BY_CALLS, "place"}
    touched = {s.id for s in scenarios().values() if by_hand_names & {call.name for call in calls(s)}}
    assert touched == {"q4.refuses_bad_tables", "q5.release_refusals"}
