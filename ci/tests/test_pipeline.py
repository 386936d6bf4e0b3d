"""The class workflow played on this machine: shards, a stand-in for the GPU, merge, bundles.

Forty students hand in; the GPU machine has results for thirty of them, one of which cannot be graded at all.
"""

import csv
import io
import json
import tarfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from actions import ROOT, Played, Workflow, branch, commit, working_tree
from classes import CEILING, NEEDS_BLOCK, solution
from commands import autograder

from autograder.reporting.received_bundle import results_of, verify

WORKFLOW = ROOT / ".github" / "workflows" / "grade.yml"
ON_A_GPU = ROOT / ".github" / "workflows" / "grade-gpu.yml"
SIZE, ON_GPU = 40, 30
OUR_WORDS = "grading.given_up"
AWKWARD = '名字: "quoted" <and> 🎓?'
SHARDS = 4

pytestmark = pytest.mark.timeout(900)  # a class takes a while on a machine that does other things too


def students() -> dict[str, str]:
    """Return the class, file by file: right and wrong answers, awkward names, our own words, a broken notebook."""
    kinds = [
        solution(),
        solution((CEILING, "needed_blocks = req.seq_len // self.block_size")),
        solution((NEEDS_BLOCK, "is_new_block_needed = new_seq_len % self.block_size == 1")),
    ]
    files = {f"student-{number:02}.py": kinds[number % len(kinds)] for number in range(SIZE - 4)}
    says_so = f"{kinds[0]}\n\n# %%\nraise Exception({OUR_WORDS!r})\n"
    odd = {f"{AWKWARD}.py": kinds[0], "broken.ipynb": '{"cells": [', f"{OUR_WORDS}.py": kinds[0], "says-so.py": says_so}
    return {**odd, **files}


def readiness_counts(course: Path) -> Path:
    """Let the stand-in's points count in a course, and return it."""
    settings = course / "pyproject.toml"
    counts = settings.read_text(encoding="utf-8").replace(
        "[tool.autograder]\n", "[tool.autograder]\nreadiness_counts = true\n"
    )
    settings.write_text(counts, encoding="utf-8")
    return course


def class_repository(folder: Path) -> Path:
    """Return the course's repository with the class on branch ``all`` and what the GPU machine got on ``some``."""
    course = readiness_counts(working_tree(folder))
    (course / "work").mkdir()
    for name, files in (("some", list(students().items())[:ON_GPU]), ("all", list(students().items()))):
        for file, source in files:
            (course / "work" / file).write_text(source, encoding="utf-8")
        branch(commit(course), name)
    return course


@dataclass(frozen=True)
class Pipeline:
    """One play of the workflow."""

    course: Path
    artifacts: Path
    jobs: dict[str, Played]

    def bundle(self, workspace: Path, artifacts: Path, workflow: Path = ON_A_GPU) -> Played:
        """Play the last job of a workflow on these artifacts."""
        return Workflow(workflow, {"": self.course}, artifacts).play("bundle", workspace, context("all"))


def context(branch_name: str, shard: int = 0) -> dict:
    return {
        "inputs": {"submissions": "work", "branch": branch_name, "cpu_run": "1"},
        "github": {"sha": "HEAD", "token": ""},
        "matrix": {"shard": shard},
        "strategy": {"job-total": SHARDS},
    }


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory) -> Pipeline:
    folder = tmp_path_factory.mktemp("pipeline")
    (folder / "course").mkdir()
    workflow = Workflow(WORKFLOW, {"": class_repository(folder / "course")}, folder / "artifacts")
    assert workflow.content["jobs"]["cpu"]["strategy"]["matrix"]["shard"] == list(range(1, SHARDS + 1))
    with ThreadPoolExecutor(2) as pool:
        running = {
            f"cpu-{n}": pool.submit(workflow.play, "cpu", folder / f"cpu-{n}" / "work", context("all", n))
            for n in range(1, SHARDS + 1)
        }
        stand_in = {"DEVICE": "fakegpu"}
        on_a_gpu = Workflow(ON_A_GPU, workflow.repositories, workflow.artifacts)
        running["gpu"] = pool.submit(on_a_gpu.play, "gpu", folder / "gpu" / "work", context("some"), stand_in)
        jobs = {name: job.result() for name, job in running.items()}
    played = Pipeline(folder / "course", folder / "artifacts", jobs)
    jobs["bundle"] = played.bundle(folder / "bundle" / "work", folder / "artifacts")
    return played


