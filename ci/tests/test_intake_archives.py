"""Archives, and the choice among several notebooks."""

import time
import zipfile
from pathlib import Path

import pytest
from intake_outcomes import code, fill, outcome, read_one
from large_files import bomb, crowded, noise
from odd_files import OLDER, OPEN, ipynb, percent, zipped

from autograder.findings import Finding
from autograder.intake.discover import discover
from autograder.intake.read import read
from autograder.intake.submission import Rejected, Submission


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"a.ipynb": ipynb()}, "graded"),
        ({"a\\b\\c.ipynb": ipynb()}, "graded"),
        ({"./a.ipynb": ipynb()}, "graded"),
        ({"../x.sh": b"", "/etc/passwd": b"", "a.ipynb": ipynb()}, "graded"),
        ({"inner.zip": zipped({"a.ipynb": ipynb()})}, "graded"),
        ({"inner.zip": zipped({"deeper.zip": zipped({"a.zip": b""})})}, "intake.nested"),
        ({"/abs/a.ipynb": ipynb()}, "intake.traversal"),
        ({"C:/a.ipynb": ipynb()}, "intake.traversal"),
        ({"a/../../b.ipynb": ipynb()}, "intake.traversal"),
        ({"notes.txt": b"x"}, "intake.no_notebook"),
        ({"a.ipynb": b""}, "intake.empty"),
        ({"A.ipynb": ipynb(), "a.ipynb": b"{"}, "graded"),
        ({}, "intake.no_notebook"),
    ],
)
def test_an_archive_is_graded_or_told_what_is_wrong(members: dict[str, bytes], expected: str, tmp_path: Path) -> None:
    assert outcome(tmp_path, "jane.zip", zipped(members)) == expected


def test_other_compression_methods_are_refused(tmp_path: Path) -> None:
    assert outcome(tmp_path, "a.zip", zipped({"a.ipynb": ipynb()}, method=zipfile.ZIP_LZMA)) == "intake.zip_method"


