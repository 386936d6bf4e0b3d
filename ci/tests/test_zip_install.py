"""The zip on a bare machine: what its environment.yml asks pip for, installed anew, grades by itself."""

import json
import subprocess
import zipfile

import pytest
import yaml
from commands import ROOT

from autograder.release.zip import PYTHON, build


@pytest.mark.timeout(900)
def test_a_fresh_environment_made_from_the_zip_grades_the_solution(tmp_path):
    (tmp_path / "autograder.zip").write_bytes(build(ROOT))
    root = tmp_path / "autograder"
    with zipfile.ZipFile(tmp_path / "autograder.zip") as archive:
        archive.extractall(root / "source")
    environment = yaml.safe_load((root / "source" / "environment.yml").read_text())
    assert f"python={PYTHON}" in environment["dependencies"]
    [wanted] = [part["pip"] for part in environment["dependencies"] if isinstance(part, dict)]

    subprocess.run(["python3", "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *wanted], cwd=root / "source", check=True)
    version = subprocess.run([python, "-c", "import torch; print(torch.version.cuda)"], capture_output=True, text=True)
    if version.stdout.strip() != "None":
        pytest.skip("pip took torch's CUDA build here; setup.sh asks uv for the CPU build first")

    for folder in ("submission", "results"):
        (root / folder).mkdir()
    (root / "submission_metadata.json").write_text("{}")
    notebook = (ROOT / "solutions" / "paged_attention.ipynb").read_bytes()
    (root / "submission" / "paged_attention.ipynb").write_bytes(notebook)
    (root / "run_autograder").write_bytes((root / "source" / "run_autograder").read_bytes())
    activated = {"PATH": f"{python.parent}:/usr/bin:/bin", "HOME": str(tmp_path)}
    subprocess.run(["bash", root / "run_autograder"], env=activated, capture_output=True, check=True)

    results = json.loads((root / "results" / "results.json").read_text())
    assert [test["score"] for test in results["tests"]] == [15, 20, 20, 15, 10]
