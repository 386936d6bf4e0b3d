"""Each wall alone: with all others off it still stops what it is for, so none is carried by its neighbours."""

import functools
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from classes import ROOT
from environments import playable
from one_wall import REACHED, WALLS

pytestmark = pytest.mark.skipif(
    not playable() or platform.machine() != "x86_64", reason="only root can put up every wall; calls by number"
)

FILES = {"read the grader's package", "read a file of root's", "read a file of another user's", "list a folder"}
WRITES = {"write a file", "make an empty file", "make a folder"}
SERVERS = {"reach a server on this machine", "reach a server by an abstract name"}
ROOTS = {"mount", "give a file away", "become another user", "make a world of its own", "hold a capability"}
STOPS = {
    "namespaces": FILES | WRITES | SERVERS | {"signal the grader", "look at the grader's process"}
    | {"use the machine's shared memory"},
    "landlock": FILES | WRITES | {"mount", "look at the grader's process", "reach a server on this machine"},
    "seccomp": WRITES | SERVERS | ROOTS
    | {"open a socket", "use the machine's shared memory", "start a process", "trace a process", "signal the grader"},
    "own user": ROOTS | {"read a file of root's", "read a file of another user's", "signal the grader"}
    | {"trace a process"},
    "limits": {"write a file", "hold many files open", "take a gigabyte", "keep a secret from swapping"}
    | {"leave a core", "compute for an hour", "queue messages"},
    "capabilities": ROOTS | {"read a file of another user's"},
    "no new privileges": {"gain by executing"},
    "not dumpable": {"be looked into"},
    "death signal": {"outlive the server"},
    "descriptors": {"use what the server left open"},
}  # fmt: skip
"""What each wall must stop by itself; it may stop more."""


@functools.cache
def seen(walls: str, kind: str = "") -> dict[str, str]:
    """Return how every attack ended behind one wall, or several joined by a plus, on a kind of machine."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "open").mkdir()
        (folder / "open").chmod(0o777)
        for file, owner in (("secret", 0), ("private", 1), ("given", 0)):
            (folder / file).write_text("x", encoding="utf-8")
            (folder / file).chmod(0o600)
            os.chown(folder / file, owner, owner)
        program = (
            f"import sys; sys.path.insert(0, {str(ROOT / 'ci/tests')!r}); import one_wall; one_wall.main(*sys.argv[1:])"
        )
        done = subprocess.run(
            [sys.executable, "-sP", "-c", program, walls, str(ROOT), name, kind],
            cwd="/",
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    if walls == "landlock" and "off: " in done.stderr:
        pytest.skip("this kernel has no Landlock")
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_without_any_wall_every_attack_succeeds() -> None:
    """So that an attack that is stopped was stopped by the wall, and not by the test."""
    assert {attack: end for attack, end in seen("none").items() if end != REACHED} == {}


def test_every_wall_is_tried_and_every_attack_is_stopped_by_some_wall() -> None:
    assert {"none", *STOPS} == set(WALLS)
    assert set().union(*STOPS.values()) == set(seen("none"))


@pytest.mark.parametrize("wall", STOPS)
def test_a_wall_alone_stops_what_it_is_for(wall: str) -> None:
    reached = {attack for attack, end in seen(wall).items() if end == REACHED}
    assert STOPS[wall] & reached == set()
    assert set(seen(wall)) == set(seen("none"))


def test_an_ordinary_user_who_owns_a_world_holds_nothing_in_it() -> None:
    """Whoever makes a user namespace has every capability inside; a child must not inherit them."""
    owners = {"hold a capability", "make a world of its own"}
    made = seen("namespaces", "user")
    assert {attack: made[attack] for attack in owners} == dict.fromkeys(owners, REACHED)
    left = seen("namespaces+capabilities", "user")
    assert {attack for attack in owners if left[attack] == REACHED} == set()