def test_a_damaged_archive_is_told(tmp_path: Path) -> None:
    packed = zipped({"a.ipynb": ipynb()})
    assert outcome(tmp_path, "a.zip", packed[: len(packed) // 2]) == "intake.bad_zip"
    assert outcome(tmp_path, "b.zip", packed[:60] + noise(1, 200) + packed[260:]) == "intake.bad_zip"


def test_a_bomb_is_told_by_its_size_and_never_unpacked(tmp_path: Path) -> None:
    packed = bomb(120)
    started = time.process_time()
    assert outcome(tmp_path, "a.zip", packed) == "intake.bomb"
    assert time.process_time() - started < 0.5


def test_a_member_too_big_is_told_its_size(tmp_path: Path) -> None:
    packed = bytearray(zipped({"a.ipynb": noise(2, 1_000_000)}, method=zipfile.ZIP_STORED))
    start = packed.find(b"PK\x01\x02") + 24
    packed[start : start + 4] = (90_000_000).to_bytes(4, "little")
    (tmp_path / "jane.zip").write_bytes(packed)
    result = read_one(tmp_path / "jane.zip")
    assert isinstance(result, Rejected)
    assert (result.finding.code, result.finding.details) == (
        "intake.too_big",
        {"file": "jane.zip/a.ipynb", "megabytes": 90, "limit": 80},
    )


def test_a_name_of_255_bytes_is_graded(tmp_path: Path) -> None:
    fill(tmp_path, {"é" * 124 + ".ipynb": ipynb(), "é" * 124 + "x.ipynb": ipynb()})
    entries = discover([tmp_path])
    assert [code(read(entry)) for entry in entries] == ["graded", "graded"]
    assert len({entry.student for entry in entries}) == 2


def test_a_bomb_that_lies_about_its_size_is_read_no_further_than_it_says(tmp_path: Path) -> None:
    packed = bytearray(bomb(10))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        start = packed.find(signature) + offset
        packed[start : start + 4] = (100).to_bytes(4, "little")
    assert outcome(tmp_path, "a.zip", bytes(packed)) == "intake.bad_zip"


def test_a_bomb_beside_a_notebook_costs_nothing(tmp_path: Path) -> None:
    members = {"data.bin": b"\0" * 90_000_000, "model.ipynb": b"[" * 90_000_000, "a.ipynb": ipynb()}
    assert outcome(tmp_path, "a.zip", zipped(members)) == "graded"


def test_a_notebook_among_twenty_thousand_members_is_graded_quickly(tmp_path: Path) -> None:
    packed = crowded(20_000, {"work/paged_attention.ipynb": ipynb()})
    started = time.process_time()
    assert outcome(tmp_path, "a.zip", packed) == "graded"
    assert time.process_time() - started < 3


def test_an_archive_of_more_members_than_anyone_packs_is_refused(tmp_path: Path) -> None:
    record = b"PK\x01\x02" + b"\0" * 42
    assert outcome(tmp_path, "a.zip", zipped({"a.ipynb": ipynb()}) + record * 60_000) == "intake.too_many"


def test_twenty_thousand_scripts_do_not_hide_the_notebook(tmp_path: Path) -> None:
    packed = crowded(0, {**{f"lib/m{number}.py": b"x = 1\n" for number in range(20_000)}, "a.ipynb": ipynb()})
    assert outcome(tmp_path, "a.zip", packed) == "graded"


# Several notebooks


@pytest.mark.parametrize(
    ("files", "picked"),
    [
        ({"a (1).ipynb": ipynb(), "a.ipynb": ipynb(OLDER)}, "a (1).ipynb"),
        ({"a (2).ipynb": ipynb(OLDER), "a (10).ipynb": ipynb()}, "a (10).ipynb"),
        ({"a 副本.ipynb": ipynb(), "a.ipynb": ipynb(OLDER)}, "a 副本.ipynb"),
        ({"a-copy.ipynb": ipynb(), "a.ipynb": ipynb(OLDER)}, "a-copy.ipynb"),
        ({"a (1).ipynb": ipynb(), "a.ipynb": ipynb()}, "a.ipynb"),
        ({"a.py": percent(OLDER).encode(), "a.ipynb": ipynb()}, "a.ipynb"),
        ({"paged_attention.ipynb": ipynb(), "old.ipynb": ipynb(OLDER)}, "paged_attention.ipynb"),
        ({"paged_attention.ipynb": ipynb(("x = 1",)), "answer.ipynb": ipynb()}, "answer.ipynb"),
        ({"paged_attention.en.ipynb": ipynb(OPEN), "paged_attention.zh.ipynb": ipynb()}, "paged_attention.zh.ipynb"),
        ({"a.ipynb": ipynb()[:900], "a (1).ipynb": ipynb()}, "a (1).ipynb"),
        ({"helpers.py": b"def f(): ...\n", "notes.md": b"# hi\n", "a.ipynb": ipynb()}, "a.ipynb"),
        ({"a.ipynb": ipynb(), "b.ipynb": ipynb(OLDER)}, None),
    ],
)
def test_one_of_several_is_picked_by_content_and_name(files: dict[str, bytes], picked: str, tmp_path: Path) -> None:
    fill(tmp_path / "class" / "jane", files)
    (tmp_path / "jane.zip").write_bytes(zipped(files))
    for path, prefix in ((tmp_path / "class", "jane"), (tmp_path / "jane.zip", "jane.zip")):
        result = read_one(path)
        if picked is None:
            assert code(result) == "intake.several"
        else:
            assert result.file == f"{prefix}/{picked}"


def test_a_choice_between_real_rivals_is_remarked_and_others_are_not(tmp_path: Path) -> None:
    fill(tmp_path / "one", {"jane/a.ipynb": ipynb(OLDER), "jane/a (1).ipynb": ipynb()})
    fill(tmp_path / "two", {"jane/a.ipynb": ipynb(), "jane/helpers.py": b"x = 1\n"})
    first, second = read_one(tmp_path / "one"), read_one(tmp_path / "two")
    assert isinstance(first, Submission)
    assert isinstance(second, Submission)
    assert first.remarks == (Finding("intake.picked", {"file": "jane/a (1).ipynb", "others": "jane/a.ipynb"}),)
    assert second.remarks == ()


# Large and hostile notebooks
