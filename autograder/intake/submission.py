"""What intake hands to grading: a submission, or the reason why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from autograder.errors import GraderError
from autograder.findings import Finding, Found


@dataclass(frozen=True)
class Submission:
    """One student's notebook, reduced to its code cells.

    ``student`` is unique within a batch and safe as a folder name; ``file`` is the name as received, relative to the
    path that was graded; ``content`` is the file as received (the notebook, not the archive around it) and ``sha256``
    its hash; ``cells`` are the code cells in order, as the student wrote them; ``remarks`` are what intake noticed
    and mended (an odd encoding, several notebooks of which one was picked); ``helpers`` are the texts of the modules
    that lay beside the notebook, by their path from there.
    """

    student: str
    file: str
    sha256: str
    cells: tuple[str, ...]
    content: bytes = field(repr=False)
    remarks: tuple[Finding, ...] = ()
    helpers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Rejected:
    """A file that cannot be graded, and why."""

    student: str
    file: str
    sha256: str
    finding: Finding


class UsageError(GraderError):
    """A path that cannot be graded at all; its text is one sentence that says what to do."""


class Refusal(Found):
    """Raised inside intake when a file cannot be graded; becomes :class:`Rejected`."""

    def __init__(self, code: str, **details: str | int) -> None:
        super().__init__(code, details)
