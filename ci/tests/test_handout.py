"""What others may fetch holds no answer, no mistake of ours and no seed: looked for in every artefact itself."""

import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import nbformat
import pytest
from actions import working_tree
from classes import solution
from commands import ROOT, autograder

from autograder.contract.seed import write_seed
from autograder.release import ReleaseError, notebooks
from autograder.release.handout import write_grader

MASTER = (ROOT / notebooks.MASTER).read_text("utf-8")
HIDDEN_TEST = b"q3.refusal_changes_nothing"
SHORTEST = 24
"""Of a line that says something by itself; ``return None`` stands everywhere."""


def answers() -> set[bytes]:
    """Return the lines of the solution, of the reference solution, and what marks them."""
    blocks = re.findall(r"# BEGIN SOLUTION.*?\n(.*?)# END SOLUTION", MASTER, flags=re.S)
    reference = (ROOT / "autograder/grading/many/reference_solution.py").read_text("utf-8").partition("torch\n")[2]
    lines = (line.strip() for text in (*blocks, reference) for line in text.splitlines())
    return {line.encode() for line in lines if len(line) >= SHORTEST} | {b"# BEGIN SOLUTION\n"}


def secrets_in(files: Mapping[str, bytes], seed: str) -> list[str]:
    """Return what must not be there, by file."""
    bad_names = [name for name in files if re.search(r"(^|/)(solutions|tests|bench)/|mutants/|seed\.txt", name)]
    known = model_lines()
    looked_for = {*answers(), seed.encode()} - known
    return bad_names + [
        f"{name}: {text!r}" for name, all_of_it in files.items() for text in looked_for if text in all_of_it
    ]


def model_lines() -> set[bytes]:
    """Return the lines that the scaffold and the texts for students hold as well: no answer of anybody's."""
    given = "\n".join(path.read_text("utf-8") for path in (ROOT / "assignment").glob("*.py"))
    return {line for line in answers() if line.decode() in given}


def files_below(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.relative_to(folder).parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return a course that keeps its seed in its repository, and the seed."""
    root = tmp_path_factory.mktemp("course")
    seed = write_seed(root / "our-seed.txt").text
    working_tree(root)
    settings = (root / "pyproject.toml").read_text("utf-8")
    (root / "pyproject.toml").write_text(
        settings.replace("[tool.autograder]\n", '[tool.autograder]\nseed_file = "our-seed.txt"\n'), "utf-8"
    )
    identity = ["-c", "user.name=ci", "-c", "user.email=ci@localhost"]
    subprocess.run(["git", "-C", root, *identity, "commit", "-qam", "seed"], check=True)
    return root, seed


@pytest.fixture(scope="module")
def grader(course: tuple[Path, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("grader") / "new"
    done = autograder("release", "--grader", folder, cwd=course[0])
    assert done.returncode == 0, done.stderr
    return folder


def test_the_looking_finds_what_it_looks_for(course: tuple[Path, str]) -> None:
    root, seed = course
    found = secrets_in(files_below(root), seed)
    for text in ("solutions/paged_attention.py", "our-seed.txt", "reference_solution.py: ", "canary"):
        assert any(text in line for line in found) is (text != "canary"), text


def test_students_get_the_assignment_and_no_hidden_test(course: tuple[Path, str], tmp_path: Path) -> None:
    root, seed = course
    done = autograder("release", "--students", tmp_path / "new", cwd=root)
    assert done.returncode == 0, done.stderr
    files = files_below(tmp_path / "new")
    assert secrets_in(files, seed) == []
    assert [name for name, content in files.items() if HIDDEN_TEST in content] == []
    assert files == files_below(root / "assignment")
    assert {"README.md", "paged_lesson.py", "paged_attention.en.ipynb", "paged_attention.zh.py"} <= files.keys()


def test_an_archive_of_the_repository_holds_no_answer(course: tuple[Path, str], tmp_path: Path) -> None:
    root, seed = course
    subprocess.run(["git", "-C", root, "archive", "-o", tmp_path / "all.tar", "HEAD"], check=True)
    with tarfile.open(tmp_path / "all.tar") as archive:
        members = [member for member in archive.getmembers() if member.isfile() and member.name != "our-seed.txt"]
        files = {member.name: archive.extractfile(member).read() for member in members}
    assert secrets_in(files, seed) == []


def test_a_grader_for_classroom_holds_no_answer_and_no_seed(course: tuple[Path, str], grader: Path) -> None:
    files = files_below(grader)
    assert secrets_in(files, course[1]) == []
    assert b"our-seed" not in files["pyproject.toml"]
    assert HIDDEN_TEST in b"".join(files.values())  # it grades by them: docs say that they can be read


def test_a_python_whose_tarfile_has_no_filters_writes_the_same_grader(
    course: tuple[Path, str], grader: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("data_filter", "tar_filter", "fully_trusted_filter"):  # as in 3.11.2, the one of Debian 12
        monkeypatch.delattr(tarfile, name, raising=False)
    write_grader(course[0], tmp_path / "grader")
    assert files_below(tmp_path / "grader") == files_below(grader)


def test_the_released_grader_grades(grader: Path, tmp_path: Path) -> None:
    (tmp_path / "ada.py").write_text(solution(), "utf-8")
    program = f"import sys; sys.path.insert(0, {str(grader)!r}); from autograder.cli import main; main()"
    command = [sys.executable, "-P", "-c", program, "grade", "ada.py", "-o", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out/students/ada/results.json").read_text("utf-8"))["points"] == 80


def test_the_released_grader_says_that_it_has_no_samples(grader: Path) -> None:
    script = (grader / "ci/grade").read_text("utf-8").replace('"$root/ci/setup"\n', "")
    (grader / "ci/grade").write_text(script, "utf-8")
    done = subprocess.run([grader / "ci/grade"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "no samples" in done.stderr


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_the_package_holds_no_answer(course: tuple[Path, str], tmp_path: Path, kind: str) -> None:
    root, seed = course
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", tmp_path], cwd=root, check=True)
    [package] = tmp_path.iterdir()
    if kind == "wheel":
        with zipfile.ZipFile(package) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
    else:
        with tarfile.open(package) as archive:
            files = {m.name: archive.extractfile(m).read() for m in archive.getmembers() if m.isfile()}
    assert secrets_in(files, seed) == []


@pytest.mark.parametrize("option", ["--students", "--grader"])
def test_a_folder_in_use_is_refused_and_kept(tmp_path: Path, course: tuple[Path, str], option: str) -> None:
    (tmp_path / "mine.txt").write_text("mine", "utf-8")
    done = autograder("release", option, tmp_path, cwd=course[0])
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("name", [notebooks.MASTER.with_suffix(".ipynb"), *notebooks.STUDENT_NOTEBOOKS], ids=str)
def test_an_edit_in_a_generated_notebook_is_refused_and_kept(course: tuple[Path, str], name: Path) -> None:
    path = course[0] / name
    before = path.read_bytes()
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[0].source += "\nOur course's greeting."
    nbformat.write(notebook, path)
    edited = path.read_bytes()
    with pytest.raises(ReleaseError, match=re.escape(name.as_posix())):
        notebooks.write(course[0])
    assert path.read_bytes() == edited
    path.unlink()
    notebooks.write(course[0])
    assert path.read_bytes() == before
