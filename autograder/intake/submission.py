"""What intake hands to grading: a submission, or the reason why there is none."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Details = Mapping[str, str | int]
Remarks = tuple[tuple[str, Details], ...]


@dataclass(frozen=True)
class Submission:
    """One student's notebook, reduced to its code cells.

    ``student`` is unique within a batch and safe as a folder name; ``file`` is the name as received, relative to the
    path that was graded; ``content`` is the file as received (the notebook, not the archive around it) and ``sha256``
    its hash; ``cells`` are the code cells in order, as the student wrote them; ``remarks`` are codes and details of
    what intake noticed and mended (an odd encoding, several notebooks of which one was picked); ``helpers`` are the
    texts of the modules that lay beside the notebook, by their path from there.
    """

    student: str
    file: str
    sha256: str
    cells: tuple[str, ...]
    content: bytes = field(repr=False)
    remarks: Remarks = ()
    helpers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Rejected:
    """A file that cannot be graded; ``code`` and ``details`` say why, in any language, through the catalogue."""

    student: str
    file: str
    sha256: str
    code: str
    details: Details = field(default_factory=dict)


class UsageError(Exception):
    """A path that cannot be graded at all; its text is one sentence that says what to do."""


class Refusal(Exception):
    """Raised inside intake when a file cannot be graded; becomes :class:`Rejected`."""

    def __init__(self, code: str, **details: str | int) -> None:
        super().__init__(code)
        self.code = code
        self.details: Details = details
