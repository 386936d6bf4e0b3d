"""The modules of ``autograder/lesson`` become the one file that students get beside their notebook."""

import ast
import re
from pathlib import Path

PACKAGE = Path("autograder/lesson")
LESSON = Path("assignment/paged_lesson.py")
HEAD = '''"""Pictures, stories and checks of the PagedAttention lesson. Keep this file beside the notebook.

You need not read it, and you may. Nothing in it is graded: grading uses your functions and other, hidden cases.
这是 PagedAttention 一课的图示、演示和检查，请把它放在 notebook 旁边。不必读，想读也可以；评分不看这个文件。
"""
'''


def joined(root: Path) -> bytes:
    """Return the lesson as one module: each part after those that it imports."""
    sources = {path.stem: path.read_text("utf-8") for path in sorted((root / PACKAGE).glob("[a-z]*.py"))}
    imports: set[str] = set()
    parts = []
    for name in _in_order(sources):
        outside, body = _split(sources[name])
        imports |= outside
        parts.append(f"# {'-' * 20} {name} {'-' * 20}\n{body}")
    return "\n\n".join([HEAD + "\n" + "\n".join(sorted(imports)), *parts]).encode() + b"\n"


def _in_order(sources: dict[str, str]) -> list[str]:
    order: list[str] = []

    def add(name: str) -> None:
        for needed in re.findall(r"from autograder\.lesson\.(\w+) import", sources[name]):
            add(needed)
        if name not in order:
            order.append(name)

    for name in sources:
        add(name)
    return order


def _split(source: str) -> tuple[set[str], str]:
    """Return a module's imports of other packages, one name each, and its text without any import."""
    lines = source.splitlines()
    outside: set[str] = set()
    tree = ast.parse(source)
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            _blank(lines, node)
            outside |= _names(node)
    title, *rest = (ast.get_docstring(tree) or "").splitlines()
    _blank(lines, tree.body[0])
    notes = "\n".join(f"# {line}".rstrip() for line in [title, *rest])
    return outside, f"{notes}\n\n\n" + "\n".join(lines).strip()


def _names(node: ast.Import | ast.ImportFrom) -> set[str]:
    origin = node.module if isinstance(node, ast.ImportFrom) else None
    if origin and origin.startswith("autograder.lesson"):
        return set()
    named = [f"{alias.name} as {alias.asname}" if alias.asname else alias.name for alias in node.names]
    return {f"from {origin} import {name}" if origin else f"import {name}" for name in named}


def _blank(lines: list[str], node: ast.stmt) -> None:
    for number in range(node.lineno - 1, node.end_lineno or node.lineno):
        lines[number] = ""
