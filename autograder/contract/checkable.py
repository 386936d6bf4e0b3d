"""What a hidden test may do with a submission: ask for one case, by name."""

from typing import Protocol


class Checkable(Protocol):
    """A submission behind its sandbox."""

    def check(self, case: str) -> None:
        """Raise unless the submission passes ``case``."""
