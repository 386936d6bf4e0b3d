"""The import arrows of docs/design.md, read from the sources: dependencies point one way, between rooms and within."""

import ast
from functools import cache
from pathlib import Path

import pytest

import autograder

ROOT = Path(autograder.__file__).parent
LONGEST = 250

LEAVES = {"errors", "findings", "identity", "system", "tables", "__version__"}
"""What every room may import."""

MAY_IMPORT = {
    "errors": set(),
    "findings": set(),
    "contract": set(),
    "hidden_tests": {"contract"},
    "outside": set(),
    "intake": {"outside"},
    "lesson": set(),
    "identity": set(),
    "system": set(),
    "tables": set(),
    "reporting": {"contract", "outside"},
    "classroom": {"config", "contract", "outside", "reporting"},
    "sandbox/client": {"sandbox.trusted", "sandbox.limits"},
    "sandbox/limits": set(),
    "sandbox/protocol": set(),
    "sandbox/trusted": {
        "contract.closed_lists",
        "contract.operations",
        "sandbox.limits",
        "sandbox.protocol",
        "sandbox.walls.landlock",
        "sandbox.walls.visible_paths",
    },
    "sandbox/walls": {"sandbox.limits"},
    "sandbox/inside": {"contract.operations", "sandbox.limits", "sandbox.protocol"},
    "grading": {
        "classroom",
        "contract",
        "hidden_tests",
        "intake",
        "lesson.black_boxes",
        "lesson.examples",
        "outside",
        "reporting",
        "sandbox.client",
        "config",
    },
    "serving": {"contract", "reporting.files"},
    "release": {"config", "contract", "grading", "hidden_tests", "reporting", "intake"},
    "progress": {"contract.questions", "intake", "outside", "reporting"},
    "config": set(),
}
BEFORE_THE_WALLS = ("forkserver", "gpu_trace")
"""The programs of ``sandbox/inside`` that put up the walls, and so may import them."""
TORCH_IN = ("sandbox/inside/", "lesson/", "grading/many/reference_solution")  # the last is no module: a submission
ENTRANCES = ("cli/", "__init__", "__main__", "sandbox/__init__")


def modules() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if "dist" not in path.parts)


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).with_suffix("").as_posix()


def room_of(path: Path) -> str:
    """Return the most exact room of MAY_IMPORT that a module stands in."""
    name = name_of(path).removesuffix("/__init__")
    return max((room for room in MAY_IMPORT if name == room or name.startswith(f"{room}/")), key=len)


@cache
def imported(path: Path) -> frozenset[str]:
    """Return every module the file imports, as dotted names."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(names)


def allowed(path: Path) -> set[str]:
    room = room_of(path)
    walls = {"sandbox.walls"} if room == "sandbox/inside" and path.stem in BEFORE_THE_WALLS else set()
    return MAY_IMPORT[room] | {room.replace("/", ".")} | LEAVES | walls


@pytest.mark.parametrize("path", [p for p in modules() if not name_of(p).startswith(ENTRANCES)], ids=name_of)
def test_a_module_imports_only_along_the_arrows(path):
    own = {n.removeprefix("autograder.") for n in imported(path) if n.startswith("autograder.")}
    assert {n for n in own if not any(n == a or n.startswith(f"{a}.") for a in allowed(path))} == set()


def test_no_modules_import_each_other_in_a_circle():
    known = {f"autograder.{name_of(p).replace('/', '.')}": p for p in modules()}
    arrows = {
        name: {target for n in imported(path) for target in (n, n.rpartition(".")[0]) if target in known} - {name}
        for name, path in known.items()
    }
    while leaves := {name for name, targets in arrows.items() if not targets & arrows.keys()}:
        arrows = {name: targets for name, targets in arrows.items() if name not in leaves}
    assert arrows == {}


@pytest.mark.parametrize("path", [p for p in modules() if not name_of(p).startswith(TORCH_IN)], ids=name_of)
def test_only_what_lives_beside_student_code_imports_torch(path):
    assert not {n for n in imported(path) if n.split(".")[0] == "torch"}


def test_no_module_is_longer_than_the_house_allows():
    ours = [*modules(), *(ROOT.parent / "ci").glob("*.py"), *(ROOT.parent / "ci").glob("[bt]*/*.py")]
    lengths = {path.name: len(path.read_text(encoding="utf-8").splitlines()) for path in ours}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}
    assert len(ours) > 400
