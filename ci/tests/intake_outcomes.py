"""What intake made of files, in the form tests compare."""

from pathlib import Path

from autograder.intake.discover import discover
from autograder.intake.read import read
from autograder.intake.submission import Rejected, Submission


def read_one(path: Path) -> Submission | Rejected:
    [entry] = discover([path])
    return read(entry)


def outcome(folder: Path, name: str, content: bytes) -> str:
    (folder / name).write_bytes(content)
    return code(read_one(folder / name))


def code(result: Submission | Rejected) -> str:
    return result.finding.code if isinstance(result, Rejected) else "graded"


def fill(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


# Paths that cannot be graded at all
