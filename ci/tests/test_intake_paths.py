"""Paths that intake is given: wrong ones, unreadable ones, links and special files."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from environments import playable
from intake_outcomes import code, fill
from odd_files import (
    RIGHT,
    ipynb,
)

from autograder.intake.discover import discover
from autograder.intake.read import read
from autograder.intake.submission import UsageError


def test_a_path_that_does_not_exist_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing at"):
        discover([tmp_path / "nowhere"])


@pytest.mark.parametrize("beside", [[], [".hidden"], ["README.md", "Thumbs.db"], ["grades.csv"]])
def test_a_folder_without_submissions_is_a_usage_error(tmp_path: Path, beside: list[str]) -> None:
    fill(tmp_path, dict.fromkeys(beside, b""))
    with pytest.raises(UsageError, match="No submission"):
        discover([tmp_path])


def test_a_fifo_given_as_path_is_a_usage_error_and_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.ipynb")
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        discover([tmp_path / "a.ipynb"])


def test_a_link_to_itself_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").symlink_to(tmp_path / "a.ipynb")
    with pytest.raises(UsageError):
        discover([tmp_path / "a.ipynb"])


@pytest.mark.skipif(not playable(), reason="needs root that may mount and change its user")
def test_what_may_not_be_read_is_a_usage_error_or_that_students_row(open_folder: Path) -> None:
    fill(open_folder, {"a.ipynb": ipynb(), "b.ipynb": ipynb()})
    (open_folder / "a.ipynb").chmod(0)
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        try:
            rows = [code(read(entry)) for entry in discover([open_folder])]
            discover([open_folder / "a.ipynb"])
        except UsageError:
            os._exit(0 if rows == ["intake.unreadable", "graded"] else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# What must not be followed, opened or executed


def test_links_that_lead_outside_are_named_and_not_followed(tmp_path: Path) -> None:
    fill(tmp_path, {"secret.ipynb": ipynb(), "class/jane/a.ipynb": ipynb(), "class/li.ipynb": ipynb()})
    (tmp_path / "class/bo.ipynb").symlink_to(tmp_path / "secret.ipynb")
    (tmp_path / "class/ann.ipynb").symlink_to("li.ipynb")
    (tmp_path / "class/thief").mkdir()
    (tmp_path / "class/thief/a.ipynb").symlink_to("../jane/a.ipynb")
    rows = {entry.student: code(read(entry)) for entry in discover([tmp_path / "class"])}
    assert rows == {"ann": "graded", "bo": "intake.link", "jane": "graded", "li": "graded", "thief": "intake.link"}


def test_special_files_are_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.ipynb")
    (tmp_path / "jane").mkdir()
    os.mkfifo(tmp_path / "jane" / "b.ipynb")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "c.ipynb"))
    rows = {entry.student: code(read(entry)) for entry in discover([tmp_path])}
    listener.close()
    assert rows == {"a": "intake.special", "c": "intake.special", "jane": "intake.no_notebook"}


def test_a_fifo_put_in_a_files_place_after_discovery_does_not_hang(tmp_path: Path) -> None:
    fill(tmp_path, {"a.ipynb": ipynb()})
    [entry] = discover([tmp_path])
    (tmp_path / "a.ipynb").unlink()
    os.mkfifo(tmp_path / "a.ipynb")
    assert code(read(entry)) == "intake.special"


def test_a_file_gone_after_discovery_is_that_students_row(tmp_path: Path) -> None:
    fill(tmp_path, {"a.ipynb": ipynb()})
    [entry] = discover([tmp_path])
    (tmp_path / "a.ipynb").unlink()
    assert code(read(entry)) == "intake.unreadable"


def test_nothing_a_student_sends_is_executed_or_imported(tmp_path: Path) -> None:
    bad = f"open({str(tmp_path / 'ran')!r}, 'w')\n"
    files = {f"{name}.py": bad.encode() for name in ("json", "zipfile", "paged_attention", "conftest", "sitecustomize")}
    fill(tmp_path / "jane", {**files, "a.ipynb": ipynb((bad, *RIGHT))})
    program = (
        "import sys; from pathlib import Path; from autograder.intake.discover import discover\n"
        "from autograder.intake.read import read\n"
        "print([type(read(e)).__name__ for e in discover([Path('.')])])"
    )
    root = str(Path(__file__).resolve().parents[2])
    command = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {root!r})\n{program}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "['Submission']\n"
    assert not (tmp_path / "ran").exists()


# Archives
