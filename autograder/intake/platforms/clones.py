"""Clones of a classroom's repositories: ``<assignment>-<login>/`` with a ``.git`` in each."""

import os

from autograder.identity import Identity
from autograder.intake.listing import Listing, common_start, join
from autograder.intake.platforms.piece import Piece, Reading
from autograder.outside.names import printable

_WRAPPER = "-submissions"


def read(listing: Listing, base: str) -> Reading | None:
    """Explain the folders in ``base`` as clones."""
    children = listing.children(base)
    clones = [c for c in children if c.is_folder and listing.holds(join(join(base, c.name), ".git"))]
    if not clones:
        return None
    slug = _assignment(base.rpartition("/")[2] or os.path.basename(listing.shown), [clone.name for clone in clones])
    pieces = []
    for clone in clones:
        login = printable(clone.name.removeprefix(slug))
        pieces.append(Piece(Identity("github", login, login), join(base, clone.name)))
    return Reading("github", pieces, [child.name for child in children if child not in clones])


def _assignment(folder: str, names: list[str]) -> str:
    """The folder that the classroom's tool makes says where a login begins; without it, what all names share."""
    slug = f"{folder.removesuffix(_WRAPPER)}-"
    if folder.endswith(_WRAPPER) and all(name.startswith(slug) and name != slug for name in names):
        return slug
    common = common_start(names) if len(names) > 1 else ""
    return common[: common.rfind("-") + 1]
