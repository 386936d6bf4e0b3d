"""The capacity ledger: bytes per token, per block and in all. Made from the table of questions."""

from otter.test_files import test_case

from autograder.contract.checkable import Checkable

OK_FORMAT = False

name = "q1"
points = 15


@test_case(name="q1.per_token", points=3, hidden=True)
def test_q1_per_token(submission: Checkable) -> None:
    submission.check("q1.per_token")


@test_case(name="q1.per_block", points=2, hidden=True)
def test_q1_per_block(submission: Checkable) -> None:
    submission.check("q1.per_block")


@test_case(name="q1.total", points=2, hidden=True)
def test_q1_total(submission: Checkable) -> None:
    submission.check("q1.total")


@test_case(name="q1.dtype_bytes", points=2, hidden=True)
def test_q1_dtype_bytes(submission: Checkable) -> None:
    submission.check("q1.dtype_bytes")


@test_case(name="q1.exact_integers", points=1, hidden=True)
def test_q1_exact_integers(submission: Checkable) -> None:
    submission.check("q1.exact_integers")


@test_case(name="q1.layout", points=1, hidden=True)
def test_q1_layout(submission: Checkable) -> None:
    submission.check("q1.layout")


@test_case(name="q1.refuses_non_positive", points=1, hidden=True)
def test_q1_refuses_non_positive(submission: Checkable) -> None:
    submission.check("q1.refuses_non_positive")


@test_case(name="q1.shapes", points=3, hidden=True)
def test_q1_shapes(submission: Checkable) -> None:
    submission.check("q1.shapes")
