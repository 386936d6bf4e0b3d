"""What derives from a journal follows its last rows: reports, merged runs and bundles, without grading anything."""

import csv
import json
import zipfile
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from commands import autograder
from reporting_samples import FULL, GPU, MIXED, REJECTED

from autograder.config import Config
from autograder.contract.seed import PUBLIC
from autograder.grading.many.hand_out import write_bundles
from autograder.grading.many.journal import Journal
from autograder.grading.many.received import Received, keep_received
from autograder.grading.many.rerender import merge_runs, render
from autograder.reporting.bundle import make_bundle
from autograder.reporting.gradebook import student_files
from autograder.reporting.results import SubmissionResult
from autograder.reporting.schema import row
from autograder.reporting.words import Words

WORDS = Words("en")


def run_of(out: Path, *results: SubmissionResult) -> Path:
    """Write a journal with these rows, in this order."""
    with Journal(out, resume=False) as journal:
        for result in results:
            journal.append(row(result))
    return out


def points_in(out: Path) -> dict[str, str]:
    """Return each student's points in grades.csv."""
    with (out / "grades.csv").open(encoding="utf-8", newline="") as file:
        return {line["student"]: line["points"] for line in csv.DictReader(file)}


def points_of(content: bytes) -> int:
    points = json.loads(content)["points"]
    assert isinstance(points, int)
    return points


WORSE, BETTER = MIXED, FULL
TWICE = {"mended": (WORSE, BETTER), "spoilt": (BETTER, WORSE)}


@pytest.fixture(params=TWICE)
def regraded(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, int]:
    """Give a run in which one student was graded twice, with somebody between, and the points that hold."""
    first, last = TWICE[request.param]
    return run_of(tmp_path / "out", first, replace(FULL, student="bob"), last), last.points


def test_reports_and_grades_follow_the_last_row(regraded: tuple[Path, int]) -> None:
    out, points = regraded
    lines, _ = render(out, Config(), WORDS)
    assert [(line.student, line.points) for line in lines] == [("ada", points), ("bob", 80)]
    assert points_in(out) == {"ada": str(points), "bob": "80"}
    assert points_of((out / "students" / "ada" / "results.json").read_bytes()) == points


def test_a_merged_run_follows_the_last_row(regraded: tuple[Path, int], tmp_path: Path) -> None:
    out, points = regraded
    lines, problems = merge_runs([out], tmp_path / "merged", Config(), WORDS)
    assert (points_in(tmp_path / "merged"), problems) == ({"ada": str(points), "bob": "80"}, [])
    assert [line.points for line in lines] == [points, 80]


def test_bundles_follow_the_last_row(regraded: tuple[Path, int]) -> None:
    out, points = regraded
    journal = out / "journal.jsonl"
    own = sha256(b"as handed in").hexdigest()
    journal.write_bytes(journal.read_bytes().replace(FULL.sha256.encode(), own.encode()))
    for student in ("ada", "bob"):
        keep_received(out, student, Received("paged_attention.ipynb", b"as handed in"))
    assert [path.name for path in write_bundles(out, b"", Config(), WORDS)[0]] == ["ada.zip", "bob.zip"]
    with zipfile.ZipFile(out / "bundles" / "ada.zip") as archive:
        assert points_of(archive.read("results.json")) == points


def test_a_class_of_shards_is_everybody_of_each(tmp_path: Path) -> None:
    shards = [
        run_of(tmp_path / name, *(replace(FULL, student=student) for student in name)) for name in ("ad", "cb", "e")
    ]
    lines, problems = merge_runs(shards, tmp_path / "out", Config(), WORDS)
    assert ([line.student for line in lines], problems) == (list("abcde"), [])
    assert points_in(tmp_path / "out") == dict.fromkeys("abcde", "80")


def test_a_shard_without_students_is_no_error_but_a_folder_without_a_journal_is(tmp_path: Path) -> None:
    full, empty = run_of(tmp_path / "full", FULL), run_of(tmp_path / "empty")
    assert len(merge_runs([empty, full], tmp_path / "out", Config(), WORDS)[0]) == 1
    (tmp_path / "nothing").mkdir()
    for command in (["merge", "full", "nothing", "-o", "m"], ["report", "nothing"], ["report", "empty"]):
        done = autograder(*command, cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), command
        assert "grade into" in done.stderr


def test_a_merge_keeps_the_file_as_handed_in_from_whichever_run_has_it(tmp_path: Path) -> None:
    own = {"sha256": sha256(b"as handed in").hexdigest()}
    cpu, gpu = run_of(tmp_path / "cpu", replace(FULL, **own)), run_of(tmp_path / "gpu", replace(GPU, **own))
    received = gpu / "students" / "ada" / "received"
    received.mkdir(parents=True)
    (received / "work.ipynb").write_bytes(b"as handed in")
    merge_runs([cpu, gpu], tmp_path / "out", Config(), WORDS)
    assert (
        tmp_path / "out" / "students" / "ada" / "received" / "paged_attention.ipynb"
    ).read_bytes() == b"as handed in"
    write_bundles(tmp_path / "out", b"", Config(), WORDS)
    with zipfile.ZipFile(tmp_path / "out" / "bundles" / "ada.zip") as archive:
        assert archive.read("submission/paged_attention.ipynb") == b"as handed in"