@pytest.fixture(scope="module")
def grades(pipeline, tmp_path_factory) -> Path:
    return unpacked(pipeline.artifacts / "grades", tmp_path_factory.mktemp("grades"))


def unpacked(artifact: Path, target: Path) -> Path:
    with tarfile.open(artifact / "grades.tar.gz") as archive:
        extract(archive, target)
    return target


def extract(archive: tarfile.TarFile, target: Path) -> None:
    archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, _: member)  # 3.11.2 has none
    archive.extractall(target)


def table(run: Path) -> dict[str, dict[str, str]]:
    return {row["student"]: row for row in csv.DictReader(io.StringIO((run / "grades.csv").read_text("utf-8")))}


def test_every_job_succeeds(pipeline):
    assert {name: job.failed_step for name, job in pipeline.jobs.items()} == dict.fromkeys(pipeline.jobs, ""), "".join(
        job.log for job in pipeline.jobs.values()
    )


def test_everyone_gets_a_bundle_that_verifies(grades):
    bundles = sorted((grades / "bundles").glob("*.zip"))
    assert len(bundles) == SIZE
    assert AWKWARD in {results_of(path)["student"] for path in bundles}
    assert {path.name: verify(path) for path in bundles if verify(path)} == {}


def test_words_of_ours_in_a_name_or_an_error_are_only_words(grades):
    run = json.loads((grades / "run.json").read_text("utf-8"))
    assert (run["students"], run["given_up"], run["machine_faults"]) == (SIZE, 0, 0)
    assert run["status"] == {"graded": SIZE - 1, "not gradable": 1, "held": 0, "missing": 0}
    assert {table(grades)[name]["points"] for name in ("says-so", OUR_WORDS)} == {"100"}


def test_a_shard_that_graded_nobody_is_red_and_costs_the_others_nothing(pipeline, tmp_path):
    artifacts = copied_artifacts(pipeline, tmp_path / "artifacts", "run-cpu-[123]")
    workflow = Workflow(WORKFLOW, {"": pipeline.course}, artifacts)
    lost = context("all", 4)
    lost["inputs"]["submissions"] = "nowhere"
    assert workflow.play("cpu", tmp_path / "cpu-4" / "work", lost).failed_step == "Grade"
    job = pipeline.bundle(tmp_path / "job" / "work", artifacts, WORKFLOW)
    assert job.failed_step == "", job.log
    run = unpacked(artifacts / "grades", tmp_path / "grades")
    assert len(list((run / "bundles").glob("*.zip"))) == SIZE * 3 // 4


def test_ten_students_wait_for_the_gpu(grades):
    rows = table(grades).values()
    assert sum(row["pending_points"] == "20" for row in rows) == SIZE - ON_GPU
    assert sum(row["g4"] != "" for row in rows) == ON_GPU - 1  # the broken notebook has no points of any kind
    assert table(grades)["broken"]["status"] == "not gradable"


