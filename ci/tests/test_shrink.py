"""A failing case becomes the shortest one that shows the same fault."""

import pytest
from wrong_on_paper import decode_when, wrong

from autograder.contract.compare import Deviation, first_deviation
from autograder.contract.operations import Operation
from autograder.contract.quiet import spoken_aloud
from autograder.contract.scenarios import scenarios
from autograder.contract.shrink import shrink
from autograder.findings import Finding


@pytest.mark.parametrize("trials", [0, 1, 40])
def test_what_comes_after_the_fault_is_cut_before_anything_is_tried(trials: int) -> None:
    paper = wrong(decode=decode_when(lambda n, t, b: n > t * b))
    scenario = scenarios()["q3.grows_when_full"]
    operations = spoken_aloud(scenario.by_hand or scenario.operations)
    deviation = first_deviation("q3", operations, paper().answer(operations))
    assert deviation is not None
    tried = 0

    def run(operations: tuple[Operation, ...]) -> Deviation | None:
        nonlocal tried
        tried += 1
        return first_deviation("q3", operations, paper().answer(operations))

    shortest = shrink(operations, deviation, run, trials)
    assert len(shortest) <= deviation.step + 1
    assert tried <= trials
    again = first_deviation("q3", shortest, paper().answer(shortest))
    assert again is not None
    assert (again.finding.code, again.step) == (deviation.finding.code, len(shortest) - 1)
    if trials == 40:
        assert len(shortest) <= 6


def test_a_shorter_scenario_that_breaks_another_rule_explains_the_wrong_fault() -> None:
    """Every prefill leaks, every growth too: the growth was to be explained, and prefill alone is shorter."""
    operations = (
        Operation("new", ("m", 4, 2, 1, "float32", "cpu")),
        Operation("request", ("A", 7, 2)),
        Operation("prefill", ("m", "A")),
        Operation("decode", ("m", "A")),
    )

    def run(candidate: tuple[Operation, ...]) -> Deviation | None:
        for name, code in (("decode", "decode.grow"), ("prefill", "prefill.count")):
            steps = [i for i, operation in enumerate(candidate) if operation.name == name]
            if steps:
                return Deviation(steps[0], Finding(code), "q2")
        return None

    grown = run(operations)
    assert grown is not None
    assert [operation.name for operation in shrink(operations, grown, run, 40)] == [o.name for o in operations]
    leaked = run(operations[:3])
    assert leaked is not None
    assert [operation.name for operation in shrink(operations, leaked, run, 40)] == [o.name for o in operations[:3]]
