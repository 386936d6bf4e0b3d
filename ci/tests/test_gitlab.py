"""The class pipeline of GitLab played on this machine, with the GPU's job absent, late, failing and run again."""

import json
import shutil
from pathlib import Path

import pytest
from actions import branch, commit, working_tree
from classes import CEILING, solution
from gitlab import Ended, Pipeline
from test_pipeline import OUR_WORDS, readiness_counts, table, unpacked

HAS_GPU = {"GPU_RUNNER": "true", "CI_COMMIT_REF_PROTECTED": "true"}
HOSTILE = f"{solution()}\n\n# %%\nraise Exception({OUR_WORDS!r})\n"
CLASS = {
    "anna.py": solution(),
    "ben.py": solution((CEILING, "needed_blocks = req.seq_len // self.block_size")),
    f"{OUR_WORDS}.py": solution(),
    "mallory.py": HOSTILE,
    "torn.ipynb": '{"cells": [',
}
LATER = "zoe.py"
"""Is not among those that the GPU's machine has seen when it stops."""


pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    course = readiness_counts(working_tree(tmp_path_factory.mktemp("course")))
    (course / "work").mkdir()
    for name, source in CLASS.items():
        (course / "work" / name).write_text(source, encoding="utf-8")
    branch(commit(course), "some")
    (course / "work" / LATER).write_text(solution(), encoding="utf-8")
    branch(commit(course), "all")
    return course


def started(course: Path, folder: Path, **variables: str) -> Pipeline:
    return Pipeline(course, folder, {"SUBMISSIONS": "work", "BRANCH": "all", **variables})


@pytest.fixture(scope="module")
def bundled(course, tmp_path_factory) -> Pipeline:
    """A pipeline that has bundled what the CPU graded, while the GPU's job still waits for its machine."""
    pipeline = started(course, tmp_path_factory.mktemp("pipeline"), **HAS_GPU)
    for job in ("cpu", "bundle"):
        assert pipeline.play(job).passed, pipeline.ended[job]
    return pipeline


@pytest.fixture
def on_its_way(bundled, tmp_path) -> Pipeline:
    """The same, for a test that goes on with it."""
    shutil.copytree(bundled.folder / "artifacts", tmp_path / "artifacts")
    return Pipeline(bundled.course, tmp_path, bundled.variables, dict(bundled.ended))


def grades(pipeline: Pipeline, job: str, target: Path) -> Path:
    return unpacked(pipeline.artifacts(job), target)


def pending(run: Path) -> set[str]:
    return {student for student, row in table(run).items() if row["pending_points"] == "20"}


def gradable() -> set[str]:
    return {Path(name).stem for name in (*CLASS, LATER)} - {"torn"}


@pytest.mark.parametrize("missing", [*HAS_GPU, None])
def test_without_a_gpu_or_a_protected_branch_the_pipeline_has_no_job_for_it(course, tmp_path, missing):
    variables = {name: value for name, value in HAS_GPU.items() if name != missing}
    jobs = started(course, tmp_path, **variables).jobs
    assert jobs == (["cpu", "bundle"] if missing else ["cpu", "bundle", "gpu", "merge"])


def test_the_bundles_are_there_before_the_gpu_s_job_has_begun(bundled, tmp_path):
    run = grades(bundled, "bundle", tmp_path / "grades")
    assert pending(run) == gradable()
    assert len(list((run / "bundles").glob("*.zip"))) == len(CLASS) + 1


def test_a_student_who_writes_our_words_is_graded_and_turns_nothing_red(bundled, tmp_path):
    assert all(end.passed for ends in bundled.ended.values() for end in ends)
    run = grades(bundled, "bundle", tmp_path / "grades")
    assert {table(run)[student]["points"] for student in ("mallory", OUR_WORDS)} == {"80"}
    assert json.loads((run / "run.json").read_text("utf-8"))["given_up"] == 0


def test_a_gpu_that_comes_late_completes_what_was_pending(on_its_way, tmp_path):
    assert on_its_way.play("gpu", DEVICE="fakegpu").passed, on_its_way.ended["gpu"]
    assert on_its_way.starts("merge")
    assert on_its_way.play("merge").passed, on_its_way.ended["merge"]
    assert pending(grades(on_its_way, "merge", tmp_path / "grades")) == set()


def test_a_gpu_job_that_fails_costs_nobody_a_grade(on_its_way, tmp_path):
    assert not on_its_way.play("gpu", DEVICE="no-such-device").passed
    assert on_its_way.starts("merge")
    assert on_its_way.play("merge").passed, on_its_way.ended["merge"]
    run = grades(on_its_way, "merge", tmp_path / "grades")
    assert (run / "grades.csv").read_bytes() == (
        grades(on_its_way, "bundle", tmp_path / "before") / "grades.csv"
    ).read_bytes()


def test_a_gpu_job_run_again_goes_on_from_where_it_ended(on_its_way, tmp_path):
    assert on_its_way.play("gpu", DEVICE="fakegpu", BRANCH="some").passed
    graded = (on_its_way.folder / "builds" / "gpu-1" / "run" / "journal.jsonl").read_bytes()
    assert on_its_way.play("gpu", DEVICE="fakegpu").passed
    journal = (on_its_way.folder / "builds" / "gpu-1" / "run" / "journal.jsonl").read_bytes()
    assert journal.startswith(graded)
    added = [json.loads(row) for row in journal[len(graded) :].splitlines()]
    assert [row["student"] for row in added if row["rejected"] is None] == [Path(LATER).stem]


def test_a_red_shard_costs_the_others_neither_bundles_nor_the_gpu_s_points(on_its_way, tmp_path):
    (on_its_way.artifacts("cpu") / "parts" / "cpu-1.tar").unlink()
    on_its_way.ended["cpu"] = [Ended(False, "its machine is gone"), *on_its_way.ended["cpu"][1:]]
    assert on_its_way.starts("bundle")
    assert on_its_way.play("bundle").passed, on_its_way.ended["bundle"]
    there = table(grades(on_its_way, "bundle", tmp_path / "grades"))
    assert 0 < len(there) < len(CLASS) + 1
    on_its_way.ended["gpu"] = [Ended(True, "")]
    assert on_its_way.starts("merge")
