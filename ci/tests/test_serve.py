"""ci/serve as the GPU workflow calls it: a server of its own, asked and stopped."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from commands import ROOT
from engines import CONFIG, MEASURED, changed, guidellm

JOB = yaml.safe_load((ROOT / ".github/workflows/serve-gpu.yml").read_text(encoding="utf-8"))["jobs"]["serve"]
[STEP] = [step["run"] for step in JOB["steps"] if step.get("name") == "Serve and check"]
VLLM = f"""#!{sys.executable}
import runpy, sys
open("started", "w").write(" ".join(sys.argv[1:]))
{{first}}
sys.path.insert(0, {str(ROOT / "ci" / "tests")!r})
runpy.run_module("engines", run_name="__main__")
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return the folder of a job: the course's repository, a model, and stand-ins where pip put the programs."""
    for name in ("ci", ".venv", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    for folder in ("models/tiny", "vllm/bin", "load/bin"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "models/tiny/config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    vllm(tmp_path)
    metrics = (asked := changed("prompt_token_count", "successful", "mean", to=128.0))["benchmarks"][0]["metrics"]
    metrics["output_token_count"]["successful"]["mean"] = 32.0
    metrics["request_totals"]["successful"] = 128
    guidellm(tmp_path / "load/bin", asked)
    return tmp_path


def vllm(checkout: Path, first: str = "") -> None:
    program = checkout / "vllm/bin/python"
    program.write_text(VLLM.format(first=first), encoding="utf-8")
    program.chmod(0o755)


def serve(checkout: Path, model: str = "models/tiny") -> subprocess.CompletedProcess[str]:
    variables = {"PATH": "/usr/bin:/bin", "MODEL": model, "BYTES": "1073741824", "LEVELS": "1,4"}
    command = ["bash", "-e", "-c", STEP]
    return subprocess.run(command, cwd=checkout, env=variables, capture_output=True, text=True, check=False)


def test_the_workflow_s_step_serves_checks_and_stops(checkout):
    done = serve(checkout)
    assert (done.returncode, done.stderr) == (0, "")
    assert "| blocks | 131072 | 131072 |" in done.stdout
    assert (checkout / "serving/serving.md").read_text(encoding="utf-8") == done.stdout
    asked = (checkout / "started").read_text(encoding="utf-8").split()
    last = asked[-8:-1]  # whatever the server is given beside, these hold
    assert last == ["--model", "models/tiny", "--served-model-name", "tiny", "--host", "127.0.0.1", "--port"]
    port = int(asked[-1])
    tried = subprocess.run(["curl", "-s", f"http://127.0.0.1:{port}/health"], capture_output=True, check=False)
    assert tried.returncode == 7, "the server lives on"


@pytest.mark.parametrize("first", ["sys.exit('no GPU')", "raise OSError('no memory')"])
def test_a_server_that_ends_is_one_sentence_and_its_log_is_kept(checkout, first):
    vllm(checkout, first)
    done = serve(checkout)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "ci/serve: The server ended before it answered; serving/vllm.log says why.\n"
    assert "no " in (checkout / "serving/vllm.log").read_text(encoding="utf-8")


def test_what_is_missing_is_one_sentence(checkout):
    done = serve(checkout, "models/other")
    assert (done.returncode, done.stderr) == (2, "ci/serve: models/other is no folder of a model; name one.\n")
    (checkout / "vllm/bin/python").unlink()
    done = serve(checkout)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "vllm/bin/python is not to be found" in done.stderr


def test_a_run_that_proves_nothing_stops_the_server_as_well(checkout):
    guidellm(checkout / "load/bin", MEASURED)  # 32 requests where the workflow asks for 128
    done = serve(checkout)
    assert (done.returncode, done.stdout) == (2, "")
    assert "guidellm tells of 32 requests where 128 were asked for" in done.stderr
