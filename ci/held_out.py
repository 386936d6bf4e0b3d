"""Fail, in one sentence, where the grader or the machine left something of a run undone: ci/held_out.py OUT.

A low score, a file that cannot be read and whatever a student writes are results, and change nothing here.
"""

import json
import sys
from pathlib import Path


def complaint(out: Path) -> str:
    """Return what somebody has to look at before the run in ``out`` is done, or nothing."""
    try:
        run = json.loads((out / "run.json").read_text("utf-8"))
    except FileNotFoundError:
        return f"{out}/run.json is not there: the run did not come to its end; run this job again."
    left = {
        "given up by the grader": run["given_up"],
        "with a fault of the machine": run["machine_faults"],
        "lost to a damaged journal": run["unusable_lines"],
    }
    said = ", ".join(f"{count} {what}" for what, count in left.items() if count)
    return f"Of {run['students']} students {said}; run this job again." if said else ""


if __name__ == "__main__":
    sys.exit(complaint(Path(sys.argv[1])) or None)
