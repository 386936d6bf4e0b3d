"""What a course decides: from ``[tool.autograder]`` of the nearest pyproject.toml into a frozen dataclass."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
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
class Late:
    """What late work costs: ``[tool.autograder.late]``.

    ``percent`` of the possible points for every begun ``interval`` after ``due``, once ``grace_minutes`` are over and
    ``free_days`` used up, down to ``floor_percent``; after ``cutoff_days`` nothing is left.
    """

    due: datetime
    grace_minutes: int = 0
    percent: float = 0.0
    interval: str = "day"
    floor_percent: float = 0.0
    free_days: int = 0
    cutoff_days: int | None = None


@dataclass(frozen=True)
class Config:
    """A course's settings.

    ``feedback``: what a student is told about a failed case: points only, the rule in words, or the shortest example.
    ``gpu``: whether the GPU part is pending until graded, counts only when it is there, or does not exist.
    ``readiness_counts``: whether GPU points may be earned on the stand-in device.
    ``seed_file``: the file with the course seed, beside pyproject.toml; without one the drawn cases are public.
    ``course``: its name, as students read it.
    ``repository``: the students' repository, where Colab finds the notebooks, as ``owner/name``.
    ``examples_points``: what a student's examples earn on top where they catch every typical mistake, else their share.
    """

    feedback: Policy = "hint"
    gpu: str = "required"
    language: str = "en"
    readiness_counts: bool = False
    seed_file: str = ""
    course: str = ""
    examples_points: int = 0
    repository: str = "OWNER/REPOSITORY"
    late: Late | None = None


def load_config(start: Path, handed_in: Sequence[Path] = ()) -> Config:
    """Return the settings of the nearest pyproject.toml at or above ``start``; without one, the defaults."""
    path = settings_file(start, handed_in)
    return _read(path) if path else Config()


def settings_file(start: Path, handed_in: Sequence[Path] = ()) -> Path | None:
    """Return the pyproject.toml whose settings hold; one in what was handed in is a student's, and passed over."""
    theirs = [path.resolve() for path in handed_in]
    for folder in (start, *start.parents):
        path = folder / "pyproject.toml"
        if path.is_file() and not any(path.resolve().is_relative_to(place) for place in theirs):
            return path
    return None


def _read(path: Path) -> Config:
    try:
        tool = tomllib.loads(path.read_text(encoding="utf-8")).get("tool", {})
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path} cannot be read as TOML ({error}); mend it or grade from another folder.") from error
    table = tool.get("autograder", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        raise ConfigError(f"{path} sets tool.autograder to {table!r}; it is a table of settings, [tool.autograder].")
    late = table.pop("late", None)
    for key, value in table.items():
        _check(path, key, value)
    if table.get("seed_file"):
        table["seed_file"] = str(path.parent / table["seed_file"])
    return Config(**table, late=None if late is None else _late(path, late))


def _late(path: Path, table: Any) -> Late:
    where = f"{path} sets tool.autograder.late"
    if not isinstance(table, dict) or "due" not in table:
        raise ConfigError(f"{where} without a due date; write due = 2026-11-01T23:59:00-05:00.")
    due = table["due"]
    if isinstance(due, str):
        try:
            due = datetime.fromisoformat(due)
        except ValueError:
            due = None
    if not isinstance(due, datetime) or due.tzinfo is None:
        raise ConfigError(
            f"{where}.due to {table['due']}, which has no time or no zone; write 2026-11-01T23:59:00-05:00."
        )
    known = {field.name for field in fields(Late)}
    for key, value in table.items():
        if key not in known:
            raise ConfigError(f"{where}.{key}, which does not exist; known are {', '.join(sorted(known))}.")
        if key == "interval" and value not in ("day", "hour"):
            raise ConfigError(f"{where}.interval to {value!r}; it takes day, hour.")
        number = key not in ("due", "interval")
        if number and (isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100_000):
            raise ConfigError(f"{where}.{key} to {value!r}; it takes a number, not below 0.")
    return Late(**{**table, "due": due})


def _check(path: Path, key: str, value: Any) -> None:
    known = {field.name: type(field.default) for field in fields(Config) if field.name != "late"}
    if key not in known:
        listed = ", ".join((*known, "late"))
        raise ConfigError(f"{path} sets tool.autograder.{key}, which does not exist; known are {listed}.")
    if type(value) is not known[key] or value not in CHOICES.get(key, (value,)):
        allowed = ", ".join(CHOICES.get(key, (known[key].__name__,)))
        raise ConfigError(f"{path} sets tool.autograder.{key} to {value!r}; it takes {allowed}.")
