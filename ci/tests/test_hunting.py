"""A short hunt at every place where a stranger's bytes come in; ci/bench/hunt.py goes on for as long as it is told."""

import pytest
from hunting import TARGETS, watched
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(data=st.data())
def test_nothing_a_stranger_sends_raises_or_takes_long(name: str, data: st.DataObject) -> None:
    assert watched(TARGETS[name], data)
