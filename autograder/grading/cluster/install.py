"""A student's files as a cluster's worker sent them become those in OUT."""

from pathlib import Path

from autograder.grading.cluster.supervisor import Returned
from autograder.grading.many.received import RECEIVED, Received, keep_received
from autograder.grading.many.work import FAILURE, handed_in
from autograder.intake.discover import Entry
from autograder.outside.helpers_file import HELPERS
from autograder.reporting.files import student_folder, write_atomic


def install(out: Path, entry: Entry, returned: Returned) -> None:
    """Write what a worker on this machine would have left in the student's folder."""
    if not returned.files:
        return
    folder = student_folder(out, entry.student)
    helpers = returned.files.get(f"{RECEIVED}/{HELPERS}", b"")
    for name, content in returned.files.items():
        place, _, last = name.rpartition("/")
        if place == RECEIVED and last != HELPERS:  # a file that could not be graded did not travel whole
            whole = handed_in(entry) if returned.row.get("rejected") else content
            keep_received(out, entry.student, Received(last, whole, helpers))
        elif place != RECEIVED:
            write_atomic(folder / last, content)
    if FAILURE not in returned.files:
        (folder / FAILURE).unlink(missing_ok=True)
