"""A student's examples, judged as the notebook judges them: they are read as data, and no code of the student runs."""

import ast
from collections.abc import Sequence

from autograder.findings import Finding
from autograder.lesson.black_boxes import mistakes
from autograder.lesson.examples import Example, judge

NAME = "examples"
LONGEST = 20_000


def judged_stories(cells: Sequence[str]) -> Finding | None:
    """Return how many stories of the last ``examples(...)`` are right and what they catch; None without stories."""
    stories = next((found for cell in reversed(cells) if (found := _stories(cell))), ())
    if not stories:
        return None
    judged = judge(stories)
    counts = {"valid": judged.valid, "stories": len(stories), "caught": len(judged.caught), "of": len(mistakes())}
    return Finding("examples.judged", counts)


def _stories(cell: str) -> tuple[Example, ...]:
    """Return the arguments of the cell's last call of ``examples``, where they are plain data."""
    if f"{NAME}(" not in cell or len(cell) > LONGEST:
        return ()
    try:
        calls = [node.value for node in ast.parse(cell).body if isinstance(node, ast.Expr)]
        named = [call for call in calls if isinstance(call, ast.Call) and getattr(call.func, "id", "") == NAME]
        return tuple(ast.literal_eval(argument) for argument in named[-1].args) if named else ()
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return ()
