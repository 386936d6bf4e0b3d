"""Change our own code in small ways, one at a time, and count the changes that a room's tests notice.

usage: ci/mutate [ROOM ...] [--changed BASE] [--record] [--seconds N]

Without a room, all of them; with ``--changed``, the modules that differ from the commit BASE. mutmut makes the changes
in a copy of the checkout, and asks of each function only the tests that call it. A change that never ends, breaks
collection or kills the runner counts as noticed and is named. Exits with 1 where a room's score is lower than the one
kept in ci/mutation.toml (or, of single modules, than their room's), with 2 where the tests fail without any change.
"""

import argparse
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "ci" / "mutation.toml"
COPIED = (
    "autograder",
    "assignment",
    "ci",
    "docs",
    "solutions",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
)
IN_ANOTHER_PROCESS = """
import subprocess

from commands import PROGRAM

_start = subprocess.Popen.__init__


def _where_changes_are_followed(self, args, *rest, **options):
    if [*args[: len(PROGRAM)]] == PROGRAM:
        pytest.skip("no change is followed into a command of its own")
    _start(self, args, *rest, **options)


subprocess.Popen.__init__ = _where_changes_are_followed
"""
ENDED = {-24: "never ended", 36: "never ended", 24: "never ended", 152: "never ended", 255: "never ended"}
NOTICED, SURVIVED, UNTESTED = "noticed", "survived", "no test calls it"
CHILDREN = 2


def main(arguments: Sequence[str]) -> int:
    """Measure, print and compare; return the exit status."""
    rooms = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=", ".join(rooms))
    parser.add_argument("--changed", metavar="BASE", help="only modules that differ from this commit")
    parser.add_argument("--record", action="store_true", help="keep a score that has risen")
    parser.add_argument("--seconds", type=int, default=3600, help="stop a room after so long and score what was tried")
    options = parser.parse_args(arguments)
    if unknown := sorted({*options.rooms} - {*rooms}):
        parser.error(f"no such room: {', '.join(unknown)}; there are {', '.join(rooms)}")
    worst = 0
    for room in options.rooms or rooms:
        modules = touched(rooms[room]["sources"], options.changed)
        if modules:
            worst = max(worst, judge(room, rooms[room], modules, options))
    return worst


def touched(patterns: Sequence[str], base: str | None) -> list[str]:
    """Return the modules of a room, or those of them that differ from ``base``."""
    modules = sorted(
        str(p.relative_to(ROOT)) for pattern in patterns for p in ROOT.glob(pattern) if p.name != "__init__.py"
    )
    if base is None:
        return modules
    command = ["git", "diff", "--name-only", "--diff-filter=d", base]
    changed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [module for module in modules if module in changed]


def judge(room: str, settings: Mapping[str, Any], modules: Sequence[str], options: argparse.Namespace) -> int:
    """Print what became of every change in a room and return the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        ends = measured(Path(folder), modules, settings["tests"], options.seconds)
    if ends is None:
        print(f"{room}: the tests fail without any change; run them by themselves first", file=sys.stderr)
        return 2
    for name, end in sorted(ends.items()):
        if end != NOTICED:
            print(f"{room}: {name}: {end}")
    counts = Counter(ends.values())
    noticed = len(ends) - counts[SURVIVED] - counts[UNTESTED]
    score = 100 * noticed // len(ends) if ends else 100
    print(f"{room}: {noticed} of {len(ends)} changes noticed, {score} %; kept: {settings['score']} %")
    if options.record and not options.changed and score > settings["score"]:
        record(room, score)
    return int(score < settings["score"])


def measured(folder: Path, modules: Sequence[str], tests: Sequence[str], seconds: int) -> dict[str, str] | None:
    """Return how each change ended, by its name; None where the tests fail by themselves."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules", "dist"))
        elif source.exists():
            shutil.copy(source, folder / name)
    with (folder / "ci" / "tests" / "conftest.py").open("a", encoding="utf-8") as file:
        file.write(IN_ANOTHER_PROCESS)
    selected = [f"ci/tests/{test}.py" for test in tests if (ROOT / "ci" / "tests" / f"{test}.py").exists()]
    with (folder / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("\n[tool.mutmut]\n")
        for key, value in {
            "source_paths": ["autograder"],
            "only_mutate": list(modules),
            "also_copy": [name for name in COPIED if name != "autograder"],
            "pytest_add_cli_args_test_selection": selected,
            "pytest_add_cli_args": ["-p", "no:cacheprovider"],
        }.items():
            file.write(f"{key} = {json.dumps(value)}\n")
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTEST_ADDOPTS")}
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(CHILDREN)]
    with (
        (folder / "mutmut.log").open("w") as log,
        subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log, start_new_session=True) as run,
    ):
        try:
            run.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(run.pid, 9)
    ends = {}
    for path in (folder / "mutants").rglob("*.py.meta"):
        if any(fnmatch.fnmatch(str(path.relative_to(folder / "mutants")), f"{module}.meta") for module in modules):
            codes = json.loads(path.read_text(encoding="utf-8"))["exit_code_by_key"]
            ends |= {name: ended(code) for name, code in codes.items() if code is not None}
    return ends or None


def ended(code: int) -> str:
    """Say what an exit status of a changed run means."""
    if code in (0, 33, 5):
        return SURVIVED if code == 0 else UNTESTED
    return NOTICED if code in (1, 3) else ENDED.get(code, f"ended the runner with {code}")


def record(room: str, score: int) -> None:
    """Keep a score that has risen."""
    text = TABLE.read_text(encoding="utf-8")
    pattern = re.compile(rf"(\[{room}\]\n(?:(?!\n\[).)*?score = )\d+", re.DOTALL)
    TABLE.write_text(pattern.sub(rf"\g<1>{score}", text), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