def test_the_grades_are_those_of_a_single_run(pipeline, grades, tmp_path):
    work = {name: tmp_path / name for name in ("all", "some")}
    for name, files in (("all", students()), ("some", dict(list(students().items())[:ON_GPU]))):
        work[name].mkdir()
        for file, source in files.items():
            (work[name] / file).write_text(source, encoding="utf-8")
    autograder("grade", work["all"], "-o", tmp_path / "cpu", cwd=pipeline.course)
    autograder("grade", work["some"], "-o", tmp_path / "gpu", "--device", "fakegpu", cwd=pipeline.course)
    merged = autograder("merge", tmp_path / "cpu", tmp_path / "gpu", "-o", tmp_path / "merged", cwd=pipeline.course)
    assert merged.returncode == 0, merged.stderr
    assert (grades / "grades.csv").read_bytes() == (tmp_path / "merged" / "grades.csv").read_bytes()


def test_the_summary_names_nobody_and_the_staff_can_look_everyone_up(pipeline, grades):
    summary = pipeline.jobs["bundle"].summary
    listed = csv.DictReader(io.StringIO((grades / "pseudonyms.csv").read_text("utf-8")))
    names = {row["pseudonym"]: row["student"] for row in listed}
    assert len(names) == SIZE
    assert set(names.values()) == table(grades).keys()
    assert all(f"| `{pseudonym}` |" in summary for pseudonym in names)
    shown = summary + "".join(job.log for job in pipeline.jobs.values())
    assert [name for name in names.values() if name in shown] == []


def copied_artifacts(pipeline: Pipeline, target: Path, wanted: str) -> Path:
    for artifact in pipeline.artifacts.glob(wanted):
        (target / artifact.name).mkdir(parents=True)
        for file in artifact.iterdir():
            (target / artifact.name / file.name).write_bytes(file.read_bytes())
    return target


def test_without_a_gpu_everyone_gets_a_bundle_with_points_pending(pipeline, tmp_path):
    artifacts = copied_artifacts(pipeline, tmp_path / "artifacts", "run-cpu-*")
    job = pipeline.bundle(tmp_path / "job" / "work", artifacts, WORKFLOW)
    assert job.failed_step == "", job.log
    run = unpacked(artifacts / "grades", tmp_path / "grades")
    assert [row["pending_points"] for row in table(run).values()].count("20") == SIZE - 1
    assert len(list((run / "bundles").glob("*.zip"))) == SIZE


def test_a_gpu_result_of_another_file_fails_the_merge_and_costs_nobody_a_bundle(pipeline, tmp_path):
    artifacts = copied_artifacts(pipeline, tmp_path / "artifacts", "run-*")
    replace_hash(artifacts / "run-gpu" / "run.tar", tmp_path / "edited", "student-00")
    job = pipeline.bundle(tmp_path / "job" / "work", artifacts)
    assert job.failed_step == "Merge"
    run = unpacked(artifacts / "grades", tmp_path / "grades")
    assert "student-00" in (run / "merge.log").read_text(encoding="utf-8")
    assert table(run)["student-00"]["pending_points"] == "20"
    assert table(run)["student-01"]["pending_points"] == "0"
    assert len(list((run / "bundles").glob("*.zip"))) == SIZE


def replace_hash(tar: Path, folder: Path, student: str) -> None:
    """Make the packed run say that it graded another file of the student's."""
    with tarfile.open(tar) as archive:
        extract(archive, folder)
    journal = folder / "run" / "journal.jsonl"
    rows = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    rows = [{**row, "sha256": "0" * 64} if row["student"] == student else row for row in rows]
    journal.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with tarfile.open(tar, "w") as archive:
        archive.add(folder / "run", "run")


def test_a_shard_without_students_merges(pipeline, tmp_path):
    artifacts = copied_artifacts(pipeline, tmp_path / "artifacts", "run-cpu-*")
    empty = tmp_path / "run"
    empty.mkdir()
    (empty / "journal.jsonl").touch()
    (artifacts / "run-cpu-5").mkdir()
    with tarfile.open(artifacts / "run-cpu-5" / "run.tar", "w") as archive:
        archive.add(empty, "run")
    job = pipeline.bundle(tmp_path / "job" / "work", artifacts, WORKFLOW)
    assert job.failed_step == "", job.log
