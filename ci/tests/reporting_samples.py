"""Results of every kind for the reporting tests."""

from dataclasses import replace
from typing import Any

from autograder.findings import Finding
from autograder.reporting.results import SubmissionResult, TestResult

BEFORE = {
    "num_blocks": 4,
    "block_size": 4,
    "free": [2, 3],
    "requests": {"A": {"seq_len": 8, "table": [1, 0]}},
}
AFTER = BEFORE | {"requests": {"A": {"seq_len": 9, "table": [1, 0]}}}
EXAMPLE = {
    "operations": [
        ["new", "m", 4, 4, 2, "float32", "cpu"],
        ["request", "A", 7, 8],
        ["prefill", "m", "A"],
        ["decode", "m", "A"],
    ],
    "before": BEFORE,
    "after": AFTER,
}


def passing(question: str, points: int) -> TestResult:
    """Return a passed case worth ``points``."""
    return TestResult(f"{question}.basic", question, "passed", points, points)


def result(*tests: TestResult, **changes: Any) -> SubmissionResult:
    """Return a graded CPU result with ``tests``."""
    sample = SubmissionResult(
        student="ada",
        file="paged_attention.ipynb",
        sha256="ab" * 32,
        device="cpu",
        tests=tests,
        pending_points=20,
        confinement={"seccomp": "on", "landlock": "on"},
        versions={"autograder": "1.0", "tests": "t1", "torch": "2.9"},
        gradescope={"tests": [{"name": t.question, "score": t.points} for t in tests]},
    )
    return replace(sample, **changes)


FULL = result(*(passing(q, p) for q, p in zip(("q1", "q2", "q3", "q4", "q5"), (15, 20, 20, 15, 10), strict=True)))
MIXED = result(
    passing("q1", 15),
    TestResult(
        "q2.refusal_changes_nothing",
        "q2",
        "failed",
        0,
        20,
        Finding("refusal.changed", {"operation": "prefill", "what": "free"}),
    ),
    TestResult("q3.grows_when_full", "q3", "failed", 0, 20, Finding("decode.late"), EXAMPLE),
    TestResult("q4.basic", "q4", "not attempted", 0, 15, Finding("open.todo", {"todo": 4})),
    TestResult("q5.request", "q5", "could not run", 0, 10, Finding("run.cpu")),
    notes=(Finding("cell.failed", {"cell": 3, "error": "NameError", "line": 2, "text": "<script>x</script>"}),),
)
REJECTED = result(rejected=Finding("intake.truncated", {"file": "paged_attention.ipynb"}))
GPU = result(*(passing(q, 5) for q in ("g1", "g2", "g3", "g4")), device="cuda", pending_points=0)
EVERY_KIND = {"full": FULL, "mixed": MIXED, "rejected": REJECTED, "gpu": GPU}
