"""The stand-in follows CUDA's rules: every idiom of reading is judged as on a GPU, in one process without any walls."""

from collections.abc import Callable

import pytest
from classes import solution
from device_idioms import ALL, TABLE, agrees, judged, source
from device_samples import in_this_process


@pytest.fixture(scope="module")
def on_stand_in() -> Callable:
    return in_this_process()


def test_the_right_solution_passes(on_stand_in) -> None:
    assert judged(on_stand_in, solution()) == {}


def test_every_rule_has_a_source_and_every_idiom_a_name_of_its_own() -> None:
    assert all(entry["source"] for entry in TABLE["rules"].values())
    assert len({name for _, name, _, _ in ALL}) == len(ALL) >= 121


@pytest.mark.parametrize(("rule", "name", "line", "code"), ALL, ids=[name for _, name, _, _ in ALL])
def test_an_idiom_is_judged_as_on_cuda(on_stand_in, rule: str, name: str, line: str, code: str) -> None:
    found = judged(on_stand_in, source(line, code))
    if name in TABLE["refused"]:
        assert found, "it works now; take it off the list"
    else:
        assert agrees(name, rule, found), found
