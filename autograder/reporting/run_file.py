"""A run in figures for programs, ``OUT/run.json``: nothing in it is a student's text, so pipelines decide by it."""

import json
from collections import Counter
from collections.abc import Collection
from typing import Any

from autograder.reporting.gradebook import ClassList
from autograder.reporting.merge import MACHINE_FAULTS
from autograder.reporting.results import GradeLine, SubmissionResult

NAME = "run.json"
SCHEMA = "autograder-run/1"
GIVEN_UP = frozenset({"grading.given_up", "grading.failed"})
"""Why a submission was left ungraded though nobody can say that it is at fault: somebody should look."""


def run_file(
    results: Collection[SubmissionResult], lines: Collection[GradeLine], listed: ClassList, unusable: int
) -> bytes:
    """Return run.json's content: how many students stand how, and what the grader and the machine did not manage."""
    rejected = [result.rejected.code for result in results if result.rejected]
    noted = [result for result in results if any(note.code in MACHINE_FAULTS for note in result.notes)]
    status = Counter(line.status for line in lines for _ in listed.behind(line))
    missing = len(listed.missing)
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "students": status.total() + missing,
        "submissions": len(lines),
        "status": {name: status[name] for name in ("graded", "not gradable", "held")} | {"missing": missing},
        "given_up": sum(code in GIVEN_UP for code in rejected),
        "machine_faults": len(noted),
        "with_points_pending": sum(line.pending_points > 0 for line in lines),
        "unusable_lines": unusable,
    }
    return json.dumps(data, indent=2).encode() + b"\n"
