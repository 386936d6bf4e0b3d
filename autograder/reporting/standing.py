"""What a course makes of a result after grading; nothing of it is ever written into the journal."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from autograder.findings import Finding


@dataclass(frozen=True, slots=True)
class Override:
    """A question's points as the course staff settled them, for a reason that the student sees."""

    question: str
    points: float
    reason: str
    by: str = ""
    date: str = ""


STATES = ("open", "granted", "declined")


@dataclass(frozen=True, slots=True)
class Request:
    """What became of a student's request about one case."""

    case: str
    state: str
    answer: str = ""


@dataclass(frozen=True)
class Standing:
    """One student's grade as it stands: ``points`` after overrides, ``final`` after what being late costs as well.

    ``late`` says what being late costs and why, ``examples`` what the student's examples earn on top. ``pins`` are
    sentences of the staff about a broken rule. ``held`` keeps everything from the student; ``known_as`` is the name to
    show instead of the student's own.
    """

    points: float
    final: float
    overrides: tuple[Override, ...] = ()
    late: Finding | None = None
    comment: str = ""
    pins: Mapping[str, str] = field(default_factory=dict)
    requests: tuple[Request, ...] = ()
    held: str = ""
    examples: Finding | None = None

    @property
    def changed(self) -> bool:
        """Whether the grade differs from what the hidden tests gave, or could."""
        return bool(self.overrides or self.late or self.examples)


def number(value: float) -> str:
    """Return points without needless decimals."""
    return f"{value:.2f}".rstrip("0").rstrip(".")
