"""macOS and Windows: one lock that resolves there, commands that run without what Linux alone has, and one sentence."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from classes import make_class
from commands import ENVIRONMENT, ROOT, autograder

LOCK = ROOT / "ci" / "requirements.lock"
SYSTEMS = {
    "Linux on x86-64": "x86_64-manylinux_2_28",
    "Linux on arm64": "aarch64-manylinux_2_28",
    "macOS on arm64": "aarch64-apple-darwin",
    "Windows": "x86_64-pc-windows-msvc",
}
OURS = {line.partition("#")[0].partition(";")[0].strip() for line in LOCK.read_text("utf-8").splitlines()} - {""}
OF_A_GPU = ("cuda-", "nvidia-", "triton=")
"""What the index's torch brings on Linux; ci/setup asks for a build without."""

ELSEWHERE = """
import os, sys
for name in ("pyseccomp", *(("fcntl", "resource", "pwd", "grp", "termios") if {platform!r} == "win32" else ())):
    sys.modules[name] = None
import {loaded}
for name in ("fork", "sched_getaffinity", "O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "geteuid", "getuid", "mkfifo"):
    if hasattr(os, name):
        delattr(os, name)
sys.platform = {platform!r}
autograder.cli.main({arguments!r})
"""


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_lock_resolves_and_leaves_nothing_open(system: str, tmp_path: Path) -> None:
    uv = shutil.which("uv") or str(Path(sys.executable).with_name("uv"))
    command = [uv, "pip", "install", "--dry-run", "--python-platform", SYSTEMS[system], "--python-version", "3.13"]
    environment = {**os.environ, "MACOSX_DEPLOYMENT_TARGET": "14.0", "UV_HTTP_TIMEOUT": "20"}
    done = subprocess.run(
        [*command, "--target", tmp_path, "-r", LOCK], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode and any(
        word in done.stderr for word in ("Failed to fetch", "error sending request", "dns error")
    ):
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stderr
    new = {line.removeprefix(" + ").partition("+")[0] for line in done.stderr.splitlines() if line.startswith(" + ")}
    assert {name for name in new - OURS if not name.startswith(OF_A_GPU)} == set()


def elsewhere(platform: str, *arguments: object, loaded: str = "autograder.cli") -> subprocess.CompletedProcess[str]:
    """Run a command in a process without what Linux alone has; ``loaded`` are libraries that ask for the system."""
    program = ELSEWHERE.format(platform=platform, loaded=loaded, arguments=[str(argument) for argument in arguments])
    return subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("graded")
    done = autograder("grade", make_class(folder / "class", 2), "-o", folder / "out")
    assert done.returncode == 0, done.stderr
    return folder / "out"


@pytest.mark.parametrize("platform", ["darwin", "win32"])
@pytest.mark.parametrize("command", ["grade", "doctor", "mutation", "replay", "bundle"])
def test_grading_is_refused_in_one_sentence_that_says_where_it_runs(
    platform: str, command: str, tmp_path: Path
) -> None:
    (tmp_path / "a.py").touch()
    arguments = {
        "doctor": [],
        "replay": [tmp_path / "a.py", tmp_path],
        "bundle": ["--verify", tmp_path / "a.py", "--regrade"],
    }
    done = elsewhere(platform, command, *arguments.get(command, [tmp_path]))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    for word in ("needs Linux", "WSL2", "container", "docs/install.md"):
        assert word in done.stderr


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_what_follows_grading_runs_anywhere(platform: str, graded: Path, tmp_path: Path) -> None:
    commands = (
        ("list", graded.parent / "class"),
        ("merge", graded, "-o", tmp_path / "merged"),
        ("report", tmp_path / "merged", "--lang", "zh"),
        ("bundle", tmp_path / "merged"),
        ("bundle", "--verify", tmp_path / "merged/bundles/student-000.zip"),
        ("compare", graded, tmp_path / "merged"),
        ("similar", tmp_path / "merged"),
        ("cases",),
    )
    if platform == "win32":  # locks and tables on a terminal are made by what Windows alone has
        commands = tuple(command for command in commands if command[0] in ("similar", "cases", "compare"))
        shutil.copytree(graded, tmp_path / "merged")
    for command in commands:
        done = elsewhere(platform, *command, loaded="autograder.cli, pandas")
        assert done.returncode == 0, (command, done.stderr)
