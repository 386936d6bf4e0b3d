"""Folders for other people: what students get, and a grader that may lie where students can read it."""

import io
import re
import subprocess
import tarfile
from pathlib import Path

from autograder.config import load_config
from autograder.release import ReleaseError
from autograder.release.notebooks import STUDENT_FOLDER, generated

SEED_LINE = re.compile(r"(?m)^seed_file\s*=.*\n")


def write_students(root: Path, folder: Path) -> list[Path]:
    """Write what a student gets into the new ``folder``, made from the master and the settings at ``root``."""
    made = {path: content for path, content in generated(root).items() if path.is_relative_to(STUDENT_FOLDER)}
    _demand_new(folder)
    written = []
    for path, content in made.items():
        written.append(folder / path.relative_to(STUDENT_FOLDER))
        written[-1].parent.mkdir(parents=True, exist_ok=True)
        written[-1].write_bytes(content)
    return written


def write_grader(root: Path, folder: Path) -> None:
    """Write the committed grader into the new ``folder``, without what .gitattributes keeps back and no seed."""
    command = ["git", "-C", str(root), "archive", "--format=tar", "HEAD", "."]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise ReleaseError(
            "git is not installed, and what may be released is a question for it; install git."
        ) from error
    if done.returncode:
        raise ReleaseError(f"{root} is not a git checkout with a commit; commit it and run the same command again.")
    _demand_new(folder)
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)  # 3.11.2 has none
        archive.extractall(folder)
    seed_file = load_config(root).seed_file
    if seed_file:
        (folder / Path(seed_file).relative_to(root)).unlink(missing_ok=True)
        settings = folder / "pyproject.toml"
        settings.write_text(SEED_LINE.sub("", settings.read_text("utf-8")), "utf-8")


def _demand_new(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ReleaseError(f"{folder} is there already and not empty; name a new folder.")
    folder.mkdir(parents=True, exist_ok=True)
