"""The trusted side bears every reply a hostile child could make up; ci/bench/fuzz.py sends a million of them."""

from lying_replies import run


def test_made_up_replies_end_in_a_verdict_and_never_in_an_exception() -> None:
    ends = run(seed=1, count=20_000)
    assert ends["slow"] == 0
    assert ends["failed"] > 500
    assert ends["refused by the decoder"] > 500
    assert ends["refused as a trace"] > 500


def test_the_same_seed_makes_up_the_same_replies() -> None:
    assert run(seed=2, count=300) == run(seed=2, count=300)
