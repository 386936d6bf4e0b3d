"""Questions g1, g2, g3, g4. Made from the table of questions."""

from otter.test_files import test_case

from autograder.contract.checkable import Checkable

OK_FORMAT = False

name = "g"
points = 20


@test_case(name="g1.float32", points=2, hidden=True)
def test_g1_float32(submission: Checkable) -> None:
    submission.check("g1.float32")


@test_case(name="g1.half", points=2, hidden=True)
def test_g1_half(submission: Checkable) -> None:
    submission.check("g1.half")


@test_case(name="g1.float8", points=1, hidden=True)
def test_g1_float8(submission: Checkable) -> None:
    submission.check("g1.float8")


@test_case(name="g2.basic", points=2, hidden=True)
def test_g2_basic(submission: Checkable) -> None:
    submission.check("g2.basic")


@test_case(name="g2.many", points=1, hidden=True)
def test_g2_many(submission: Checkable) -> None:
    submission.check("g2.many")


@test_case(name="g2.refusal", points=2, hidden=True)
def test_g2_refusal(submission: Checkable) -> None:
    submission.check("g2.refusal")


@test_case(name="g3.basic", points=2, hidden=True)
def test_g3_basic(submission: Checkable) -> None:
    submission.check("g3.basic")


@test_case(name="g3.grows", points=1, hidden=True)
def test_g3_grows(submission: Checkable) -> None:
    submission.check("g3.grows")


@test_case(name="g3.refusal", points=2, hidden=True)
def test_g3_refusal(submission: Checkable) -> None:
    submission.check("g3.refusal")


@test_case(name="g4.basic", points=2, hidden=True)
def test_g4_basic(submission: Checkable) -> None:
    submission.check("g4.basic")


@test_case(name="g4.dtypes", points=1, hidden=True)
def test_g4_dtypes(submission: Checkable) -> None:
    submission.check("g4.dtypes")


@test_case(name="g4.current_values", points=1, hidden=True)
def test_g4_current_values(submission: Checkable) -> None:
    submission.check("g4.current_values")


@test_case(name="g4.vast", points=1, hidden=True)
def test_g4_vast(submission: Checkable) -> None:
    submission.check("g4.vast")
