"""A student's repository: what its CI does on a push, played step by step with what the template ships."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from actions import ROOT, Played, Workflow, branch, commit, set_up, working_tree
from classes import CEILING, solution

from autograder.release.handout import write_grader

TEMPLATES = ROOT / "ci" / "classroom"
WRONG_PREFILL = (CEILING, "needed_blocks = req.seq_len // self.block_size")
TRUNCATED = '{"cells": ['
SAID_BY_CLASSROOM50 = {
    "CLASSROOM": "systems",
    "ASSIGNMENT": "paged-attention",
    "SUBMISSION_TAG": "submit/2026-06-01T14-32-05Z-a1b2c3d",
    "COMMIT_URL": "https://example.org/commit/1",
    "RELEASE_URL": "https://example.org/release/1",
}


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    """Return the released grader's repository, which every template checks out."""
    folder = tmp_path_factory.mktemp("course")
    (folder / "own").mkdir()
    write_grader(working_tree(folder / "own"), folder / "grader")
    repository = commit(folder / "grader")
    branch(repository, "v1")
    return repository


def repository(folder: Path, source: str) -> Path:
    """Return one student's repository: the answer, a note, and a settings file that must not count."""
    folder.mkdir()
    answer = "paged_attention.ipynb" if source == TRUNCATED else "paged_attention.py"
    (folder / answer).write_text(source, encoding="utf-8")
    (folder / "README.md").write_text("# Ada Lovelace's homework\n", encoding="utf-8")
    (folder / "pyproject.toml").write_text('[tool.autograder]\nfeedback = "example"\n', encoding="utf-8")
    return commit(folder)


def push(folder: Path, course: Path, source: str) -> tuple[Played, Path]:
    """Play the student workflow on a push; return how the job ended and its report artifact."""
    repositories = {"": repository(folder / "repository", source), "course/autograder": course}
    workflow = Workflow(TEMPLATES / "github/.github/workflows/grade.yml", repositories, artifacts=folder / "artifacts")
    context = {"vars": {"AUTOGRADER": "course/autograder", "AUTOGRADER_REF": "v1"}}
    return workflow.play("grade", folder / "job", context), folder / "artifacts" / "report"


@pytest.fixture(scope="module")
def wrong_prefill(tmp_path_factory, course):
    return push(tmp_path_factory.mktemp("push"), course, solution(WRONG_PREFILL))


def test_a_push_gets_its_report_and_a_low_score_is_no_failed_job(wrong_prefill):
    job, report = wrong_prefill
    assert job.failed_step == "", job.log
    results = json.loads((report / "students/submission/results.json").read_text(encoding="utf-8"))
    assert results["questions"]["q2"]["points"] < results["questions"]["q2"]["max_points"]
    assert results["questions"]["q1"]["status"] == "passed"
    assert (report / "students/submission/report.html").exists()


def test_the_summary_and_the_checks_name_nobody(wrong_prefill):
    job, report = wrong_prefill
    for text in (job.summary, job.log, (report / "junit.xml").read_text(encoding="utf-8")):
        assert "lovelace" not in text.lower()
    assert re.search(r"\| `[0-9a-f]{10}` \| graded \|", job.summary)


def test_junit_counts_what_the_report_says(wrong_prefill):
    _, report = wrong_prefill
    suite = ElementTree.parse(report / "junit.xml").getroot()
    tests = json.loads((report / "students/submission/results.json").read_text(encoding="utf-8"))["tests"]
    failed = [test for test in tests if test["status"] == "failed"]
    assert int(suite.get("tests")) == len(tests)
    assert int(suite.get("failures")) == len(failed) > 0
    assert {f.get("message") for f in suite.iter("failure")} == {test["message"] for test in failed}


def test_the_students_own_settings_do_not_count(wrong_prefill):
    _, report = wrong_prefill
    assert "shortest example" not in (report / "students/submission/report.md").read_text(encoding="utf-8")


