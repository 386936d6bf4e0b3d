"""Classroom 50's entry: grade the student's checkout in the working directory and write ./result.json.

The course's repository lies beside this file as ``course``. Exit 0: the submission has a result, whatever the score;
anything else is a fault of the set-up. Needs nothing but Python's own library.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

COURSE = Path(__file__).resolve().parent / "course"
NOT_GRADABLE = 1
MAX_POINTS = 80  # what a file that cannot be graded loses: the CPU part, the only one graded here


def scored(results: dict[str, Any]) -> dict[str, Any]:
    """Return the score in whole points, one test per question, from the content of results.json."""
    questions = {name: (q["points"], q["max_points"]) for name, q in results["questions"].items()}
    questions = questions or {results["reason"]["message"]: (0, MAX_POINTS)}
    tests = [
        {"test-name": name, "passed": points == most, "score": points, "max-score": most}
        for name, (points, most) in questions.items()
    ]
    return {"score": sum(t["score"] for t in tests), "max-score": sum(t["max-score"] for t in tests), "tests": tests}


def main() -> None:
    """Write result.json and, for the release's page, release-body.md."""
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run([COURSE / "ci" / "classroom" / "grade", ".", out], stdout=subprocess.DEVNULL, check=False)
        if done.returncode > NOT_GRADABLE:
            sys.exit(done.returncode)
        student = Path(out) / "students" / "submission"
        result = {
            "schema": "classroom50/result/v1",
            "classroom": os.environ["CLASSROOM"],
            "assignment": os.environ["ASSIGNMENT"],
            "submission": os.environ["SUBMISSION_TAG"],
            "commit": os.environ["COMMIT_URL"],
            "release": os.environ["RELEASE_URL"],
            "review": os.environ.get("REVIEW_URL") or os.environ["COMMIT_URL"],
            "datetime": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            **scored(json.loads((student / "results.json").read_text(encoding="utf-8"))),
        }
        shutil.copy(student / "report.md", "release-body.md")
    Path("result.json").write_text(json.dumps(result, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
