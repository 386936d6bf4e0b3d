"""A bundle comes from a stranger: what it says is believed where its parts prove it, and refused elsewhere."""

import json
import os
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
from odd_files import zipped

from autograder.reporting.received_bundle import verify

RESULTS = b'{"tests": [], "status": "graded", "submission": {"sha256": "%s"}}' % sha256(b"x = 1").hexdigest().encode()
NO_RESULTS = (
    b"[]", b"\xff", b'{"tests": 1, "status": "x"}', b'{"tests": [{"id": 1}], "status": "x"}', b"[" * 99_999, b"9" * 9999
)  # fmt: skip


def bundle(**changes: bytes) -> bytes:
    parts = {
        "results.json": RESULTS,
        "submission/a.py": b"x = 1",
    } | changes
    files = {name: sha256(content).hexdigest() for name, content in parts.items()}
    manifest = json.dumps({"schema": "autograder-bundle/1", "student": "m", "files": files}).encode()
    return zipped({"MANIFEST.json": manifest, **parts})


STRANGE = (
    "submission//etc/breach",
    "submission/../breach",
    "/breach",
    "submission/a/b",
    "submission/x\x1b[2J",
    "a\\..\\b",
)


def codes(tmp_path: Path, content: bytes) -> list[str]:
    (tmp_path / "b.zip").write_bytes(content)
    return [finding.code for finding in verify(tmp_path / "b.zip")]


def test_a_bundle_with_all_its_parts_is_what_it_says(tmp_path: Path) -> None:
    assert codes(tmp_path, bundle()) == []


@pytest.mark.parametrize("name", STRANGE)
def test_a_name_that_leads_anywhere_makes_a_bundle_strange(name: str, tmp_path: Path) -> None:
    assert codes(tmp_path, bundle(**{name: b"x"})) == ["bundle.strange"]


@pytest.mark.parametrize("results", NO_RESULTS)
def test_results_that_cannot_be_compared_are_no_part_of_a_bundle(results: bytes, tmp_path: Path) -> None:
    assert codes(tmp_path, bundle(**{"results.json": results})) == ["bundle.parts"]


def test_a_bundle_without_a_submission_lacks_a_part(tmp_path: Path) -> None:
    whole = bundle()
    (tmp_path / "whole.zip").write_bytes(whole)
    with zipfile.ZipFile(tmp_path / "whole.zip") as archive:
        manifest = json.loads(archive.read("MANIFEST.json"))
        results = archive.read("results.json")
    del manifest["files"]["submission/a.py"]
    assert codes(tmp_path, zipped({"MANIFEST.json": json.dumps(manifest).encode(), "results.json": results})) == [
        "bundle.parts"
    ]


def test_a_bundle_that_is_no_file_is_unreadable(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.zip")
    assert [finding.code for finding in verify(tmp_path / "pipe.zip")] == ["bundle.unreadable"]
