"""The graded file as it was handed in: kept beside the grade, and given out only where it is that very file."""

import hashlib
from pathlib import Path, PurePosixPath

from autograder.intake.disk import read_file
from autograder.intake.submission import Refusal
from autograder.outside.names import file_name
from autograder.reporting.files import student_folder, write_atomic
from autograder.reporting.results import SubmissionResult

RECEIVED = "received"
MOST_RECEIVED = 8


def keep_received(out: Path, student: str, file: str, content: bytes) -> None:
    """Keep the graded file as it was handed in, and no other, under a name fit for any system."""
    folder = student_folder(out, student, RECEIVED)
    name = file_name(PurePosixPath(file).name)
    for other in folder.iterdir():
        if other.name != name and not other.is_dir():
            other.unlink()
    write_atomic(folder / name, content)


def received_file(out: Path, result: SubmissionResult) -> tuple[str, bytes] | None:
    """Return name and content of the file that a result is about, None where it is gone or was changed since."""
    folder = out / "students" / result.student / RECEIVED
    try:
        for path in sorted(folder.iterdir())[:MOST_RECEIVED]:
            content = read_file(path)
            if not result.sha256 or hashlib.sha256(content).hexdigest() == result.sha256:
                return path.name, content
    except (OSError, Refusal):
        return None
    return None
