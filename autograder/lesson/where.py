"""A failed step, and where in the student's function to look for its cause."""

import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from autograder.lesson.cases import FUNCTIONS
from autograder.lesson.speech import notebook, say
from autograder.lesson.state import Snapshot
from autograder.lesson.story import Step

CHANGING = ("pop", "popleft", "remove", "append", "extend", "insert", "clear", "sort", "reverse")


class Failure(NamedTuple):
    """The first wrong step of a case: what is right, what came, the state around it, and the student's own values."""

    question: str
    step: Step
    expected: object
    got: object
    before: Snapshot
    after: Snapshot
    values: dict[str, Any]


def function_of(question: str) -> Callable[..., Any] | None:
    """Return the function of a question as it is defined now."""
    if question == "q1":
        return notebook.names.get(FUNCTIONS[question])
    return getattr(notebook.names.get("KVCacheManager"), FUNCTIONS[question], None)


def line_of(question: str, *beginnings: str) -> str:
    """Return the line of the student's function that begins with the first of these that any line begins with."""
    return _first_line(question, *(f" *{re.escape(beginning)}" for beginning in beginnings))


def changing_line(question: str) -> str:
    """Return the first line of the student's function that changes a request or the pool, a line that only reads left out."""
    of_whom = r"(req|self)\.\w+(\[[^=]*\])*"
    return _first_line(
        question, rf".*{of_whom}\.({'|'.join(CHANGING)})\(", rf" *(del +)?{of_whom} *([-+*/%]|//)?=[^=]", r" *del "
    )


def _first_line(question: str, *patterns: str) -> str:
    try:
        lines, first = inspect.getsourcelines(function_of(question) or len)
    except (OSError, TypeError):
        return ""
    for pattern in patterns:
        for number, line in enumerate(lines, max(first, 1)):
            if re.match(pattern, line):
                return say(f"Look at line {number}: {line.strip()}", f"请看第 {number} 行：{line.strip()}")
    return ""
