"""A course's settings: each is taken, and whatever cannot be is refused in one sentence that names it."""

from dataclasses import fields
from pathlib import Path

import pytest
from commands import autograder

from autograder.config import CHOICES, Config, ConfigError, load_config

DEFAULTS = Config()


def written(folder: Path, *lines: str) -> Path:
    """Write a pyproject.toml with these settings into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text("\n".join(["[tool.autograder]", *lines]), encoding="utf-8")
    return folder


def test_the_defaults_are_those_of_a_course_that_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\nline-length = 100\n", encoding="utf-8")
    expected = ("hint", "required", "en", False, "OWNER/REPOSITORY")
    found = load_config(tmp_path)
    assert (found.feedback, found.gpu, found.language, found.readiness_counts, found.repository) == expected


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in CHOICES.items() for value in values])
def test_every_choice_is_taken(tmp_path: Path, name: str, value: str) -> None:
    assert getattr(load_config(written(tmp_path, f'{name} = "{value}"')), name) == value


def test_each_setting_goes_to_its_own_place(tmp_path: Path) -> None:
    lines = 'feedback = "score"', 'gpu = "off"', 'language = "zh"', "readiness_counts = true", 'repository = "a/b"'
    assert load_config(written(tmp_path, *lines)) == Config("score", "off", "zh", True, repository="a/b")


WRONG = {
    'gpu = "requierd"': ("gpu", "required, optional, off"),
    'gpu = ""': ("gpu", "required, optional, off"),
    "gpu = true": ("gpu", "required, optional, off"),
    "gpu = 1": ("gpu", "required, optional, off"),
    'gpu = ["required"]': ("gpu", "required, optional, off"),
    'feedback = "hints"': ("feedback", "score, hint, example"),
    'feedback = "Score"': ("feedback", "score, hint, example"),
    'language = "cn"': ("language", "en, zh"),
    'language = "zh-CN"': ("language", "en, zh"),
    'readiness_counts = "true"': ("readiness_counts", "bool"),
    "readiness_counts = 1": ("readiness_counts", "bool"),
    "repository = 3": ("repository", "str"),
    'feedbak = "score"': ("feedbak", ", ".join(field.name for field in fields(Config))),
}


@pytest.mark.parametrize("line", WRONG)
def test_a_setting_that_cannot_be_is_named_with_what_it_takes(tmp_path: Path, line: str) -> None:
    name, allowed = WRONG[line]
    with pytest.raises(ConfigError) as refused:
        load_config(written(tmp_path, line))
    assert f"tool.autograder.{name}" in str(refused.value)
    assert f"{allowed}." in str(refused.value)
    assert str(tmp_path / "pyproject.toml") in str(refused.value)


@pytest.mark.parametrize("content", [b"[tool.autograder\n", b"\xff\xfe", b"a = 1\na = 2\n"])
def test_a_file_that_is_no_toml_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "pyproject.toml").write_bytes(content)
    with pytest.raises(ConfigError, match=r"pyproject\.toml cannot be read as TOML"):
        load_config(tmp_path)


@pytest.mark.parametrize("content", ["[tool]\nautograder = 3", "[[tool.autograder]]\nfeedback = 'score'"])
def test_settings_that_are_no_table_are_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "pyproject.toml").write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=r"sets tool\.autograder to .*; it is a table"):
        load_config(tmp_path)


def test_a_file_for_other_tools_alone_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("tool = 3\n", encoding="utf-8")
    assert load_config(tmp_path) == DEFAULTS


def test_the_nearest_settings_above_hold_and_no_others(tmp_path: Path) -> None:
    written(tmp_path, 'feedback = "score"')
    inner = written(tmp_path / "course", 'gpu = "off"')
    below = inner / "a" / "b"
    below.mkdir(parents=True)
    assert load_config(below) == Config(gpu="off")
    assert load_config(tmp_path) == Config(feedback="score")


@pytest.mark.parametrize(
    "command", [["grade", "x.py"], ["report", "."], ["merge", ".", "-o", "m"], ["bundle", "."]], ids=lambda c: c[0]
)
def test_a_misspelt_setting_ends_every_command_before_anything_is_written(tmp_path: Path, command: list[str]) -> None:
    work = written(tmp_path / "work", 'gpu = "requierd"')
    (work / "x.py").write_text("x = 1\n", encoding="utf-8")
    done = autograder(*command, cwd=work)
    assert (done.returncode, done.stderr.count("\n"), done.stdout) == (2, 1, "")
    assert "tool.autograder.gpu" in done.stderr
    assert sorted(path.name for path in work.iterdir()) == ["pyproject.toml", "x.py"]


def test_outside_a_course_the_command_says_that_the_defaults_hold(tmp_path: Path) -> None:
    (tmp_path / "ada.py").write_text("x = 1\n", encoding="utf-8")
    course = written(tmp_path / "course")
    told = [autograder("grade", tmp_path / "ada.py", "-o", folder / "out", cwd=folder) for folder in (tmp_path, course)]
    assert ["default settings" in done.stderr for done in told] == [True, False]
