"""Students are named from what learning platforms call their downloads, uniquely and safely."""

import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odd_files import OPEN, ipynb, zipped

from autograder.intake.discover import discover
from autograder.intake.names import safe, unique
from autograder.intake.read import read
from autograder.intake.submission import Submission

CLASS_DOWNLOADS = {
    "canvas": (
        {"doejane_12345_67890_paged_attention.ipynb": 1, "li_LATE_12346_67891_paged_attention-1.ipynb": 1},
        ["doejane-12345", "li-12346"],
    ),
    "canvas, graded blindly": ({"anon_aB3_67890_paged_attention.ipynb": 1}, ["anon_aB3"]),
    "moodle, folders": (
        {
            "Jane Doe_101_assignsubmission_file_/my work.ipynb": 1,
            "Jane Doe_101_assignsubmission_onlinetext_/onlinetext.html": 0,
            "李 雷_102_assignsubmission_file_/x.ipynb": 1,
        },
        ["Jane Doe-101", "李 雷-102"],
    ),
    "moodle, flat": ({"Jane Doe_101_assignsubmission_file_x.ipynb": 1}, ["Jane Doe-101"]),
    "blackboard, two attempts": (
        {
            "PagedAttention_jdoe_attempt_2024-01-02-03-04-05_x.ipynb": 0,
            "PagedAttention_jdoe_attempt_2024-01-03-03-04-05_x.ipynb": 1,
            "PagedAttention_jdoe_attempt_2024-01-03-03-04-05.txt": 0,
        },
        ["jdoe"],
    ),
    "gradescope": (
        {"submission_7001/a.ipynb": 1, "submission_7002/a.ipynb": 1, "submission_metadata.yml": 0},
        ["submission_7001", "submission_7002"],
    ),
    "nbgrader": (
        {"submitted/jane/ps1/a.ipynb": 1, "submitted/li/ps1/a.ipynb": 1, "gradebook.db": 0},
        ["jane", "li"],
    ),
}


def lay_out(root: Path, files: dict[str, int]) -> dict[str, bytes]:
    contents = {name: ipynb() if right else ipynb(OPEN) for name, right in files.items()}
    for name, content in contents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return contents


def names_and_answers(path: Path) -> tuple[list[str], bool]:
    entries = discover([path])
    results = [read(entry) for entry in entries]
    right = all(isinstance(r, Submission) and "NotImplementedError" not in "".join(r.cells) for r in results)
    return [entry.student for entry in entries], right


@pytest.mark.parametrize("platform", CLASS_DOWNLOADS)
def test_a_class_download_is_graded_as_folder_wrapped_folder_and_zip_alike(platform: str, tmp_path: Path) -> None:
    files, students = CLASS_DOWNLOADS[platform]
    contents = lay_out(tmp_path / "flat", files)
    lay_out(tmp_path / "wrapped" / "export", files)
    (tmp_path / "class.zip").write_bytes(zipped(contents))
    (tmp_path / "wrapped.zip").write_bytes(zipped({f"export/{name}": content for name, content in contents.items()}))
    for path in ("flat", "wrapped", "class.zip", "wrapped.zip"):
        assert names_and_answers(tmp_path / path) == (students, True)


def test_students_own_zips_inside_a_class_zip_are_read(tmp_path: Path) -> None:
    (tmp_path / "class.zip").write_bytes(zipped({"jane_11_222_work.zip": zipped({"work/a.ipynb": ipynb()})}))
    assert names_and_answers(tmp_path / "class.zip") == (["jane-11"], True)


def test_own_numbering_that_resembles_canvas_loses_no_student(tmp_path: Path) -> None:
    lay_out(tmp_path, {"lab_2024_1130_jane.ipynb": 1, "lab_2024_1130_li.ipynb": 1, "lab_2_1_bo.ipynb": 1})
    assert len(discover([tmp_path])) == 3


def test_otter_exports_of_one_name_are_told_apart_by_their_time(tmp_path: Path) -> None:
    for minute in (11, 12):
        (tmp_path / f"paged_attention_2024_01_02T03_{minute}_05_123456.zip").write_bytes(zipped({"a.ipynb": ipynb()}))
    names, _ = names_and_answers(tmp_path)
    assert names == [f"paged_attention-2024_01_02T03_{minute}_05_123456" for minute in (11, 12)]


def test_namesakes_keep_apart_by_the_platforms_number(tmp_path: Path) -> None:
    lay_out(tmp_path, {f"Wang Wei_{number}_assignsubmission_file_/a.ipynb": 1 for number in (7, 8)})
    assert [entry.student for entry in discover([tmp_path])] == ["Wang Wei-7", "Wang Wei-8"]


def test_a_file_its_pair_and_a_folder_of_one_name_are_one_student(tmp_path: Path) -> None:
    lay_out(tmp_path, {"jane.ipynb": 1, "jane.py": 0, "jane.pdf": 0, "jane/jane.ipynb": 0, "jane.v2.ipynb": 1})
    assert names_and_answers(tmp_path) == (["jane", "jane.v2"], True)


def test_names_that_differ_by_case_or_normalisation_get_folders_of_their_own(tmp_path: Path) -> None:
    lay_out(tmp_path, {"Jane.ipynb": 1, "jane.ipynb": 1, "é.ipynb": 1, "e\u0301.ipynb": 1})
    folders = [entry.student.casefold() for entry in discover([tmp_path])]
    assert len(set(folders)) == 4


def test_the_order_of_the_arguments_changes_no_name(tmp_path: Path) -> None:
    lay_out(tmp_path, {"a/work.ipynb": 1, "b/work.ipynb": 1, "c/work-2.ipynb": 1})
    paths = [tmp_path / "a" / "work.ipynb", tmp_path / "b" / "work.ipynb", tmp_path / "c" / "work-2.ipynb"]
    forward = discover(paths)
    assert forward == discover([*reversed(paths), paths[0]])
    assert [entry.student for entry in forward] == ["work", "work-2", "work-3"]
    assert forward[1].path == paths[2]


def test_readable_names_survive() -> None:
    for name in ("李雷", "Ana María", 'O\'Neil "Bob"', "🎓👩‍💻", "a.b", "-rf"):
        assert safe(name) == name


def test_a_zip_of_gbk_names_shows_them_right(tmp_path: Path) -> None:
    packed = zipped({"XXXX_11_222_a.ipynb": ipynb()}).replace(b"XXXX", "李雷".encode("gbk"))
    (tmp_path / "class.zip").write_bytes(packed)
    assert zipfile.is_zipfile(tmp_path / "class.zip")
    assert [entry.student for entry in discover([tmp_path / "class.zip"])] == ["李雷-11"]


@given(st.lists(st.text(st.characters(), max_size=300), max_size=8))
def test_any_names_become_distinct_folders_that_can_be_made(names: list[str]) -> None:
    folders = unique([(name, "") for name in names])
    assert len({folder.casefold() for folder in folders}) == len(names)
    for folder in folders:
        assert folder not in ("", ".", "..")
        assert not {"/", "\\", "\0", "\n"} & set(folder)
        assert len(folder.encode()) <= 240
