"""The graded file as it was handed in: kept beside the grade, and given out only where it is that very file."""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from autograder.intake.discover import discover
from autograder.intake.disk import read_file
from autograder.intake.read import read
from autograder.intake.submission import Refusal, Rejected, Submission
from autograder.outside.helpers_file import HELPERS, read_helpers
from autograder.outside.names import file_name
from autograder.reporting.files import student_folder, write_atomic
from autograder.reporting.results import SubmissionResult

RECEIVED = "received"
MOST_RECEIVED = 8


@dataclass(frozen=True)
class Received:
    """A graded file, and the file of the modules that lay beside it, empty where there were none."""

    name: str
    content: bytes
    helpers: bytes = b""


def keep_received(out: Path, student: str, received: Received) -> None:
    """Keep what was graded as it was handed in, and nothing else, under a name fit for any system."""
    folder = student_folder(out, student, RECEIVED)
    files = {file_name(PurePosixPath(received.name).name): received.content}
    if received.helpers:
        files[HELPERS] = received.helpers
    for other in folder.iterdir():
        if other.name not in files and not other.is_dir():
            other.unlink()
    for name, content in files.items():
        write_atomic(folder / name, content)


def received_file(out: Path, result: SubmissionResult) -> Received | None:
    """Return what was handed in of the work that a result is about, None where it is gone or was changed since."""
    folder = out / "students" / result.student / RECEIVED
    try:
        helpers = read_file(folder / HELPERS) if result.helpers else b""
        if result.helpers and hashlib.sha256(helpers).hexdigest() != result.helpers:
            return None
        for path in sorted(folder.iterdir())[:MOST_RECEIVED]:
            content = read_file(path)
            if not result.sha256 or hashlib.sha256(content).hexdigest() == result.sha256:
                return Received(path.name, content, helpers)
    except (OSError, Refusal):
        return None
    return None


def handed_in_again(folder: Path, received: Received) -> Submission | Rejected:
    """Read a graded file once more, in an empty ``folder``, as it was with the modules beside it."""
    file = folder / received.name
    file.write_bytes(received.content)
    submission = read(discover([file], "one")[0])
    if isinstance(submission, Rejected):
        return submission
    return replace(submission, helpers=read_helpers(received.helpers))
