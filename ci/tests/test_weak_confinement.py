"""Where student code is not confined, or nobody can tell, nothing is graded unless the course insists."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from classes import make_class
from commands import ENVIRONMENT, complaints
from environments import run_in
from sandbox_samples import SHORT

from autograder.grading.confined import WeakConfinement, confined_server
from autograder.sandbox.client import ForkServer, Limits, server_on

GRADE = """
    import os
    from click.testing import CliRunner
    from autograder.cli import main
    done = CliRunner().invoke(main, {arguments!r})
    print(json.dumps([done.exit_code, done.stderr, done.stdout]))
"""


def grade_without_walls_around_files(*arguments: object) -> tuple[int, str, str]:
    """Run a command on a machine with neither Landlock nor namespaces."""
    code, said, shown = run_in("old container", GRADE.format(arguments=[str(a) for a in arguments]))
    return code, said, shown


def test_grading_ends_in_one_sentence_where_the_probe_finds_a_hole(tmp_path: Path) -> None:
    course, out = make_class(tmp_path / "class", 3), tmp_path / "out"
    code, said, _ = grade_without_walls_around_files("grade", course, "-o", out, "--jobs", 2)
    [sentence] = complaints(said)
    assert code == 2
    assert "not confined" in sentence
    assert "read the grader's files" in sentence
    assert "--allow-weak" in sentence
    assert (out / "journal.jsonl").read_bytes() == b""
    assert not (out / "students").exists()


def test_a_course_may_insist(tmp_path: Path) -> None:
    course = make_class(tmp_path / "class", 3)
    code, said, _ = grade_without_walls_around_files("grade", course, "-o", tmp_path / "out", "--allow-weak")
    assert (code, complaints(said)) == (0, [])
    assert b"student-000,graded,15,20,20,15,10,,,,,80,80,20" in (tmp_path / "out" / "grades.csv").read_bytes()


def test_the_doctor_says_what_is_off_and_ends_with_2() -> None:
    code, _, shown = grade_without_walls_around_files("doctor")
    assert code == 2
    assert "landlock: off" in shown
    assert "The probe broke out: " in shown
    assert "read the grader's files" in shown.partition("The probe broke out: ")[2]


@pytest.mark.parametrize(
    ("limits", "secrets", "besides"),
    [
        (replace(SHORT, memory_bytes=-(1 << 80)), [], ["a child ended before its threads could be looked at"]),
        (SHORT, [Path("no\0path")], []),
    ],
    ids=["it cannot be confined", "it stumbles over what it tries"],
)
def test_a_probe_that_did_not_finish_is_a_breach(limits: Limits, secrets: list[Path], besides: list[str]) -> None:
    with ForkServer(limits, secrets) as server:
        assert server.breaches == ["the probe did not finish", *besides]


PROBE = """
import json, os, sys, time
from autograder.sandbox.inside import forkserver
from autograder.sandbox.walls import probe

class Walls:
    def enter(self):
        {enter}

forkserver._PROBE_S = 0.5
targets = probe.Targets(secrets=({secret!r},), processes=(), folders=({folder!r},))
print(json.dumps(forkserver._probe(Walls(), targets)))
"""
ENDS = {
    "it is killed": ("os.kill(os.getpid(), 9)", "/", []),
    "it ends without a word": ("os._exit(0)", "/", []),
    "it closes its mouth": ("os.close(4)", "/", []),
    "it hangs": ("time.sleep(60)", "/", []),
    "it is cut short after a hole": ("pass", "no\0path", ["read the grader's files"]),
}


@pytest.mark.parametrize("end", ENDS)
def test_whatever_ends_a_probe_early_is_a_breach_beside_the_holes_it_found(end: str) -> None:
    enter, folder, found = ENDS[end]
    program = PROBE.format(enter=enter, secret=os.__file__, folder=folder)
    done = subprocess.run([sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    breaches = json.loads(done.stdout)
    assert breaches[-1] == "the probe did not finish"
    assert set(found) <= set(breaches)


def test_a_hole_that_only_the_probe_knows_of_is_a_breach(tmp_path: Path) -> None:
    """A wall that claims to be up counts for nothing: what the probe could do is what decides."""
    open_file = Path(os.__file__)  # any file that a child has to be able to read
    with ForkServer(SHORT, secrets=[open_file]) as server:
        assert server.breaches == ["read the grader's files"]


def test_a_server_with_a_breach_is_refused_unless_holes_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    holes = ForkServer(SHORT, secrets=[Path(os.__file__)])
    monkeypatch.setattr("autograder.sandbox.client.ForkServer", lambda **_: holes)
    with server_on("cpu") as server:
        assert server.breaches
    holes = ForkServer(SHORT, secrets=[Path(os.__file__)])
    with pytest.raises(WeakConfinement, match="read the grader's files"), confined_server(allow_weak=False):
        raise AssertionError("a server with a hole was given")
    holes = ForkServer(SHORT, secrets=[Path(os.__file__)])
    with confined_server(allow_weak=True) as server:
        assert server.breaches == ["read the grader's files"]


def test_a_server_without_a_breach_is_given() -> None:
    with confined_server(allow_weak=False) as server:
        assert server.breaches == []
