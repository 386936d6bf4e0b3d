"""ci/requirements.lock, and the part of it that grading needs."""

import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def locked(root: Path) -> dict[str, str]:
    """Return every locked version by canonical name."""
    lines = (root / "ci" / "requirements.lock").read_text("utf-8").splitlines()
    words = (line.partition("#")[0].partition(";")[0].strip() for line in lines)
    pins = (word.partition("==") for word in words if word)
    return {canonicalize_name(name): pinned for name, _, pinned in pins}


def needed(root: Path) -> list[str]:
    """Return the locked packages, as sorted requirements, that the package at ``root`` brings in, directly or not."""
    pins = locked(root)
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    waiting = list(_wanted(project["dependencies"], frozenset()))
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        requirement = waiting.pop()
        name, extras = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if name in pins and (name, extras) not in seen:
            seen.add((name, extras))
            waiting += _wanted(_requires(name), extras)
    return sorted({f"{name}=={pins[name]}" for name, _ in seen})


def _wanted(lines: Iterable[str], extras: frozenset[str]) -> Iterator[Requirement]:
    for requirement in map(Requirement, lines):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield requirement


def _requires(name: str) -> list[str]:
    try:
        return requires(name) or []
    except PackageNotFoundError:
        return []
