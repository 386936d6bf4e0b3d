"""The course seed: what the drawn cases are drawn from. Its text is a secret of the course, its hash is not."""

import hashlib
import os
import re
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from autograder.errors import GraderError

SHORTEST_BITS = 128
_DIGITS = re.compile(r"[0-9a-fA-F]+")


class SeedError(GraderError):
    """A seed that cannot be used, or is not the one that was used before."""


@dataclass(frozen=True)
class Seed:
    """A seed; ``text`` never goes into a child, a result or a message."""

    text: str = field(repr=False)

    @property
    def sha256(self) -> str:
        """The hash that names the seed in results: publishing the seed later proves that it was used."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def for_file(self, sha256: str) -> "Seed":
        """Return what concerns one file alone is drawn from: whoever changes the file learns nothing from last time."""
        return self if self.is_public else Seed(f"{self.text}\0{sha256}")

    @property
    def is_public(self) -> bool:
        """Whether this is the built-in seed, whose cases anybody can draw."""
        return self == PUBLIC


PUBLIC = Seed("the built-in seed of the PagedAttention assignment, which everybody knows")


def new_seed() -> str:
    """Return the text of a fresh seed of 256 bits."""
    return secrets.token_hex(32)


def read_seed(file: str) -> Seed:
    """Return the seed in ``file``, the built-in one where no file is named; raise SeedError where it is no seed."""
    if not file:
        return PUBLIC
    try:
        text = Path(file).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        raise SeedError(
            f"The course seed in {file} cannot be read; put the file back that `autograder seed` made."
        ) from None
    bits = 4 * len(text) if _DIGITS.fullmatch(text) else 0
    if bits < SHORTEST_BITS:
        raise SeedError(
            f"The course seed in {file} is not {SHORTEST_BITS // 4} or more hexadecimal digits (its SHA-256 is "
            f"{Seed(text).sha256}, the built-in seed's is {PUBLIC.sha256}); make one with `autograder seed`."
        )
    return Seed(text.lower())


def demand_same(before: str, now: str) -> None:
    """Raise SeedError unless two results, or a result and the course of today, name the same seed by its hash."""
    if before != now:
        raise SeedError(
            f"These results come from different course seeds, of SHA-256 {before} and {now}; name the file of the "
            "first as seed_file in [tool.autograder], grade the others again with it, and repeat this command."
        )


def write_seed(path: Path) -> Seed:
    """Write a fresh seed into a new file that only its owner may read, and return it."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(f"{new_seed()}\n")
    except FileExistsError:
        raise SeedError(f"{path} exists already, and results may depend on it; name another file.") from None
    return read_seed(str(path))
