"""The catalogue of mistakes: every one is caught, and every one is blamed on the right questions."""

import tomllib
from pathlib import Path

import pytest
from classes import module_of
from in_process import by_hand, deviation_of

from autograder.contract.questions import questions
from autograder.contract.scenarios import scenarios
from autograder.findings import Finding
from autograder.grading.mutation.mutants import Mutant, load_mutants
from autograder.grading.mutation.score import Score, score_mutants
from autograder.grading.one.verdict import Verdict

CATALOGUE = Path(__file__).resolve().parents[2] / "solutions" / "mutants"
JOBS = 2

pytestmark = pytest.mark.timeout(900)  # the whole catalogue, on a machine that others use as well

MUTANTS = load_mutants([CATALOGUE])


@pytest.fixture(scope="session")
def scores() -> list[Score]:
    return list(score_mutants(MUTANTS, JOBS, allow_weak=True))


def test_every_mutant_is_killed(scores: list[Score]) -> None:
    survivors = [score.line() for score in scores if not score.killed]
    assert not survivors, "\n".join(survivors)


def test_every_mutant_costs_exactly_the_questions_it_names(scores: list[Score]) -> None:
    misjudged = [score.line() for score in scores if not score.attributed]
    assert not misjudged, "\n".join(misjudged)


def test_every_hidden_case_is_needed_by_some_mutant(scores: list[Score]) -> None:
    caught = {case for score in scores for case in score.killed_by}
    assert set(scenarios()) - caught == set()


def test_every_todo_and_the_given_code_have_mutants_of_their_own() -> None:
    assert {frozenset({f"q{n}"}) for n in range(1, 6)} <= {mutant.loses for mutant in MUTANTS}
    assert len(MUTANTS) >= 130


def test_names_and_lessons_are_unique() -> None:
    tables = [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(CATALOGUE.glob("*.toml"))]
    names = [name for table in tables for name in table if name != "master"]
    assert len(names) == len(set(names)) == len(MUTANTS)
    assert len({mutant.lesson for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("question", ["q3", "q4"])
def test_both_forms_of_a_questions_cases_kill_the_same_mutants(question: str) -> None:
    """Which form decides hangs on other TODOs; what is wrong in this one must not."""
    cases = [case for case in scenarios().values() if case.question == question]
    forms = ("calls", cases), ("by hand", [by_hand(case) for case in cases])
    sources = {m.name: module_of(m.cells) for m in MUTANTS if m.loses == {question} and not m.on_device}
    sources.pop("decode-cell-does-not-parse", "")
    assert len(sources) >= 80
    missed = [
        f"{name} {form}"
        for name, source in sources.items()
        for form, asked in forms
        if not any(deviation_of(source, case) for case in asked)
    ]
    assert missed == []


@pytest.mark.parametrize(
    ("header", "loses", "either"),
    [
        ("TODO 3", {"q3"}, False),
        ("TODO 2 and TODO 4", {"q2", "q4"}, False),
        ("q5", {"q5"}, False),
        ("TODO 2, TODO 3 or q5", {"q2", "q3", "q5"}, True),
        ("TODO 4 (TODO 2 is free to order)", {"q4"}, False),
    ],
)
def test_a_module_names_what_it_loses(header: str, loses: set[str], either: bool, tmp_path: Path) -> None:
    module = tmp_path / "mutant.py"
    module.write_text(f"# WRONG: of a kind\n# LOSES: {header}\n", encoding="utf-8")
    [mutant] = load_mutants([module])
    assert (mutant.loses, mutant.either) == (loses, either)


@pytest.mark.parametrize(
    ("either", "lost", "attributed"), [(True, ["q5"], True), (True, [], False), (False, ["q5"], False)]
)
def test_with_or_in_its_header_a_mutant_may_lose_either(either: bool, lost: list[str], attributed: bool) -> None:
    mutant = Mutant("m", "", (), frozenset({"q2", "q5"}), either=either)
    failed = Verdict("failed", Finding("rule.broken"))
    assert Score(mutant, {questions()[q].cases[0].id: failed for q in lost}).attributed is attributed
