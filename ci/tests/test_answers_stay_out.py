"""A submission that hunts through memory, files, descriptors and names finds no canary; outside the sandbox it does."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from environments import played, run_in
from hunter import CANARIES, hunter

ROOT = Path(__file__).resolve().parents[2]
PLACES = [str(ROOT), str(ROOT / "solutions")]
SECRETS = set(CANARIES)
NOTHING_BUT_THE_WORKER = "found: worker by memory"


def hunt_inside(environment: str, package_root: Path, places: list[str]) -> str:
    """Return what the hunter found in a child, as the error its last line raises."""
    source = hunter(places) + "\nraise Exception('found: ' + ', '.join(sorted(search())))"
    body = f"""
from autograder.sandbox.client import Limits
with ForkServer(Limits(load_cpu_s=60, case_cpu_s=60, wall_s=100, idle_s=20)) as patient:
    with patient.spawn() as child:
        errors = child.load([{source!r}])
print(json.dumps(errors[0]["details"]["text"] if errors else "the hunt did not end"))
"""
    return str(run_in(environment, body, package_root))


@pytest.mark.parametrize("environment", played("root", "user", "container"))
def test_a_hunter_in_the_sandbox_finds_no_canary(environment: str) -> None:
    assert hunt_inside(environment, ROOT, PLACES) == NOTHING_BUT_THE_WORKER


def test_a_hunter_beside_an_installed_package_finds_no_canary(tmp_path: Path) -> None:
    site = tmp_path / "lib" / "python" / "site-packages"
    shutil.copytree(ROOT / "autograder", site / "autograder", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(site)], check=True)
    tmp_path.chmod(0o755)
    assert hunt_inside(played("root")[0], site, [str(site), str(tmp_path)]) == NOTHING_BUT_THE_WORKER


def test_the_same_hunter_finds_every_canary_outside() -> None:
    program = f"""
import json, sys
sys.path.insert(0, {str(ROOT)!r})
from autograder.contract import compare, model, scenarios
scenarios.scenarios()
exec({hunter(PLACES)!r})
print(json.dumps(sorted(search())))
"""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    found = set(json.loads(done.stdout))
    assert {f"{name} by files" for name in SECRETS} <= found
    assert {f"{name} by memory" for name in SECRETS - {"solution"}} <= found
