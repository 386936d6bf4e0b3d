"""Odd downloads of nine platforms: everyone is found under the platform's id, nobody is merged, invented or guessed."""

from dataclasses import replace
from pathlib import Path

import pytest
from listing import STOP, Listing
from listings import LISTINGS
from odd_files import OPEN, ipynb, zipped

from autograder.intake.discover import discover
from autograder.intake.read import read
from autograder.intake.submission import UsageError


def content(what: int | str | None) -> bytes:
    if isinstance(what, str):
        return what.encode()
    return b"%PDF" if what is None else ipynb() if what else ipynb(OPEN)


def lay_out(root: Path, listing: Listing, packed: bool) -> Path:
    files = {name: content(what) for name, what in listing.files.items()}
    if packed:
        (root / "download.zip").write_bytes(zipped(files))
        return root / "download.zip"
    for name, data in files.items():
        (root / "download" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "download" / name).write_bytes(data)
    return root / "download"


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
@pytest.mark.parametrize("listing", LISTINGS, ids=lambda listing: listing.name)
def test_everyone_is_found_once_with_the_attempt_that_counts(listing: Listing, packed: bool, tmp_path: Path) -> None:
    expected = (packed and listing.packed) or listing.found
    path = lay_out(tmp_path, listing, packed)
    if expected == STOP:
        with pytest.raises(UsageError, match=r"^[^\n]*$"):
            discover([path], listing.layout, listing.pattern)
        return
    found = {entry.who.id or entry.student: entry for entry in discover([path], listing.layout, listing.pattern)}
    assert found.keys() == expected.keys()
    for student, piece in expected.items():
        assert piece in f"/{found[student].parts[0]}/"


def test_an_older_attempt_is_graded_only_with_a_remark(tmp_path: Path) -> None:
    for listing in LISTINGS:
        if listing.name.startswith("blackboard: the newest"):
            root = tmp_path / listing.name[-3:]
            root.mkdir()
            entries = {entry.who.id: entry for entry in discover([lay_out(root, listing, False)])}
            assert [remark.code for remark in entries["jdoe"].remarks] == ["intake.older_attempt"]
            assert entries["jdoe"].left_out
            assert entries["jdoe"].who.attempts_seen == 2
            assert entries["mroe"].remarks == ()


def test_a_later_download_of_the_same_student_is_a_newer_attempt_wherever_it_stands(tmp_path: Path) -> None:
    for folder, name in (("one", "amy_101_9001_work.ipynb"), ("two", "amy_LATE_101_9050_work.ipynb")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(ipynb())
    forward, backward = (discover([tmp_path / a, tmp_path / b]) for a, b in (("one", "two"), ("two", "one")))
    assert forward == backward
    assert [(e.student, e.who.late, e.who.attempts_seen, e.parts[0]) for e in forward] == [
        ("amy-101", True, 2, "amy_LATE_101_9050_work.ipynb")
    ]


@pytest.mark.parametrize(
    ("written", "received"),
    [
        ("2026-11-01 11:58:02.031000000 Z", "2026-11-01T11:58:02+00:00"),
        ("2026-11-01 06:58:02.5 -05:00", "2026-11-01T06:58:02-05:00"),
        ("2026-11-01 11:58:02", "2026-11-01T11:58:02"),
        ("yesterday", ""),
    ],
)
def test_a_time_of_gradescope_s_keeps_its_zone(written: str, received: str, tmp_path: Path) -> None:
    listing = next(listing for listing in LISTINGS if listing.name.startswith("gradescope: one submission"))
    files = {n: w.replace("2026-11-01 11:58:02.031000000 Z", written) if n.endswith("yml") else w
             for n, w in listing.files.items()}  # fmt: skip
    entries = discover([lay_out(tmp_path, replace(listing, files=files), False)])
    assert {entry.who.received for entry in entries if entry.who.id == "s1"} == {received}


def test_a_student_who_names_files_as_a_platform_would_does_not_stop_the_class(tmp_path: Path) -> None:
    for name in ("ann", "bo", "cy", "x_7_assignsubmission_file_y", "z_11_222_y"):
        (tmp_path / f"{name}.ipynb").write_bytes(ipynb())
    assert len(discover([tmp_path])) == 5


def test_files_given_by_name_are_the_same_students_as_in_their_folder(tmp_path: Path) -> None:
    for listing in LISTINGS:
        if listing.found != STOP and listing.layout == "auto" and not listing.pattern:
            root = tmp_path / str(len(list(tmp_path.iterdir())))
            root.mkdir()
            folder = lay_out(root, listing, False)
            files = sorted(folder.iterdir())
            if all(file.is_file() and file.suffix == ".ipynb" for file in files):
                assert [e.student for e in discover(files)] == [e.student for e in discover([folder])], listing.name


def test_a_script_that_canvas_numbered_apart_from_its_notebook_is_still_its_pair(tmp_path: Path) -> None:
    (tmp_path / "amy_101_9001_work.ipynb").write_bytes(ipynb())
    (tmp_path / "amy_101_9002_work.py").write_bytes(b"class KVCacheManager:\n    pass\n")
    (tmp_path / "bo_102_9003_work.ipynb").write_bytes(ipynb())
    [amy, _] = [read(entry) for entry in discover([tmp_path])]
    assert amy.file == "amy_101_9001_work.ipynb"
