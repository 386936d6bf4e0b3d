"""The verdict on one case."""

from dataclasses import dataclass

from autograder.findings import Finding
from autograder.reporting.results import Status


@dataclass(frozen=True)
class Verdict:
    """How a case ended; everything but a pass carries its finding. ``step`` is the operation at fault, from 0."""

    status: Status
    finding: Finding | None = None
    step: int | None = None


PASSED = Verdict("passed")


class CaseNotPassed(Exception):
    """Tells Otter that a case did not pass; the text is the sentence a reader may see."""
