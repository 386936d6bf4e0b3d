"""From the master notebook to what students and Gradescope receive."""

from pathlib import Path

from autograder.errors import GraderError


class ReleaseError(GraderError):
    """Something cannot be released or must not be used; the text is one sentence that says what to do."""


def checkout(start: Path) -> Path:
    """Return the checkout of the course at or above ``start``."""
    for folder in (start, *start.parents):
        if (folder / "ci" / "requirements.lock").is_file() and (folder / "pyproject.toml").is_file():
            return folder
    raise ReleaseError(f"{start} is not in a checkout of this course; change to one and run the same command again.")
