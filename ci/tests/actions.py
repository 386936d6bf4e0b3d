"""Plays jobs of a GitHub workflow on this machine: its own ``run`` steps under its own ``env``, artifacts as folders.

Only what our workflows use is understood; anything else is an error, so that a workflow cannot grow past its test.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
EXPRESSION = re.compile(r"\$\{\{\s*(.+?)\s*\}\}")
REFUSED_IN_ARTIFACTS = set('":<>|*?\r\n\\')
NO_ENV: Mapping[str, str] = MappingProxyType({})
NOT_CANCELLED = "${{ !cancelled() }}"
EARLIER_RUN = "inputs.earlier_run != ''"


def working_tree(target: Path) -> Path:
    """Commit this working tree, untracked files included, to a new repository at ``target``."""
    listed = _git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name, follow_symlinks=False)
    return commit(target)


def commit(folder: Path) -> Path:
    """Commit everything in ``folder``, which becomes a repository if it is none."""
    _git(folder, "init", "--quiet")
    _git(folder, "add", "--all")
    _git(folder, "-c", "user.name=ci", "-c", "user.email=ci@localhost", "commit", "--quiet", "--message", "state")
    return folder


def branch(repository: Path, name: str) -> None:
    """Give the repository's present state a branch of that name."""
    _git(repository, "branch", "--force", name)


def _git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", folder, *arguments], check=True, capture_output=True, text=True).stdout


def set_up(checkout: Path) -> None:
    """Give a checkout what ``ci/setup`` would: a .venv of its own, on the packages this test runs with."""
    venv.create(checkout / ".venv", with_pip=False, symlinks=True)
    packages = [path for path in sys.path if path.endswith("-packages")]
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = checkout / ".venv" / "lib" / version / "site-packages"
    (site / "here.pth").write_text("\n".join([str(checkout), *packages]), encoding="utf-8")
    command = checkout / ".venv" / "bin" / "autograder"
    command.write_text(f"#!{checkout}/.venv/bin/python\nfrom autograder.cli import main\nmain()\n", encoding="utf-8")
    command.chmod(0o755)
    installed, _, _ = (checkout / "pyproject.toml").read_bytes().partition(b"[tool.")
    locked = (checkout / "ci/requirements.lock").read_bytes() + installed
    (checkout / ".venv" / ".stamp").write_text(hashlib.sha256(locked).hexdigest() + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Played:
    """How a job ended: where it worked, what its steps printed, and the first step that failed."""

    workspace: Path
    log: str
    failed_step: str = ""

    @property
    def summary(self) -> str:
        """What the job wrote to its summary page."""
        return (self.workspace.parent / "summary.md").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Workflow:
    """A workflow file with the repositories it may check out and the folder its artifacts go to.

    ``repositories`` maps the name in ``with: repository`` to a folder; the workflow's own has the empty name.
    """

    path: Path
    repositories: Mapping[str, Path]
    artifacts: Path

    @property
    def content(self) -> dict[str, Any]:
        """The file as data."""
        return dict(yaml.safe_load(self.path.read_text(encoding="utf-8")))

    def play(self, job: str, workspace: Path, context: Mapping[str, Any], env: Mapping[str, str] = NO_ENV) -> Played:
        """Run the steps of ``job``; ``context`` answers its expressions and ``env`` overrides its variables."""
        spec = self.content["jobs"][job]
        workspace.mkdir(parents=True)
        runner = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        runner |= {"GITHUB_STEP_SUMMARY": str(workspace.parent / "summary.md"), "LANG": "C.UTF-8"}
        own = {**self.content.get("env", {}), **spec.get("env", {}), **env}
        variables = runner | {name: _filled(value, context) for name, value in own.items()}
        log, failed = [], ""
        for step in spec["steps"]:
            condition = step.get("if", "")
            if condition == EARLIER_RUN:
                if not context["inputs"].get("earlier_run"):
                    continue
                condition = ""
            assert condition in ("", NOT_CANCELLED, "always()"), f"unknown condition {condition}"
            if failed and not condition:
                continue
            name = str(step.get("name") or step["uses"])
            ended, printed = self._step(step, workspace, context, variables)
            log.append(printed)
            failed = failed or ("" if ended else name)
        return Played(workspace, "".join(log), failed)

    def _step(self, step: Any, workspace: Path, context: Mapping[str, Any], env: Mapping[str, str]) -> tuple[bool, str]:
        if "run" in step:
            assert "${{" not in step["run"], "an expression in a script can be injected into; use env"
            command = ["bash", "-e", "-c", step["run"]]
            done = subprocess.run(command, cwd=workspace, env=env, capture_output=True, text=True, check=False)
            return done.returncode == 0, done.stdout + done.stderr
        action = step["uses"].partition("@")[0]
        settings = {name: _filled(value, context) for name, value in step.get("with", {}).items()}
        {
            "actions/checkout": self._checkout,
            "actions/upload-artifact": self._upload,
            "actions/download-artifact": self._download,
        }[action](workspace, settings)
        return True, ""

    def _checkout(self, workspace: Path, settings: Mapping[str, str]) -> None:
        source = self.repositories[settings.get("repository", "")]
        checkout = workspace / settings.get("path", ".")
        _git(workspace, "clone", "--quiet", str(source), str(checkout))
        if settings.get("ref"):
            _git(checkout, "checkout", "--quiet", settings["ref"])
        if (checkout / "ci" / "setup").exists():
            set_up(checkout)

    def _upload(self, workspace: Path, settings: Mapping[str, str]) -> None:
        artifact = self.artifacts / settings["name"]
        wanted = [workspace / line for line in settings["path"].split()]
        files = [file for path in wanted for file in ([path] if path.is_file() else path.rglob("*"))]
        assert files, f"nothing to upload at {settings['path']}"
        assert not [file for file in files if REFUSED_IN_ARTIFACTS & set(str(file.relative_to(workspace)))]
        common = Path(os.path.commonpath([path.parent for path in files]))
        for file in files:
            (artifact / file.relative_to(common)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, artifact / file.relative_to(common))

    def _download(self, workspace: Path, settings: Mapping[str, str]) -> None:
        if "name" in settings:
            shutil.copytree(
                self.artifacts / settings["name"], workspace / settings.get("path", "."), dirs_exist_ok=True
            )
            return
        for artifact in self.artifacts.glob(settings["pattern"]):
            shutil.copytree(artifact, workspace / settings["path"] / artifact.name)


def _filled(value: object, context: Mapping[str, Any]) -> str:
    return EXPRESSION.sub(lambda found: _value(found[1], context), str(value))


def _value(expression: str, context: Mapping[str, Any]) -> str:
    values: Iterator[Any] = (_looked_up(name.strip(), context) for name in expression.split("||"))
    return next((str(value) for value in values if value), "")


def _looked_up(name: str, context: Mapping[str, Any]) -> Any:
    value: Any = context
    for part in name.split("."):
        value = value[part]
    return value
