"""Mutants: wrong submissions that say which questions they must lose, as module files or as patches of the master.

A module file names its fault in header lines ``# WRONG: ...`` and ``# LOSES: TODO 2 and q5``; with ``or``, any of those
it names may be lost. A catalogue is a TOML file of patches: each table has ``lesson``, ``loses`` (a list of questions)
and ``edits``, pairs of ``find`` and ``replace`` applied to the solution that the catalogue's ``[master]`` table names
by a relative ``path``.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.contract.questions import questions
from autograder.intake.script import script_cells
from autograder.intake.submission import UsageError

DEVICE_ONLY = "(GPU part)"
GIVEN_CODE = "nothing or the given-code check"


@dataclass(frozen=True)
class Mutant:
    """A wrong submission. ``loses`` is None where its file does not say; with ``either``, some of them are lost.

    ``on_device`` means that only a device shows it.
    """

    name: str
    lesson: str
    cells: tuple[str, ...]
    loses: frozenset[str] | None
    on_device: bool = False
    either: bool = False


def load_mutants(paths: Sequence[Path]) -> list[Mutant]:
    """Return the mutants in module files, catalogues and folders of them, in order of name within each path."""
    found = [mutant for path in paths for mutant in _load(path)]
    if not found:
        raise UsageError(f"No mutants in {', '.join(map(str, paths))}; name .py files, .toml catalogues or folders.")
    return found


def _load(path: Path) -> Iterator[Mutant]:
    if path.is_dir():
        for inner in sorted(path.iterdir()):
            if inner.suffix in (".py", ".toml"):
                yield from _load(inner)
    elif path.suffix == ".toml":
        yield from _catalogue(path)
    elif path.suffix == ".py":
        yield _module(path)
    else:
        raise UsageError(f"{path} is neither a .py module, a .toml catalogue nor a folder of them; check the path.")


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read as UTF-8 text ({error}); check the file.") from error


def _module(path: Path) -> Mutant:
    source = _read(path)
    lesson = re.search(r"^# [A-Z]+: (.*)$", source, re.M)
    loses = re.search(r"^# LOSES: (.*)$", source, re.M)
    header = loses[1].strip() if loses else ""
    table = questions()
    outside_brackets = re.sub(r"\(.*?\)", "", header)
    blamed = frozenset(q for q in table.of("cpu") if re.search(rf"\b({q}|TODO {table[q].todo})\b", outside_brackets))
    if header and not blamed and header != GIVEN_CODE:
        raise UsageError(f"{path}: the header '# LOSES: {header}' names no TODO; write for example '# LOSES: TODO 2'.")
    return Mutant(
        path.stem,
        lesson[1] if lesson else "",
        tuple(script_cells(source)),
        (blamed or frozenset({table.given_code})) if loses else None,
        DEVICE_ONLY in header,
        " or " in outside_brackets,
    )


def _catalogue(path: Path) -> Iterator[Mutant]:
    try:
        tables: dict[str, Any] = tomllib.loads(_read(path))
        master = _read(path.parent / tables.pop("master")["path"])
    except (KeyError, TypeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} is no catalogue of mutants ({error}); give it a [master] path.") from error
    for name, table in tables.items():
        try:
            source = _apply(master, [(edit["find"], edit["replace"]) for edit in table["edits"]])
            loses = frozenset(table["loses"])
            yield Mutant(name, table["lesson"], tuple(script_cells(source)), loses, table.get("on_device", False))
        except (KeyError, TypeError, ValueError) as error:
            raise UsageError(f"{path}: mutant {name} does not apply ({error}); mend its table.") from error


def _apply(source: str, edits: Sequence[tuple[str, str]]) -> str:
    for find, replace in edits:
        if source.count(find) != 1:
            raise ValueError(f"{find!r} stands {source.count(find)} times in the master, not once")
        source = source.replace(find, replace)
    return source
