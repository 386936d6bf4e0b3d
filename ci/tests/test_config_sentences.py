"""Every sentence about a course's settings, word for word, and what each setting of being late comes to."""

from dataclasses import fields
from datetime import datetime
from pathlib import Path

import pytest

from autograder.config import Config, ConfigError, Late, load_config, settings_file

DUE = "due = 2026-11-01T23:59:00-05:00"
EXAMPLE = "2026-11-01T23:59:00-05:00"
LATE = "{path} sets tool.autograder.late"
SENTENCES = {
    "[tool.autograder]\nlate = 3": f"{LATE} without a due date; write due = {EXAMPLE}.",
    "[tool.autograder.late]\npercent = 10": f"{LATE} without a due date; write due = {EXAMPLE}.",
    '[tool.autograder.late]\ndue = "soon"': f"{LATE}.due to soon, which has no time or no zone; write {EXAMPLE}.",
    "[tool.autograder.late]\ndue = 2026-11-01": (
        f"{LATE}.due to 2026-11-01, which has no time or no zone; write {EXAMPLE}."
    ),
    "[tool.autograder.late]\ndue = 2026-11-01T23:59:00": (
        f"{LATE}.due to 2026-11-01 23:59:00, which has no time or no zone; write {EXAMPLE}."
    ),
    f"[tool.autograder.late]\n{DUE}\nfloor = 1": (
        f"{LATE}.floor, which does not exist; known are {', '.join(sorted(field.name for field in fields(Late)))}."
    ),
    f'[tool.autograder.late]\n{DUE}\ninterval = "week"': f"{LATE}.interval to 'week'; it takes day, hour.",
    f"[tool.autograder.late]\n{DUE}\npercent = true": f"{LATE}.percent to True; it takes a number, not below 0.",
    f'[tool.autograder.late]\n{DUE}\npercent = "5"': f"{LATE}.percent to '5'; it takes a number, not below 0.",
    f"[tool.autograder.late]\n{DUE}\nfree_days = -1": f"{LATE}.free_days to -1; it takes a number, not below 0.",
    f"[tool.autograder.late]\n{DUE}\npercent = 100001": f"{LATE}.percent to 100001; it takes a number, not below 0.",
    "[tool]\nautograder = 3": ("{path} sets tool.autograder to 3; it is a table of settings, [tool.autograder]."),
    "[tool.autograder]\nfeedbak = 3": (
        "{path} sets tool.autograder.feedbak, which does not exist; known are "
        f"{', '.join(field.name for field in fields(Config))}."
    ),
    "[tool.autograder]\nfeedback = 3": "{path} sets tool.autograder.feedback to 3; it takes score, hint, example.",
    "[tool.autograder]\ncourse = 3": "{path} sets tool.autograder.course to 3; it takes str.",
}


@pytest.mark.parametrize("settings", SENTENCES)
def test_what_cannot_be_is_refused_in_these_words(tmp_path: Path, settings: str) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(settings, encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        load_config(tmp_path)
    assert str(refused.value) == SENTENCES[settings].format(path=path)


def test_what_is_no_toml_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text("[tool", encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        load_config(tmp_path)
    start, _, end = str(refused.value).partition(" (")
    assert start == f"{path} cannot be read as TOML"
    assert end.endswith("); mend it or grade from another folder.")


def test_text_beyond_ascii_is_read_whatever_the_system_speaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyproject.toml").write_bytes('[tool.autograder]\ncourse = "系统课"\n'.encode())
    monkeypatch.setattr("locale.getpreferredencoding", lambda *_: "ascii")
    assert load_config(tmp_path).course == "系统课"


@pytest.mark.parametrize("due", [EXAMPLE, f'"{EXAMPLE}"'])
def test_a_rule_for_late_work_is_taken_as_it_is_written(tmp_path: Path, due: str) -> None:
    rule = {"grace_minutes": 0, "percent": 100_000, "free_days": 2, "cutoff_days": 9, "floor_percent": 12.5}
    lines = [f"due = {due}", 'interval = "hour"', *(f"{name} = {value}" for name, value in rule.items())]
    (tmp_path / "pyproject.toml").write_text("[tool.autograder.late]\n" + "\n".join(lines), encoding="utf-8")
    wanted = Late(datetime.fromisoformat(EXAMPLE), interval="hour", **rule)
    assert load_config(tmp_path) == Config(late=wanted)


def test_a_seed_file_lies_beside_the_settings_that_name_it(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.autograder]\nseed_file = "seed.txt"\n', encoding="utf-8")
    below = tmp_path / "a"
    below.mkdir()
    assert load_config(below).seed_file == str(tmp_path / "seed.txt")


def test_settings_in_what_was_handed_in_are_passed_over_for_those_above(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.autograder]\nlanguage = "zh"\n', encoding="utf-8")
    theirs = tmp_path / "class"
    theirs.mkdir()
    (theirs / "pyproject.toml").write_text('[tool.autograder]\nfeedback = "example"\n', encoding="utf-8")
    assert load_config(theirs, [theirs]) == Config(language="zh")
    assert settings_file(theirs, [theirs]) == tmp_path / "pyproject.toml"
    assert settings_file(theirs) == theirs / "pyproject.toml"
