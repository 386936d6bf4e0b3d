"""The catalogue of mistakes: every one is caught, and every one is blamed on the right questions."""

import tomllib
from pathlib import Path

import pytest

from autograder.contract.scenarios import scenarios
from autograder.grading.mutation.mutants import load_mutants
from autograder.grading.mutation.score import Score, score_mutants

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
