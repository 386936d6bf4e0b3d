"""How a case ended: first by itself, then in the light of all others."""

from dataclasses import dataclass

from autograder.findings import Finding
from autograder.reporting.results import Status


@dataclass(frozen=True)
class Outcome:
    """What a case showed by itself; ``owner`` is the question whose operation was at fault.

    ``in_company`` is how the case ended at first, where it was asked again alone.
    """

    status: Status
    finding: Finding | None = None
    owner: str = ""
    in_company: "Outcome | None" = None


@dataclass(frozen=True)
class Verdict:
    """What a case counts as; everything but a pass carries its finding."""

    status: Status
    finding: Finding | None = None


PASSED = Outcome("passed")
UNREACHABLE: tuple[Status, ...] = ("not attempted", "could not run")
"""Of a case that others come after: they are not run."""


class CaseNotPassed(Exception):
    """Tells Otter that a case did not pass; the text is the sentence a reader may see."""