def test_runs_that_do_not_belong_together_end_with_2_and_name_the_student(tmp_path: Path) -> None:
    run_of(tmp_path / "cpu", FULL, replace(FULL, student="bob"))
    run_of(tmp_path / "gpu", replace(GPU, sha256="00" * 32), replace(GPU, student="bob"))
    done = autograder("merge", "cpu", "gpu", "-o", "out", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "ada" in done.stderr
    assert points_in(tmp_path / "out") == {"ada": "80", "bob": "100"}


def test_the_course_s_language_is_that_of_the_reports_unless_a_command_says_otherwise(tmp_path: Path) -> None:
    run_of(tmp_path / "out", MIXED, replace(REJECTED, student="torn"))
    (tmp_path / "pyproject.toml").write_text('[tool.autograder]\nlanguage = "zh"\n', encoding="utf-8")
    for options, language in (([], "zh-CN"), (["--lang", "en"], "en"), (["--lang", "zh"], "zh-CN")):
        assert autograder("report", "out", *options, cwd=tmp_path).returncode == 0
        for student in ("ada", "torn"):
            page = (tmp_path / "out" / "students" / student / "report.html").read_text(encoding="utf-8")
            assert f'<html lang="{language}">' in page


@pytest.mark.parametrize("policy", ["score", "hint", "example"])
def test_reports_show_what_the_course_says_now(tmp_path: Path, policy: str) -> None:
    out = run_of(tmp_path / "out", MIXED)
    (tmp_path / "pyproject.toml").write_text(f'[tool.autograder]\nfeedback = "{policy}"\n', encoding="utf-8")
    assert autograder("report", "out", cwd=tmp_path).returncode == 0
    report = (out / "students" / "ada" / "report.md").read_text(encoding="utf-8")
    assert (WORDS.text("decode.late.sentence") in report) == (policy != "score")
    assert (WORDS.text("page.example") in report) == (policy == "example")


def test_every_earlier_journal_is_kept_under_a_number_of_its_own(tmp_path: Path) -> None:
    for name in ("one", "two", "three", "four"):
        run_of(tmp_path, replace(FULL, student=name))
    kept = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.glob("journal*.jsonl")}
    assert {name: json.loads(line)["student"] for name, line in kept.items()} == {
        "journal.1.jsonl": "one",
        "journal.2.jsonl": "two",
        "journal.3.jsonl": "three",
        "journal.jsonl": "four",
    }


def test_resuming_adds_to_the_journal_and_keeps_none_aside(tmp_path: Path) -> None:
    run_of(tmp_path, FULL)
    with Journal(tmp_path, resume=True) as journal:
        journal.append(row(replace(FULL, student="bob")))
    assert [path.name for path in tmp_path.glob("journal*.jsonl")] == ["journal.jsonl"]
    assert len((tmp_path / "journal.jsonl").read_bytes().splitlines()) == 2


@pytest.mark.parametrize("keep", [0, 1, 40])
def test_resuming_cuts_half_a_row_and_nothing_else(tmp_path: Path, keep: int) -> None:
    run_of(tmp_path, FULL, replace(FULL, student="bob"))
    path = tmp_path / "journal.jsonl"
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    path.write_bytes(whole[: first + keep])
    with Journal(tmp_path, resume=True):
        assert path.read_bytes() == whole[:first]


def test_a_journal_of_half_a_row_is_empty_after_resuming(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_bytes(b'{"student": "' + b"x" * 200_000)
    with Journal(tmp_path, resume=True):
        assert (tmp_path / "journal.jsonl").read_bytes() == b""


def test_a_bundle_whose_points_grading_again_does_not_give_is_named(tmp_path: Path) -> None:
    content = b"x = 1\n"
    versions = {**FULL.versions, "seed": PUBLIC.sha256}
    claimed = replace(FULL, file="ada.py", sha256=sha256(content).hexdigest(), versions=versions)
    path = tmp_path / "ada.zip"
    path.write_bytes(make_bundle(claimed, student_files(claimed, WORDS, "hint"), content, "t" * 64, "l" * 64))
    done = autograder("bundle", "--verify", path, "--regrade", cwd=tmp_path)
    assert done.returncode == 2
    assert "q1.basic" in done.stderr


@pytest.mark.parametrize(
    ("feedback", "said"), [("hint", ["other hidden tests"]), ("example", ["other hidden tests", "no example"])]
)
def test_report_says_what_a_changed_setting_cannot_do_without_a_new_run(
    tmp_path: Path, feedback: str, said: list[str]
) -> None:
    bare = replace(MIXED, tests=tuple(replace(test, example=None) for test in MIXED.tests))
    out = run_of(tmp_path / "out", bare, replace(bare, student="bob"))
    (tmp_path / "pyproject.toml").write_text(f'[tool.autograder]\nfeedback = "{feedback}"\n', "utf-8")
    done = autograder("report", out, cwd=tmp_path)
    assert done.returncode == 0
    assert len(done.stderr.splitlines()) == len(said)
    assert all("2 re" in line and words in line for line, words in zip(done.stderr.splitlines(), said, strict=True))
