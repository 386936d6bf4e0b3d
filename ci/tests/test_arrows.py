"""The import arrows of docs/design.md, read from the sources: dependencies point one way."""

import ast
from pathlib import Path

import pytest

import autograder

ROOT = Path(autograder.__file__).parent

MAY_IMPORT = {
    "contract": set(),
    "hidden_tests": {"contract"},
    "intake": set(),
    "reporting": {"contract"},
    "sandbox": {"contract.operations"},
    "grading": {"contract", "hidden_tests", "intake", "reporting", "sandbox.client", "config"},
    "release": {"config", "grading", "hidden_tests", "reporting", "intake"},
    "progress": {"reporting"},
    "config": set(),
}
TORCH_IN = {"sandbox"}


def modules() -> list[Path]:
    return sorted(path for path in ROOT.rglob("*.py") if "dist" not in path.parts)


def imported(path: Path) -> set[str]:
    """Return every module the file imports, as dotted names."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_imports_only_along_the_arrows(path):
    part = path.relative_to(ROOT).parts[0].removesuffix(".py")
    if part in ("cli", "__init__", "__main__"):
        return
    own = {n.removeprefix("autograder.") for n in imported(path) if n.startswith("autograder.")}
    allowed = MAY_IMPORT[part] | {part, "__version__"}
    assert {n for n in own if not any(n == a or n.startswith(f"{a}.") for a in allowed)} == set()


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_only_the_sandbox_imports_torch(path):
    part = path.relative_to(ROOT).parts[0]
    if part not in TORCH_IN:
        assert not {n for n in imported(path) if n.split(".")[0] == "torch"}


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_no_module_is_longer_than_three_hundred_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300
