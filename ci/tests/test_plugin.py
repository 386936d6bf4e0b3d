"""Otter's plugin: nothing a student sends reaches Otter's kernel, and whatever is sent ends with a results.json."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from commands import ENVIRONMENT, ROOT

from autograder.contract.questions import questions
from autograder.grading.one.hidden_test_files import hidden_test_files, otter_results
from autograder.grading.otter.plugin import ConfinedSubmission, set_aside
from autograder.release.zip import build

SETTINGS = {"feedback": "hint", "gpu": "required", "language": "en"}
# Were any of these to run in a trusted process, it would leave this file behind.
TRACE = "import pathlib; pathlib.Path({!r}).touch()"


@pytest.fixture(scope="module")
def autograder_zip(tmp_path_factory):
    path = tmp_path_factory.mktemp("zip") / "autograder.zip"
    path.write_bytes(build(ROOT))
    return path


def lay_out(zip_path: Path, root: Path, files: dict[str, bytes]) -> Path:
    """Make ``root`` what /autograder is on Gradescope, with these files handed in."""
    with zipfile.ZipFile(zip_path) as archive:
        archive.extractall(root / "source")
    (root / "results").mkdir()
    (root / "submission_metadata.json").write_text("{}")
    for name, content in files.items():
        path = root / "submission" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def run_autograder(root: Path) -> dict:
    """Call the zip's run_autograder as Gradescope does and return results.json."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    script = (root / "source" / "run_autograder").read_bytes()
    (root / "run_autograder").write_bytes(script)
    command = ["bash", str(root / "run_autograder")]
    done = subprocess.run(command, env=ENVIRONMENT | {"PATH": path}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads((root / "results" / "results.json").read_text())


def score(results: dict) -> int:
    return sum(test["score"] for test in results["tests"])


def test_modules_and_logs_of_a_student_do_nothing_in_the_kernel(autograder_zip, tmp_path):
    touched = tmp_path / "touched"
    trap = TRACE.format(str(touched)).encode()
    names = ("pandas.py", "torch.py", "otter.py", "conftest.py", "sitecustomize.py", "tests/q1_ledger.py")
    files = dict.fromkeys((*names, "__init__.py"), trap)
    files[".OTTER_LOG"] = b"cposix\nsystem\n(S'touch %b'\ntR." % str(touched).encode()
    files["paged_attention.ipynb"] = (ROOT / "solutions" / "paged_attention.ipynb").read_bytes()
    results = run_autograder(lay_out(autograder_zip, tmp_path / "autograder", files))
    assert score(results) == 80
    assert not touched.exists()


def test_a_damaged_notebook_is_told_why_at_once(autograder_zip, tmp_path):
    results = run_autograder(lay_out(autograder_zip, tmp_path / "autograder", {"mine.ipynb": b'{"cells": ['}))
    assert score(results) == 0
    assert [test["max_score"] for test in results["tests"]] == [questions()[q].points for q in questions().of("cpu")]
    assert "mine.ipynb breaks off" in results["output"]


def test_otter_run_needs_nothing_but_the_zip(autograder_zip, tmp_path):
    command = [sys.executable, "-m", "otter", "run", "-a", str(autograder_zip), "-o", str(tmp_path), "--no-logo"]
    starter = ROOT / "assignment" / "paged_attention.en.ipynb"
    subprocess.run([*command, str(starter)], env=ENVIRONMENT, cwd=tmp_path, capture_output=True, check=True)
    results = json.loads((tmp_path / "results.json").read_text())
    assert score(results) == 0
    assert "TODO 2" in results["output"]
    assert not any("passed" in test["output"] for test in results["tests"])


def test_a_zip_of_other_tests_is_refused_in_one_sentence(autograder_zip, tmp_path):
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(autograder_zip) as source, zipfile.ZipFile(other, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == "manifest.json":
                content = json.dumps(json.loads(content) | {"tests": "0" * 64}).encode()
            target.writestr(name, content)
    command = [sys.executable, "-m", "otter", "run", "-a", str(other), "-o", str(tmp_path), "--no-logo"]
    notebook = ROOT / "solutions" / "paged_attention.ipynb"
    done = subprocess.run([*command, str(notebook)], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "built from other sources" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "results.json").exists()


def test_everything_but_the_work_leaves_the_folder_once(tmp_path):
    folder = tmp_path / "submission"
    folder.mkdir()
    for name in ("a.ipynb", "pandas.py", ".OTTER_LOG"):
        (folder / name).write_text("")
    received = set_aside(folder)
    (folder / "trusted.ipynb").write_text("")
    assert set_aside(folder) == received
    assert sorted(path.name for path in received.iterdir()) == ["a.ipynb", "pandas.py"]
    assert [path.name for path in folder.iterdir()] == ["trusted.ipynb"]


class Passes:
    """What an attacker would like Otter's tests to see."""

    def check(self, case: str) -> None:
        """Find nothing wrong."""


def as_if_everything_had_passed():
    for file in hidden_test_files("cpu"):
        file.run({"submission": Passes()})
    return otter_results("cpu")


@pytest.mark.parametrize(
    ("outputs", "why"),
    [
        ([], "did not run to its end"),
        ([{"output_type": "error", "ename": "WeakConfinement", "evalue": "a hole", "traceback": []}], "a hole"),
        ([{"output_type": "stream", "name": "stdout", "text": "no JSON\n"}], "did not run to its end"),
    ],
)
def test_results_are_void_where_the_trusted_cell_did_not_finish(tmp_path, outputs, why):
    import nbformat
    from otter.run.run_autograder.autograder_config import AutograderConfig

    (tmp_path / "submission" / "tests").mkdir(parents=True)
    plugin = ConfinedSubmission(str(tmp_path / "submission" / "mine.ipynb"), {}, SETTINGS)
    plugin.before_grading(None)
    notebook = plugin.before_execution(nbformat.v4.new_notebook())
    notebook.cells[0].outputs = [nbformat.from_dict(output) for output in outputs]
    results = as_if_everything_had_passed()
    assert results.total == 80
    results.notebook = notebook
    plugin.after_grading(results)
    seen = results.to_gradescope_dict(AutograderConfig())
    assert results.total == 0
    assert why in seen["output"]
    assert "does not count" in seen["output"]
