"""Plays jobs of a GitLab pipeline on this machine: their own scripts, rules, needs, caches and artifacts.

Only what our pipeline uses is understood; anything else is an error, so that it cannot grow past its test.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Template
from typing import Any

import yaml
from actions import set_up

UNDERSTOOD = set(
    "after_script allow_failure artifacts before_script cache environment extends image interruptible"
    " needs parallel resource_group rules script stage tags timeout variables when".split()
)
CONDITION = re.compile(r'\$(\w+) == "(\w*)"')


@dataclass(frozen=True)
class Ended:
    """How one instance of a job ended: whether its scripts passed, and what they printed."""

    passed: bool
    log: str


@dataclass
class Pipeline:
    """A pipeline of ``course``, started with ``variables``; what its jobs leave lies below ``folder``."""

    course: Path
    folder: Path
    variables: Mapping[str, str]
    ended: dict[str, list[Ended]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        text = (self.course / "ci" / "gitlab-ci.yml").read_text(encoding="utf-8")
        self._content: dict[str, Any] = yaml.safe_load(text)
        sha = subprocess.run(
            ["git", "-C", self.course, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
        )
        defaults = {name: value["value"] for name, value in self._content["variables"].items()}
        given = {"CI_PIPELINE_SOURCE": "web", "CI_PIPELINE_ID": "7", "CI_COMMIT_SHA": sha.stdout.strip()}
        self.variables = {**defaults, **given, **self.variables}

    @property
    def jobs(self) -> list[str]:
        """The jobs that this pipeline has, in the order in which GitLab could start them."""
        content = self._content
        assert any(self._holds(rule["if"], self.variables) for rule in content["workflow"]["rules"])
        names = [name for name, spec in content.items() if isinstance(spec, dict) and "stage" in spec]
        there = [name for name in names if self._rule(self._job(name)) is not None]
        return sorted(there, key=lambda name: content["stages"].index(content[name]["stage"]))

    def starts(self, job: str) -> bool:
        """Tell whether a job would start after what its needs came to."""
        spec = self._job(job)
        needed = [end for need in spec["needs"] for end in self.ended[need] if not self._may_fail(need)]
        when = (self._rule(spec) or {}).get("when", spec.get("when", "on_success"))
        assert when in ("always", "on_success")
        return when == "always" or all(end.passed for end in needed)

    def play(self, job: str, **override: str) -> Ended:
        """Run every instance of a job, in ``override``'s variables where it names some; return how the last ended."""
        spec = self._job(job)
        count = spec.get("parallel", 1)
        self.ended[job] = [self._instance(job, spec, number, count, override) for number in range(1, count + 1)]
        return self.ended[job][-1]

    def artifacts(self, job: str) -> Path:
        """Return the folder of what a job keeps."""
        return self.folder / "artifacts" / job

    def _instance(
        self, job: str, spec: Mapping[str, Any], number: int, count: int, override: Mapping[str, str]
    ) -> Ended:
        workspace = self.folder / "builds" / f"{job}-{number}"
        shutil.rmtree(workspace, ignore_errors=True)
        subprocess.run(["git", "clone", "--quiet", f"file://{self.course}", workspace], check=True)
        set_up(workspace)
        env = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ} | {"LANG": "C.UTF-8"}
        env |= {"CI_NODE_INDEX": str(number), "CI_NODE_TOTAL": str(count), **self.variables}
        env |= {**spec.get("variables", {}), **override}
        for need in spec.get("needs", []):
            if self.artifacts(need).exists():
                shutil.copytree(self.artifacts(need), workspace, dirs_exist_ok=True)
        cache = spec.get("cache", {"paths": [], "when": "always"})
        cached = self.folder / "cache" / Template(cache.get("key", "none")).substitute(env)
        if cached.exists():
            shutil.copytree(cached, workspace, dirs_exist_ok=True)
        main = self._shell(workspace, env, [*spec.get("before_script", []), *spec["script"]])
        after = self._shell(workspace, env, spec.get("after_script", []))
        _keep(workspace, cache, cached, main.passed)
        _keep(workspace, spec["artifacts"], self.artifacts(job), main.passed)
        return Ended(main.passed, main.log + after.log)

    def _shell(self, workspace: Path, env: Mapping[str, str], lines: list[str]) -> Ended:
        script = "\n".join(["set -eo pipefail", *lines])
        done = subprocess.run(
            ["bash", "-c", script], cwd=workspace, env=env, capture_output=True, text=True, check=False
        )
        return Ended(done.returncode == 0, done.stdout + done.stderr)

    def _job(self, name: str) -> dict[str, Any]:
        spec = self._content[name]
        assert spec.keys() <= UNDERSTOOD, spec.keys() - UNDERSTOOD
        base = self._job(spec["extends"]) if "extends" in spec else self._content["default"]
        return {**base, **spec, "artifacts": {**base["artifacts"], **spec.get("artifacts", {})}}

    def _may_fail(self, name: str) -> bool:
        return bool(self._job(name).get("allow_failure"))

    def _rule(self, spec: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the rule under which a job is there, an empty one where it has none, None where none holds."""
        if "rules" not in spec:
            return {}
        return next((rule for rule in spec["rules"] if self._holds(rule["if"], self.variables)), None)

    @staticmethod
    def _holds(condition: str, variables: Mapping[str, str]) -> bool:
        terms = [CONDITION.fullmatch(term.strip()) for term in condition.split("&&")]
        assert all(terms), f"unknown condition {condition}"
        return all(variables.get(term[1], "") == term[2] for term in terms if term)


def _keep(workspace: Path, what: Mapping[str, Any], target: Path, passed: bool) -> None:
    """Copy what an ``artifacts`` or ``cache`` section names; artifacts of several instances lie in one folder."""
    assert what.get("when", "on_success") in ("always", "on_success")
    for name in what.get("paths", []) if passed or what.get("when") == "always" else []:
        path = workspace / name
        if path.is_dir():
            shutil.copytree(path, target / name, dirs_exist_ok=True)
        elif path.is_file():
            target.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target / name)
