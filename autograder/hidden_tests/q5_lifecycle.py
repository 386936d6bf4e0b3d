"""The life of requests, and the code that was given. Made from the table of questions."""

from otter.test_files import test_case

from autograder.contract.checkable import Checkable

OK_FORMAT = False

name = "q5"
points = 10


@test_case(name="q5.request", points=1, hidden=True)
def test_q5_request(submission: Checkable) -> None:
    submission.check("q5.request")


@test_case(name="q5.report", points=2, hidden=True)
def test_q5_report(submission: Checkable) -> None:
    submission.check("q5.report")


@test_case(name="q5.release", points=2, hidden=True)
def test_q5_release(submission: Checkable) -> None:
    submission.check("q5.release")


@test_case(name="q5.release_refusals", points=1, hidden=True)
def test_q5_release_refusals(submission: Checkable) -> None:
    submission.check("q5.release_refusals")


@test_case(name="q5.lifecycle", points=1, hidden=True)
def test_q5_lifecycle(submission: Checkable) -> None:
    submission.check("q5.lifecycle")


@test_case(name="q5.small_scope", points=1, hidden=True)
def test_q5_small_scope(submission: Checkable) -> None:
    submission.check("q5.small_scope")


@test_case(name="q5.long_life", points=2, hidden=True)
def test_q5_long_life(submission: Checkable) -> None:
    submission.check("q5.long_life")