def test_a_students_git_settings_run_nothing(tmp_path):
    checkout, breach = repository(tmp_path / "repository", solution()), tmp_path / "breach"
    (checkout / ".gitattributes").write_text("* filter=theirs\n", encoding="utf-8")
    commit(checkout)
    with (checkout / ".git/config").open("a", encoding="utf-8") as config:
        config.write(f'[filter "theirs"]\n\tsmudge = touch {breach}; cat\n[core]\n\tfsmonitor = touch {breach}\n')
    graded = subprocess.run(
        [TEMPLATES / "grade", checkout, tmp_path / "out"], capture_output=True, text=True, check=False
    )
    assert graded.returncode == 0, graded.stderr
    assert (tmp_path / "out" / "junit.xml").exists()
    assert not breach.exists()


def test_a_file_that_cannot_be_graded_fails_the_job_and_still_has_its_report(tmp_path, course):
    job, report = push(tmp_path, course, TRUNCATED)
    assert job.failed_step == "Grade"
    assert "not gradable" in job.summary
    assert (report / "students/submission/report.md").exists()
    assert ElementTree.parse(report / "junit.xml").getroot().get("errors") == "1"


def test_gitlab_runs_the_same_and_finds_what_it_keeps(tmp_path, course):
    job = yaml.safe_load((TEMPLATES / "gitlab/.gitlab-ci.yml").read_text(encoding="utf-8"))["grade"]
    project = repository(tmp_path / "project", solution())
    clone, *rest = job["script"]
    environment = {"PATH": os.environ["PATH"], "AUTOGRADER": course.as_uri(), "AUTOGRADER_REF": "v1"}
    subprocess.run(["bash", "-ec", clone], cwd=project, env=environment, check=True)
    set_up(project / "autograder")
    subprocess.run(["bash", "-ec", "\n".join(rest)], cwd=project, env=environment, check=True, capture_output=True)
    for kept in [*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]]:
        assert (project / kept).exists(), kept


def classroom50(folder: Path, course: Path, source: str) -> dict:
    """Run the Classroom 50 entry as its runner does and return result.json."""
    checkout = repository(folder / "checkout", source)
    bundle = folder / "bundle"
    bundle.mkdir()
    entry = shutil.copy(TEMPLATES / "classroom50/autograder.py", bundle)
    subprocess.run(["git", "clone", "--quiet", course, bundle / "course"], check=True)
    set_up(bundle / "course")
    environment = {"PATH": os.environ["PATH"], **SAID_BY_CLASSROOM50}
    subprocess.run([sys.executable, entry], cwd=checkout, env=environment, check=True)
    assert (checkout / "release-body.md").exists()
    return json.loads((checkout / "result.json").read_text(encoding="utf-8"))


def test_classroom50_gets_whole_points_that_add_up(tmp_path, course):
    result = classroom50(tmp_path, course, solution(WRONG_PREFILL))
    assert result["schema"] == "classroom50/result/v1"
    assert (result["classroom"], result["assignment"]) == ("systems", "paged-attention")
    assert result["review"] == result["commit"] == SAID_BY_CLASSROOM50["COMMIT_URL"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", result["datetime"])
    tests = result["tests"]
    assert [test["test-name"] for test in tests] == ["q1", "q2", "q3", "q4", "q5"]
    assert all(type(test[key]) is int for test in tests for key in ("score", "max-score"))
    assert result["max-score"] == sum(test["max-score"] for test in tests) == 80
    assert 0 < result["score"] == sum(test["score"] for test in tests) < 80
    assert [test["passed"] for test in tests] == [test["score"] == test["max-score"] for test in tests]


def test_classroom50_hears_why_a_file_could_not_be_graded(tmp_path, course):
    result = classroom50(tmp_path, course, TRUNCATED)
    assert (result["score"], result["max-score"]) == (0, 80)
    [test] = result["tests"]
    assert test["passed"] is False
    assert "breaks off" in test["test-name"]
