"""What is loaded before any work is done: a command's help at once, and of Otter what grading needs."""

import json
import resource
import subprocess
import sys

from commands import ENVIRONMENT, PROGRAM, ROOT

AT_ONCE_S = 0.3
TRIES = 5
HEAVY = {
    "torch",
    "otter",
    "numpy",
    "pandas",
    "IPython",
    "jupytext",
    "nbformat",
    "distributed",
    "guidellm",
    "matplotlib",
}
LOADED = "import sys, json; {}; print(json.dumps([*sys.modules]))"


def loaded_after(work: str) -> set[str]:
    command = [sys.executable, "-c", LOADED.format(work)]
    done = subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def cpu_s_of_help() -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*PROGRAM, "--help"], cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_help_is_there_at_once():
    assert min(cpu_s_of_help() for _ in range(TRIES)) < AT_ONCE_S


def test_help_loads_nothing_that_only_some_command_needs():
    asked = "from autograder.cli import main; main(['--help'], standalone_mode=False)"
    assert loaded_after(asked) & HEAVY == set()


def test_otter_comes_without_a_grammar_that_takes_seconds_to_compile():
    loading = "from autograder.grading.one.hidden_test_files import hidden_test_files; hidden_test_files('cpu')"
    loaded = loaded_after(loading)
    assert "otter" in loaded
    assert "lark" not in loaded
