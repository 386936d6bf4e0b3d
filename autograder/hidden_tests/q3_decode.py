"""Decode growth: a block exactly when the last one is full, and rollback. Made from the table of questions."""

from otter.test_files import test_case

from autograder.contract.checkable import Checkable

OK_FORMAT = False

name = "q3"
points = 20


@test_case(name="q3.basic", points=2, hidden=True)
def test_q3_basic(submission: Checkable) -> None:
    submission.check("q3.basic")


@test_case(name="q3.grows_when_full", points=3, hidden=True)
def test_q3_grows_when_full(submission: Checkable) -> None:
    submission.check("q3.grows_when_full")


@test_case(name="q3.block_size_one", points=3, hidden=True)
def test_q3_block_size_one(submission: Checkable) -> None:
    submission.check("q3.block_size_one")


@test_case(name="q3.keeps_places", points=1, hidden=True)
def test_q3_keeps_places(submission: Checkable) -> None:
    submission.check("q3.keeps_places")


@test_case(name="q3.last_block", points=1, hidden=True)
def test_q3_last_block(submission: Checkable) -> None:
    submission.check("q3.last_block")


@test_case(name="q3.refusal_changes_nothing", points=2, hidden=True)
def test_q3_refusal_changes_nothing(submission: Checkable) -> None:
    submission.check("q3.refusal_changes_nothing")


@test_case(name="q3.retry_after_release", points=1, hidden=True)
def test_q3_retry_after_release(submission: Checkable) -> None:
    submission.check("q3.retry_after_release")


@test_case(name="q3.requests_apart", points=1, hidden=True)
def test_q3_requests_apart(submission: Checkable) -> None:
    submission.check("q3.requests_apart")


@test_case(name="q3.small_scope", points=1, hidden=True)
def test_q3_small_scope(submission: Checkable) -> None:
    submission.check("q3.small_scope")


@test_case(name="q3.real_size", points=3, hidden=True)
def test_q3_real_size(submission: Checkable) -> None:
    submission.check("q3.real_size")


@test_case(name="q3.long_life", points=2, hidden=True)
def test_q3_long_life(submission: Checkable) -> None:
    submission.check("q3.long_life")
