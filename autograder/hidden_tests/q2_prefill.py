"""Atomic prefill: ceil-division, and nothing half done. Made from the table of questions."""

from otter.test_files import test_case

from autograder.contract.checkable import Checkable

OK_FORMAT = False

name = "q2"
points = 20


@test_case(name="q2.basic", points=2, hidden=True)
def test_q2_basic(submission: Checkable) -> None:
    submission.check("q2.basic")


@test_case(name="q2.boundaries", points=3, hidden=True)
def test_q2_boundaries(submission: Checkable) -> None:
    submission.check("q2.boundaries")


@test_case(name="q2.block_size_one", points=2, hidden=True)
def test_q2_block_size_one(submission: Checkable) -> None:
    submission.check("q2.block_size_one")


@test_case(name="q2.exact_fit", points=2, hidden=True)
def test_q2_exact_fit(submission: Checkable) -> None:
    submission.check("q2.exact_fit")


@test_case(name="q2.refusal_changes_nothing", points=2, hidden=True)
def test_q2_refusal_changes_nothing(submission: Checkable) -> None:
    submission.check("q2.refusal_changes_nothing")


@test_case(name="q2.second_prefill", points=1, hidden=True)
def test_q2_second_prefill(submission: Checkable) -> None:
    submission.check("q2.second_prefill")


@test_case(name="q2.requests_apart", points=1, hidden=True)
def test_q2_requests_apart(submission: Checkable) -> None:
    submission.check("q2.requests_apart")


@test_case(name="q2.table_can_grow", points=1, hidden=True)
def test_q2_table_can_grow(submission: Checkable) -> None:
    submission.check("q2.table_can_grow")


@test_case(name="q2.small_scope", points=1, hidden=True)
def test_q2_small_scope(submission: Checkable) -> None:
    submission.check("q2.small_scope")


@test_case(name="q2.real_size", points=3, hidden=True)
def test_q2_real_size(submission: Checkable) -> None:
    submission.check("q2.real_size")


@test_case(name="q2.crowd", points=2, hidden=True)
def test_q2_crowd(submission: Checkable) -> None:
    submission.check("q2.crowd")
