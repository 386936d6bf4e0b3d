"""The table of questions: what contradicts itself is refused before anything is graded; all else follows it."""

import re
from pathlib import Path

import pytest

from autograder.contract.questions import TABLE, TableError, questions, read_table
from autograder.grading.one import hidden_test_files
from autograder.hidden_tests import otter_files

ROOT = Path(__file__).resolve().parents[2]


def changed(tmp_path: Path, *edits: tuple[str, str]) -> Path:
    """Return a copy of the table with the first match of each pattern replaced."""
    text = TABLE.read_text("utf-8")
    for pattern, put in edits:
        text, found = re.subn(pattern, put, text, count=1)
        assert found
    path = tmp_path / "questions.toml"
    path.write_text(text, "utf-8")
    return path


CONTRADICTIONS = {
    "points do not add up": ('"q2.basic", points = .', '"q2.basic", points = 9'),
    "a part of another size": (r"gpu = \d+", "gpu = 99"),
    "a question without a case": (
        r"\n\[parts\]\n",
        '\n[q9]\nabout = ""\npart = "cpu"\nfile = "q9"\ncases = []\n\n[parts]\n',
    ),
    "an unknown dependency": (r'after = \["q3.basic"\]', 'after = ["q3.basics"]'),
    "a dependency that comes later": (r'after = \["q2.basic"\]', 'after = ["q3.basic"]'),
    "a case twice": ('"q4.sizes"', '"q4.dtypes"'),
    "a case of another question": ('"q4.sizes"', '"q2.sizes"'),
    "points that are no number": ('"q4.dtypes", points = .', '"q4.dtypes", points = "2"'),
    "points below zero": ('"q4.dtypes", points = .', '"q4.dtypes", points = -2'),
    "an unknown part": ('part = "gpu"', 'part = "tpu"'),
    "an unknown twin": ('twin = "q1"', 'twin = "q7"'),
    "an unknown key": ("todo = 1", "todoo = 1"),
    "no part": (r"\n\[parts\]\n", "\n[partss]\n"),
    "no TOML": (r"\[q1\]", "[q1"),
}


@pytest.mark.parametrize("edit", CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_a_table_that_contradicts_itself_is_refused_in_one_sentence(edit, tmp_path):
    with pytest.raises(TableError) as refused:
        read_table(changed(tmp_path, edit))
    assert "questions.toml" in str(refused.value)
    assert str(refused.value).endswith("mend it and try again.")
    assert "\n" not in str(refused.value)


def test_moving_points_is_one_edit_of_the_table(tmp_path):
    before = questions()
    less, more = before.cases["q2.boundaries"].points - 1, before.cases["q5.lifecycle"].points + 1
    table = read_table(
        changed(
            tmp_path,
            (r'"q2.boundaries", points = \d+', f'"q2.boundaries", points = {less}'),
            (r'"q5.lifecycle", points = \d+', f'"q5.lifecycle", points = {more}'),
        )
    )
    assert (table["q2"].points, table["q5"].points) == (before["q2"].points - 1, before["q5"].points + 1)
    files = otter_files.otter_files(table)
    assert b"points = %d\n" % table["q2"].points in files["q2_prefill.py"]
    assert b'name="q5.lifecycle", points=%d' % more in files["q5_lifecycle.py"]


def test_the_hidden_test_files_are_what_the_table_says():
    hidden_test_files.check_hidden_tests()
    for part in questions().parts:
        held = {c.name: c.points for file in hidden_test_files.hidden_test_files(part) for c in file.test_cases}
        assert held == {c.id: c.points for q in questions().of(part) for c in questions()[q].cases}


@pytest.mark.parametrize("damage", [b"", b"raise ValueError\n"])
def test_a_broken_hidden_test_file_is_named_before_anything_is_graded(damage, tmp_path, monkeypatch):
    for name, content in otter_files.otter_files(questions()).items():
        (tmp_path / name).write_bytes(content)
    broken = tmp_path / "q3_decode.py"
    broken.write_bytes(broken.read_bytes() + damage if damage else damage)
    monkeypatch.setattr(otter_files, "FOLDER", tmp_path)
    with pytest.raises(TableError, match=r"hidden_tests/q3_decode\.py"):
        hidden_test_files.check_hidden_tests()


def sums(text: str, pattern: str) -> dict[str, int]:
    return {question: int(points) for question, points in re.findall(pattern, text)}


WANTED = {question.id: question.points for question in questions()}
CPU = {question: WANTED[question] for question in questions().of("cpu")}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_notebook_names_the_points_of_the_table(lang):
    text = (ROOT / "assignment" / f"paged_attention.{lang}.py").read_text("utf-8")
    assert sums(text, r"(q[1-5]) (\d+)\b") == CPU
    assert {*questions().parts.values()} <= {int(number) for number in re.findall(r"\b\d+\b", text)}


def test_the_students_page_names_the_points_of_the_table():
    text = (ROOT / "assignment" / "README.md").read_text("utf-8")
    [*rows] = re.findall(r"^\| (?:points|分数) \|(.*)\|$", text, re.MULTILINE)
    [device] = {WANTED[question] for question in questions().of("gpu")}
    assert len(rows) == 2
    for row in rows:
        assert [int(number) for number in re.findall(r"\d+", row)] == [*CPU.values(), device]


def test_classroom_50_knows_the_points_of_the_part_that_it_grades():
    text = (ROOT / "ci" / "classroom" / "classroom50" / "autograder.py").read_text("utf-8")
    assert re.findall(r"MAX_POINTS = (\d+)", text) == [str(questions().parts["cpu"])]
