"""What strangers choose is harmless: names on disk, text for people, archives, bundles, rows of journals, settings."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odd_files import zipped

from autograder.config import Config, load_config
from autograder.grading.many.journal import Journal, JournalError, rows
from autograder.intake.discover import discover
from autograder.intake.layout import PLATFORMS
from autograder.intake.listing import Child
from autograder.intake.read import read
from autograder.outside.names import LONGEST_NAME, LONGEST_SHOWN, file_name, shown
from autograder.outside.text import for_csv, for_markdown, for_terminal
from autograder.outside.zips import BadZip, TooMany, members
from autograder.reporting.files import student_folder
from autograder.reporting.foreign_rows import is_possible
from autograder.reporting.results import SubmissionResult
from autograder.reporting.schema import RowError, from_row

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=400)
RESERVED = ("CON", "nul", "Com1", "LPT³", "aux.py", "PRN.tar.gz", "CONIN$", "con .txt")


def result_of(data: object) -> SubmissionResult | None:
    try:
        result = from_row(data)
    except RowError:
        return None
    return result if is_possible(result) else None


@given(ANY_TEXT)
def test_a_name_becomes_one_that_any_system_takes_and_stays_it(name: str) -> None:
    made = file_name(name)
    assert len(made.encode()) <= LONGEST_NAME + 1
    assert not set(made) & set("/\\\0\n\r\x1b")
    assert made.strip(" .") == made != ""
    assert file_name(made) == made


@pytest.mark.parametrize("name", RESERVED)
def test_a_name_that_windows_reserves_is_another_one(name: str) -> None:
    assert file_name(name).partition(".")[0].rstrip() != name.partition(".")[0].rstrip()


@pytest.mark.parametrize("name", ["长" * 90 + ".py", "x" * 300 + ".ipynb", "e\u0301" * 150 + ".md"])
def test_a_name_that_is_too_long_keeps_its_suffix(name: str) -> None:
    assert file_name(name).rpartition(".")[2] == name.rpartition(".")[2]


def test_what_is_shown_of_a_path_is_all_of_it_until_nobody_would_read_it() -> None:
    assert shown("a/b c.py") == "a/b c.py"
    assert len(shown("长" * 60_000).encode()) <= LONGEST_SHOWN


@pytest.mark.parametrize(
    "cell", ["=1", "+1", "-1", "@SUM(1)", "\t=1", " =1", "\n=1", "＝1", "＋1", "－1", "＠x", "｜x", "％x", "|x", "%x"]
)
def test_no_cell_of_a_table_is_a_formula(cell: str) -> None:
    assert for_csv(cell) == f"'{cell}"


@given(ANY_TEXT)
def test_no_text_is_markup_link_or_mention_in_markdown(text: str) -> None:
    made = for_markdown(text)
    assert len(made.splitlines()) <= 1
    plain = made.replace("\\\\", "")
    for mark in "`*<>[]|&~":
        assert mark not in plain.replace(f"\\{mark}", "")
    assert "@everyone" not in for_markdown("@everyone")
    assert "https://" not in for_markdown("see https://example.org")
    assert "www." not in for_markdown("www.example.org")


def test_a_name_in_the_fields_words_stays_readable_in_markdown() -> None:
    assert for_markdown("allocate_for_prefill raised KeyError: 'x'") == "allocate_for_prefill raised KeyError: 'x'"


@given(ANY_TEXT)
def test_no_terminal_is_told_to_do_anything(text: str) -> None:
    assert for_terminal(text).isprintable()


# Archives


def test_a_directory_larger_than_anyone_needs_is_not_read() -> None:
    with pytest.raises(TooMany):
        list(members(zipped({f"{'n' * 60_000}{number}": b"" for number in range(300)})))


def test_a_member_without_a_name_is_none(tmp_path: Path) -> None:
    """Found by a coverage-guided hunt: asking whether it is a folder raised, before anybody was graded."""
    packed = zipped({"x": b"", "a.py": b"x = 1"})
    directory = packed.index(b"PK\x01\x02")
    nameless = bytearray(packed)
    del nameless[directory + 46]
    nameless[directory + 28] = 0
    end = nameless.index(b"PK\x05\x06")
    nameless[end + 12 : end + 16] = (end - directory).to_bytes(4, "little")
    (tmp_path / "class.zip").write_bytes(nameless)
    assert [member.name for member in members(bytes(nameless))] == ["a.py"]
    assert [type(read(entry)).__name__ for entry in discover([tmp_path / "class.zip"])] == ["Submission"]


@given(st.binary(max_size=300))
def test_any_bytes_are_a_zip_or_refused(content: bytes) -> None:
    for archive in (content, zipped({"a.py": b"x = 1"}) + content, content + zipped({"a.py": b"x = 1"})):
        try:
            names = [member.name for member in members(archive)]
        except (BadZip, TooMany):
            continue
        assert all(isinstance(name, str) for name in names)


def test_zips_in_a_zip_are_read_no_further_than_one_student_may_have(tmp_path: Path) -> None:
    inner = zipped({"a.py": b"x = 1\n" * 650_000})
    content = zipped({f"{number}.zip": inner for number in range(60)})
    stored = zipped({f"{number}.zip": b"#" * 3_000_000 for number in range(60)})
    for name, archive in (("bomb.zip", content), ("held.zip", stored)):
        (tmp_path / name).write_bytes(archive)
        [entry] = discover([tmp_path / name], "one")
        assert read(entry).student == name.removesuffix(".zip")


class Names:
    """A folder that holds files of these names."""

    path, shown = Path("class"), "class"

    def __init__(self, names: list[str]) -> None:
        self._children = [Child(name, False) for name in names]

    def children(self, base: str) -> list[Child]:
        return [] if base else self._children

    def holds(self, place: str) -> bool:
        return False

    def load(self, place: str) -> bytes:
        raise AssertionError(place)


@pytest.mark.parametrize(
    "name",
    ["_" * 1000, "_1" * 500, "(1)" * 300, "a_attempt_" * 100, "copy" * 250, "\n" * 1000, " - " * 300, "1" * 1000],
)
def test_the_patterns_of_names_take_time_in_proportion_to_their_length(name: str) -> None:
    """Ten thousand such names would take minutes if one of them took more than it is long."""
    listing = Names([f"{name}{number}.zip" for number in range(10_000)])
    for read_names in PLATFORMS.values():
        read_names(listing, "")


# Folders of results


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
ROW = {
    "student": "ada", "file": "a.py", "sha256": "", "device": "cpu", "tests": [], "rejected": None, "notes": [],
    "pending_points": 0, "confinement": {}, "versions": {}, "gradescope": {},
}  # fmt: skip


@given(st.dictionaries(st.sampled_from(sorted(ROW)), JSON, max_size=3), JSON)
def test_any_row_is_a_result_or_none(changes: dict[str, object], whole: object) -> None:
    result_of({**ROW, **changes})
    result_of(whole)


@pytest.mark.parametrize("name", [name for name in ROW if name not in ("student", "file", "sha256", "device")])
def test_half_a_character_where_no_text_belongs_is_no_result(name: str) -> None:
    """A journal is JSON, where an escape may stand for half of a surrogate pair."""
    assert result_of({**ROW, name: json.loads(r'"\ud800"')}) is None


@pytest.mark.parametrize("student", ["../escaped", "/etc", "a/b", "", ".", "nul", "a\x1b", "x" * 999])
def test_a_row_of_a_student_whom_no_grader_would_call_so_is_passed_over(student: str, tmp_path: Path) -> None:
    assert result_of(ROW) is not None
    lines = [json.dumps({**ROW, "student": student}), json.dumps(ROW), "[" * 99_999]
    (tmp_path / "journal.jsonl").write_text("\n".join(lines))
    assert [row["student"] for row in rows(tmp_path)] == ["ada"]


@pytest.mark.parametrize("place", ["students", "students/ada", "students/ada/received"])
def test_results_are_not_written_through_a_link(place: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "out" / place
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="link"):
        student_folder(tmp_path / "out", "ada", "received")
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_journal_that_is_a_link_or_a_pipe_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious").write_bytes(b"no line ends here")
    for name, make in (("link", lambda p: p.symlink_to(tmp_path / "precious")), ("pipe", os.mkfifo)):
        out = tmp_path / name
        out.mkdir()
        make(out / "journal.jsonl")
        with pytest.raises(JournalError):
            Journal(out, resume=True)
        assert list(rows(out)) == []
    assert (tmp_path / "precious").read_bytes() == b"no line ends here"


def test_settings_in_what_is_graded_are_a_students_and_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "pyproject.toml").write_text('[tool.autograder]\nlanguage = "zh"\n')
    (tmp_path / "pyproject.toml").write_text('[tool.autograder]\ngpu = "off"\n')
    assert load_config(tmp_path / "class") == Config(language="zh")
    assert load_config(tmp_path / "class", [tmp_path / "class"]) == Config(gpu="off")
