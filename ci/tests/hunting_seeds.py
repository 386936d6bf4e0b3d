"""True inputs that a hunt starts from: notebooks, scripts, archives, results and rows of a journal."""

from odd_files import ipynb, markdown, percent, samples, zipped

from autograder.contract.scenarios import scenarios

CASES = [scenario for scenario in scenarios().values() if len(scenario.operations) <= 10]
NOTEBOOKS = (
    ipynb(),
    *(content for name, content in samples().items() if name.endswith(".ipynb") and len(content) < 50_000),
)
SCRIPTS = (
    percent().encode(),
    markdown().encode(),
    "﻿x = '长'\n".encode(),
    "x = 'é'\n".encode("latin-1"),
    "x = 1\n".encode("utf-16"),
)
ARCHIVES = (
    zipped({"a.ipynb": ipynb()}),
    zipped({"jane_11_222_a.ipynb": ipynb(), "li_12_223_b.zip": zipped({"b.py": percent().encode()})}),
    zipped({"submission_1/a.py": b"x = 1", "submission_2/a.py": b"y = 1"}, links=("submission_3/a.py",)),
)
RESULTS = {
    "status": "graded", "submission": {"file": "a.py", "sha256": "0"},
    "tests": [{"id": "q1.basic", "question": "q1", "status": "passed", "points": 1, "max_points": 1}],
}  # fmt: skip
ROWS = tuple(
    {
        "student": "ada", "file": "a.py", "sha256": "0", "device": "cpu",
        "notes": [{"code": "cell.failed", "details": {"cell": 1}}],
        "tests": [{"id": "q1.basic", "question": "q1", "status": status, "points": 0, "max_points": 3,
                   "finding": finding, "example": None}],
        "rejected": rejected, "pending_points": 20, "confinement": {"seccomp": "on"}, "versions": {"tests": "0"},
        "gradescope": {"tests": []},
    }
    for status, finding, rejected in (
        ("failed", {"code": "decode.late", "details": {"what": "table"}}, None),
        ("passed", None, {"code": "intake.empty", "details": {"file": "a.py"}}),
    )
)  # fmt: skip
