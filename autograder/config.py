"""What a course decides: from ``[tool.autograder]`` of the nearest pyproject.toml into a frozen dataclass."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from autograder.errors import GraderError

Policy = Literal["score", "hint", "example"]

CHOICES = {
    "feedback": ("score", "hint", "example"),
    "gpu": ("required", "optional", "off"),
    "language": ("en", "zh"),
}


class ConfigError(GraderError):
    """A setting that cannot be used; its text is one sentence that names it."""


@dataclass(frozen=True)
class Config:
    """A course's settings.

    ``feedback``: what a student is told about a failed case: points only, the rule in words, or the shortest example.
    ``gpu``: whether the GPU part is pending until graded, counts only when it is there, or does not exist.
    ``readiness_counts``: whether GPU points may be earned on the stand-in device.
    ``seed_file``: the file with the course seed, beside pyproject.toml; without one the drawn cases are public.
    ``repository``: where Colab finds the student notebooks, as ``owner/name``.
    """

    feedback: Policy = "hint"
    gpu: str = "required"
    language: str = "en"
    readiness_counts: bool = False
    seed_file: str = ""
    repository: str = "OWNER/REPOSITORY"


def load_config(start: Path, handed_in: Sequence[Path] = ()) -> Config:
    """Return the settings of the nearest pyproject.toml at or above ``start``; without one, the defaults.

    One that lies in what was handed in is a student's, and passed over.
    """
    theirs = [path.resolve() for path in handed_in]
    for folder in (start, *start.parents):
        path = folder / "pyproject.toml"
        if path.is_file() and not any(path.resolve().is_relative_to(place) for place in theirs):
            return _read(path)
    return Config()


def _read(path: Path) -> Config:
    try:
        tool = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {})
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read as TOML ({error}); mend it or grade from another folder.") from error
    table = tool.get("autograder", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        raise ConfigError(f"{path} sets tool.autograder to {table!r}; it is a table of settings, [tool.autograder].")
    for key, value in table.items():
        _check(path, key, value)
    if table.get("seed_file"):
        table["seed_file"] = str(path.parent / table["seed_file"])
    return Config(**table)


def _check(path: Path, key: str, value: Any) -> None:
    known = {field.name: type(field.default) for field in fields(Config)}
    if key not in known:
        raise ConfigError(f"{path} sets tool.autograder.{key}, which does not exist; known are {', '.join(known)}.")
    if type(value) is not known[key] or value not in CHOICES.get(key, (value,)):
        allowed = ", ".join(CHOICES.get(key, (known[key].__name__,)))
        raise ConfigError(f"{path} sets tool.autograder.{key} to {value!r}; it takes {allowed}.")
