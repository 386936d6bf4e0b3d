"""What an adapter makes of a listing: pieces of somebody's work, and names it cannot explain."""

from dataclasses import dataclass, field

from autograder.identity import Identity


@dataclass(frozen=True, slots=True)
class Piece:
    """One file or folder, whose it is, and of which attempt: ``order`` sorts a student's attempts by time.

    ``label`` is the folder's name to be, where the identity's own would not do; ``tie`` tells equal labels apart.
    ``gradable`` is whether a notebook may be in it.
    """

    who: Identity
    place: str
    order: str = ""
    gradable: bool = True
    refusal: str = ""
    label: str = ""
    tie: str = ""


@dataclass(frozen=True)
class Reading:
    """A listing as one platform would have made it; ``doubt`` says why it may be another's after all.

    ``strange`` names are not that platform's. ``certain`` marks a platform whose names hardly come about by chance.
    """

    platform: str
    pieces: list[Piece]
    strange: list[str] = field(default_factory=list)
    doubt: str = ""
    certain: bool = True
