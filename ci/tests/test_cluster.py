"""Grading on a Dask cluster of real processes: the same bytes as on one machine, whatever happens to the workers."""

import ast
import os
import signal
import time
import zipfile
from pathlib import Path

import pytest
from classes import make_class, solution
from clusters import cluster
from commands import ROOT, autograder, start_autograder
from ports import ANSWERS, taken
from test_batch import snapshot

from autograder.grading.many.journal import recorded, rows

PRELOAD = ROOT / "ci" / "bench" / "poison.py"
CLASS_SIZE = 44


def sentence(done) -> str:
    """Return the one sentence that a command ended with."""
    said = [line for line in done.stderr.splitlines() if not line.startswith("The course has no seed")]
    assert (done.returncode, len(said)) == (2, 1), done.stderr
    return said[0]


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A class of every form: single files, folders with helpers, a zip, and files that cannot be graded."""
    folder = make_class(tmp_path_factory.mktemp("course") / "class", CLASS_SIZE - 4)
    with_helper = folder / "with-helper"
    with_helper.mkdir()
    (with_helper / "sizes.py").write_text("KIB = 1024\n", encoding="utf-8")
    (with_helper / "paged.py").write_text(f"import sizes\n{solution()}", encoding="utf-8")
    with zipfile.ZipFile(folder / "zipped.zip", "w") as archive:
        archive.writestr("work/paged.py", solution())
    (folder / "torn.zip").write_bytes(b"PK\3\4 and no more")
    linked = folder / "linked"
    linked.mkdir()
    (linked / "paged.py").symlink_to("/etc/hostname")
    return folder


@pytest.fixture(scope="module")
def local(course, tmp_path_factory):
    out = tmp_path_factory.mktemp("local") / "out"
    assert autograder("grade", course, "-o", out).returncode == 1
    return snapshot(out)


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory):
    with cluster(tmp_path_factory.mktemp("two"), workers=2) as made:
        yield made


def assert_everyone_once(out: Path) -> None:
    students = [row["student"] for row in rows(out)]
    assert len(students) == len(set(students)) == CLASS_SIZE


def test_a_cluster_gives_the_same_bytes_as_one_machine(course, local, two_workers, tmp_path):
    done = autograder("grade", course, "-o", tmp_path / "out", "--cluster", two_workers.address)
    assert done.returncode == 1, done.stderr
    assert snapshot(tmp_path / "out") == local
    assert_everyone_once(tmp_path / "out")


def test_resume_sends_out_only_what_is_missing(course, local, two_workers, tmp_path):
    out = tmp_path / "out"
    autograder("grade", course, "-o", out, "--shard", "1/2")
    before = [row["student"] for row in rows(out)]
    autograder("grade", course, "-o", out, "--resume", "--cluster", two_workers.address)
    assert snapshot(out) == local
    assert [row["student"] for row in rows(out)][: len(before)] == before
    graded = [row["student"] for row in rows(out) if row["rejected"] is None]
    assert len(graded) == len(set(graded))


def test_a_worker_killed_in_the_middle_costs_nothing(course, local, two_workers, tmp_path):
    out = tmp_path / "out"
    victim, _ = two_workers.pids()
    grader = start_autograder("grade", course, "-o", out, "--cluster", two_workers.address)
    while not list(rows(out)):
        assert grader.poll() is None
        time.sleep(0.05)
    os.kill(victim, signal.SIGKILL)
    assert grader.wait() == 1
    assert snapshot(out) == local
    assert_everyone_once(out)


def test_the_course_seed_reaches_the_workers(two_workers, tmp_path):
    course = make_class(tmp_path / "class", 2)
    (tmp_path / "seed.txt").write_text("0123456789abcdef" * 4, encoding="ascii")
    (tmp_path / "pyproject.toml").write_text('[tool.autograder]\nseed_file = "seed.txt"\n', encoding="utf-8")
    here, there = tmp_path / "here", tmp_path / "there"
    autograder("grade", course, "-o", here, cwd=tmp_path)
    done = autograder("grade", course, "-o", there, "--cluster", two_workers.address, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert snapshot(there) == snapshot(here)
    assert recorded(there).results["student-000"].versions == recorded(here).results["student-000"].versions


def test_only_the_submission_that_kills_workers_is_given_up(course, local, tmp_path):
    poisoned = tmp_path / "class"
    poisoned.mkdir()
    for path in course.glob("student-00*.py"):
        (poisoned / path.name).write_bytes(path.read_bytes())
    poison = ast.literal_eval(PRELOAD.read_text("utf-8").partition("POISON = ")[2].splitlines()[0]).decode()
    (poisoned / "student-004.py").write_text(f"# {poison}\n{solution()}", encoding="utf-8")
    out = tmp_path / "out"
    with cluster(tmp_path / "deadly", allowed_failures=0) as deadly:
        deadly.add(2, "--preload", str(PRELOAD))
        assert autograder("grade", poisoned, "-o", out, "--cluster", deadly.address).returncode == 1
    results = recorded(out).results
    assert [s for s, result in results.items() if result.rejected and result.rejected.code == "grading.given_up"] == [
        "student-004"
    ]
    assert len(list(rows(out))) == len(results) == 10
    graded = {k: v for k, v in snapshot(out).items() if "student-004" not in k and k != "grades.csv"}
    assert {k: local[k] for k in graded} == graded


def test_a_scheduler_that_dies_leaves_a_run_to_resume(course, local, tmp_path):
    out = tmp_path / "out"
    with cluster(tmp_path / "dying", workers=1) as dying:
        grader = start_autograder("grade", course, "-o", out, "--cluster", dying.address)
        while not list(rows(out)):
            assert grader.poll() is None
            time.sleep(0.05)
        dying.scheduler.kill()
        assert grader.wait() == 2
    assert autograder("grade", course, "-o", out, "--resume").returncode == 1
    assert snapshot(out) == local


def test_without_a_scheduler_nothing_is_graded(tmp_path):
    course = make_class(tmp_path / "class", 1)
    done = autograder("grade", course, "-o", tmp_path / "out", "--cluster", "tcp://127.0.0.1:9")
    assert "No Dask scheduler of this version answers at tcp://127.0.0.1:9" in sentence(done)
    assert not list(rows(tmp_path / "out"))


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_port_that_another_service_has_is_no_scheduler(tmp_path, answer):
    course = make_class(tmp_path / "class", 1)
    with taken(ANSWERS[answer]) as port:
        address = f"tcp://127.0.0.1:{port}"
        done = autograder("grade", course, "-o", tmp_path / "out", "--cluster", address)
    assert f"No Dask scheduler of this version answers at {address}" in sentence(done)
    assert not list(rows(tmp_path / "out"))


def test_a_run_that_was_interrupted_goes_on_and_grades_nobody_twice(course, local, two_workers, tmp_path):
    out = tmp_path / "out"
    grader = start_autograder("grade", course, "-o", out, "--cluster", two_workers.address)
    while not list(rows(out)):
        assert grader.poll() is None
        time.sleep(0.05)
    grader.send_signal(signal.SIGINT)
    assert grader.wait() == 130
    before = [row["student"] for row in rows(out)]
    assert autograder("grade", course, "-o", out, "--resume", "--cluster", two_workers.address).returncode == 1
    assert snapshot(out) == local
    assert [row["student"] for row in rows(out)][: len(before)] == before
    graded = [row["student"] for row in rows(out) if row["rejected"] is None]
    assert len(graded) == len(set(graded))


def test_a_cluster_that_cannot_grade_is_refused(tmp_path):
    course, out = make_class(tmp_path / "class", 1), tmp_path / "out"
    other = tmp_path / "other" / "paged_attention_autograder-0.0.1.dist-info"
    other.mkdir(parents=True)
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: paged-attention-autograder\nVersion: 0.0.1\n")
    with cluster(tmp_path / "made") as made:
        grade = ("grade", course, "-o", out, "--cluster", made.address)
        assert "has no workers" in sentence(autograder(*grade))
        made.add(1)
        assert "has a GPU" in sentence(autograder(*grade, "--device", "cuda", "--lang", "en"))
        if os.geteuid() == 0:
            made.add(1, become="old container")
            said = sentence(autograder(*grade))
            assert f"The worker {made.address.rpartition(':')[0]}" in said
            assert "Student code is not confined here" in said
        path = f"{other.parent}{os.pathsep}{Path(__file__).resolve().parents[2]}"
        made.add(1, env={"PYTHONPATH": path})
        assert "is 0.0.1 there" in sentence(autograder(*grade))
    assert not list(rows(out))


def test_without_the_extra_one_sentence_says_how_to_get_it(tmp_path, monkeypatch):
    import importlib.util

    from click.testing import CliRunner

    from autograder.cli import main

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    done = CliRunner().invoke(main, ["grade", str(make_class(tmp_path / "class", 1)), "--cluster", "tcp://nowhere:1"])
    assert (done.exit_code, done.stderr) == (
        2,
        "autograder: distributed is missing; install it with: pip install 'paged-attention-autograder[cluster]'\n",
    )
