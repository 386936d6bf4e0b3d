"""Folder names for students: readable, safe on any system, and nobody's twice."""

import unicodedata
from collections import Counter
from collections.abc import Sequence

from autograder.outside.names import file_name


def safe(name: str) -> str:
    """The name fit as a folder's name on any system."""
    return file_name(name, "student")


def unique(labels: Sequence[tuple[str, str]]) -> list[str]:
    """A folder name for each label and its tie, distinct even where upper and lower case are the same."""
    wanted = [safe(label) for label, _ in labels]
    shared = Counter(map(folded, wanted))
    # Names that need no suffix come first, so that nobody's own name goes to another.
    taken = {key for key, count in shared.items() if count == 1}
    names = []
    for own, (_, tie) in zip(wanted, labels, strict=True):
        name = own
        if shared[folded(own)] > 1:
            base = f"{own}-{safe(tie)[:40]}" if tie else own
            tries = (base if attempt == 1 else f"{base}-{attempt}" for attempt in range(1, len(wanted) + 2))
            name = next(candidate for candidate in tries if folded(candidate) not in taken)
            taken.add(folded(name))
        names.append(name)
    return names


def folded(name: str) -> str:
    """The name as a file system sees it that takes upper and lower case for the same."""
    return unicodedata.normalize("NFC", name.casefold())
