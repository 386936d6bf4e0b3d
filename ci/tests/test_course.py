"""The page "Your course": its quick start works as printed in a copy, and the settings reach what students read."""

import csv
import shlex
from pathlib import Path

import pytest
from actions import working_tree
from commands import autograder, printed_on

SETTINGS = 'course = "Systems 101, autumn"\ngpu = "off"\n'
SEED = 'seed_file = "course-seed.txt"\n'


def test_both_languages_give_the_same_commands() -> None:
    assert printed_on("course.md", "zh") == printed_on("course.md")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a copy of the repository in which every command of the page was run, in order."""
    root = tmp_path_factory.mktemp("adopting") / "course"
    root.mkdir()
    working_tree(root)
    settings = (root / "pyproject.toml").read_text("utf-8").replace('gpu = "required"\n', "")
    head, table, rest = settings.partition("[tool.autograder]\n")
    (root / "pyproject.toml").write_text(head + table + SETTINGS + rest, "utf-8")
    for line in printed_on("course.md"):
        done = autograder(*shlex.split(line)[1:], cwd=root)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
        if line.startswith("autograder seed"):
            (root / "pyproject.toml").write_text(head + table + SETTINGS + SEED + rest, "utf-8")
    return root


def test_students_read_the_course_s_settings(course: Path) -> None:
    readme = (course.parent / "students" / "README.md").read_text("utf-8")
    assert "*Systems 101, autumn*" in readme
    assert "GPU" not in readme


def test_the_first_class_is_graded_without_a_gpu_part_and_under_the_course_s_seed(course: Path) -> None:
    with (course / "out" / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["status"] for row in rows} == {"graded"}
    assert {row["pending_points"] for row in rows} == {"0"}
    assert (course / "out" / "class.html").is_file()


def test_the_page_says_that_the_seed_stays_behind(course: Path) -> None:
    seed = (course / "course-seed.txt").read_text("utf-8").strip()
    students = [path.read_text("utf-8") for path in (course.parent / "students").rglob("*") if path.is_file()]
    assert [text for text in students if seed in text] == []
