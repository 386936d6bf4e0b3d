"""Bundles: the same bytes every time, and any change shows."""

import json
import zipfile
from dataclasses import replace
from hashlib import sha256
from io import BytesIO

import pytest
from reporting_samples import FULL, MIXED

from autograder.reporting.bundle import digest, make_bundle
from autograder.reporting.gradebook import student_files
from autograder.reporting.received_bundle import differences, results_of, submission_of, verify
from autograder.reporting.schema import to_json
from autograder.reporting.words import Words

WORDS = Words("en")


def bundle(result=FULL, submission=b"{}"):
    result = replace(result, sha256=sha256(submission).hexdigest())
    return make_bundle(result, student_files(result, WORDS, "hint"), submission, "t" * 64, "l" * 64)


def rewritten(content, change):
    """Return the zip ``content`` with its members passed through ``change``, a function on the dict of members."""
    with zipfile.ZipFile(BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def problems_of(tmp_path, content):
    path = tmp_path / "ada.zip"
    path.write_bytes(content)
    return [problem.code for problem in verify(path)]


def test_a_bundle_holds_everything_and_verifies(tmp_path):
    assert problems_of(tmp_path, bundle()) == []
    with zipfile.ZipFile(tmp_path / "ada.zip") as archive:
        manifest = json.loads(archive.read("MANIFEST.json"))
        assert {*manifest["files"], "MANIFEST.json"} == set(archive.namelist())
    assert manifest["hidden_tests"] == "t" * 64
    assert manifest["devices"] == ["cpu"]
    assert submission_of(tmp_path / "ada.zip") == ("paged_attention.ipynb", b"{}")
    assert results_of(tmp_path / "ada.zip")["student"] == "ada"


def test_the_same_content_gives_the_same_bytes():
    assert bundle() == bundle()


def test_a_folder_in_the_submissions_name_does_not_lead_out_of_the_bundle(tmp_path):
    assert problems_of(tmp_path, bundle(replace(FULL, file="../../x/y.ipynb"))) == []
    assert submission_of(tmp_path / "ada.zip")[0] == "y.ipynb"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda m: m.update({"report.md": b"100 points"}), "bundle.changed"),
        (lambda m: m.pop("report.md"), "bundle.missing"),
        (lambda m: m.update({"extra.txt": b""}), "bundle.unlisted"),
        (lambda m: m.pop("MANIFEST.json"), "bundle.manifest"),
        (lambda m: m.update({"MANIFEST.json": b"[" * 100_000}), "bundle.manifest"),
        (lambda m: m.update({"MANIFEST.json": b'{"schema": "other"}'}), "bundle.manifest"),
        (lambda m: m.update({f"{i}": b"" for i in range(100)}), "bundle.members"),
    ],
)
def test_every_change_is_named(tmp_path, change, code):
    assert problems_of(tmp_path, rewritten(bundle(), change)) == [code]


def test_a_bundle_of_another_file_than_results_speak_of_does_not_verify(tmp_path):
    other = make_bundle(FULL, student_files(FULL, WORDS, "hint"), b"{}", "t" * 64, "l" * 64)
    assert problems_of(tmp_path, other) == ["bundle.other_file"]


@pytest.mark.parametrize("damage", [lambda b: b[:-30], lambda b: b"", lambda b: b"PK" * 50])
def test_a_damaged_bundle_is_one_problem(tmp_path, damage):
    assert problems_of(tmp_path, damage(bundle())) == ["bundle.unreadable"]


def test_any_flipped_byte_shows(tmp_path):
    content = bytearray(bundle())
    at = content.index(b"paged_attention.ipynb", content.index(b"results.json"))
    content[at] ^= 1
    assert problems_of(tmp_path, bytes(content))


def test_a_missing_bundle_is_a_problem_not_a_crash(tmp_path):
    assert [p.code for p in verify(tmp_path / "none.zip")] == ["bundle.unreadable"]


def test_the_digest_knows_names_contents_and_their_borders():
    assert digest({"a": b"1", "b": b"2"}) == digest({"b": b"2", "a": b"1"})
    assert len({digest(c) for c in ({"a": b"12"}, {"a": b"1", "b": b"2"}, {"a1": b"2"}, {"a": b"21"})}) == 4


def test_grading_again_names_what_differs():
    stored, again = to_json(FULL, WORDS), to_json(MIXED, WORDS)
    assert differences(stored, stored) == []
    found = [(finding.code, finding.details["case"]) for finding in differences(stored, again)]
    cases = ("q2.basic", "q3.basic", "q4.basic", "q5.basic", "q2.refusal_changes_nothing", "q3.grows_when_full")
    assert found == [("bundle.differs", case) for case in (*cases, "q5.request")]


def test_grading_again_names_another_end_that_costs_as_much():
    tests = tuple(replace(t, status="failed") if t.id == "q5.request" else t for t in MIXED.tests)
    found = differences(to_json(MIXED, WORDS), to_json(replace(MIXED, tests=tests), WORDS))
    assert [(finding.code, finding.details["case"]) for finding in found] == [("bundle.differs", "q5.request")]
