"""How much of what a student sent is read, and what comes first."""

from pathlib import Path

import pytest
from intake_outcomes import code, fill, read_one
from odd_files import ipynb

from autograder.intake.discover import discover
from autograder.intake.read import read
from autograder.intake.source import MEGABYTE
from autograder.intake.submission import Submission


@pytest.mark.parametrize("budget", [1, 3, 8])
def test_no_more_is_read_than_all_files_of_a_student_may_take_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget: int
) -> None:
    """The file that goes beyond is the last one opened, and what was read until then is graded."""
    opened: list[str] = []

    def read_file(path: Path) -> bytes:
        opened.append(path.name)
        return path.read_bytes()

    monkeypatch.setattr("autograder.intake.read.MAX_TOTAL", budget * len(ipynb()))
    monkeypatch.setattr("autograder.intake.disk.read_file", read_file)
    fill(tmp_path / "class" / "jane", {f"copy {n}.ipynb": ipynb() for n in range(12)})
    assert code(read(discover([tmp_path / "class"], "plain")[0])) == "graded"
    assert len(opened) == budget + 1


@pytest.mark.parametrize("name", ["paged_attention.ipynb", "zzz.ipynb", "sub/zzz.ipynb", "paged_attention.py"])
def test_of_more_files_than_are_opened_the_likeliest_are_opened_first(tmp_path: Path, name: str) -> None:
    others = {f"jane/a/deep/down/{number:03}.py": b"x = 1\n" for number in range(80)}
    work = ipynb() if name.endswith(".ipynb") else Path(__file__).with_name("classes.py").read_bytes()
    folder = fill(tmp_path / "class", {**others, f"jane/{name}": work})
    result = read_one(folder)
    assert isinstance(result, Submission)
    assert result.file == f"jane/{name}"


def test_all_helpers_together_take_no_more_than_one_may(tmp_path: Path) -> None:
    large = b"x = 1  " + b"#" * 600_000 + b"\n"
    files = {f"jane/{name}.py": large for name in ("a", "b", "c")} | {"jane/d.py": b"y = 2\n"}
    result = read_one(fill(tmp_path / "class", {**files, "jane/paged_attention.ipynb": ipynb()}))
    assert isinstance(result, Submission)
    assert sum(map(len, result.helpers.values())) <= MEGABYTE
    assert "a.py" in result.helpers
