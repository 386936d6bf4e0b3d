"""Reconstruction of a non-contiguous cache. Made from the table of questions."""

from otter.test_files import test_case

from autograder.contract.checkable import Checkable

OK_FORMAT = False

name = "q4"
points = 15


@test_case(name="q4.basic", points=2, hidden=True)
def test_q4_basic(submission: Checkable) -> None:
    submission.check("q4.basic")


@test_case(name="q4.cuts_the_tail", points=2, hidden=True)
def test_q4_cuts_the_tail(submission: Checkable) -> None:
    submission.check("q4.cuts_the_tail")


@test_case(name="q4.sizes", points=1, hidden=True)
def test_q4_sizes(submission: Checkable) -> None:
    submission.check("q4.sizes")


@test_case(name="q4.dtypes", points=2, hidden=True)
def test_q4_dtypes(submission: Checkable) -> None:
    submission.check("q4.dtypes")


@test_case(name="q4.foreign_blocks", points=1, hidden=True)
def test_q4_foreign_blocks(submission: Checkable) -> None:
    submission.check("q4.foreign_blocks")


@test_case(name="q4.current_values", points=1, hidden=True)
def test_q4_current_values(submission: Checkable) -> None:
    submission.check("q4.current_values")


@test_case(name="q4.changes_nothing", points=1, hidden=True)
def test_q4_changes_nothing(submission: Checkable) -> None:
    submission.check("q4.changes_nothing")


@test_case(name="q4.refuses_bad_tables", points=1, hidden=True)
def test_q4_refuses_bad_tables(submission: Checkable) -> None:
    submission.check("q4.refuses_bad_tables")


@test_case(name="q4.real_size", points=2, hidden=True)
def test_q4_real_size(submission: Checkable) -> None:
    submission.check("q4.real_size")


@test_case(name="q4.again", points=2, hidden=True)
def test_q4_again(submission: Checkable) -> None:
    submission.check("q4.again")
