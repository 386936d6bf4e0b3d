"""A driver's own threads, with a thread of C in CUDA's place: born behind the walls, and seen where they are not."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECRET = ROOT / "autograder" / "hidden_tests" / "q1_ledger.py"
START = 'import ctypes; ctypes.CDLL("libdriver.so").open_device()'
OPENS = ("sandbox/inside/fakegpu.py", "    note, take = new_log()\n", f"    {START}\n    note, take = new_log()\n")
ENTER = "        confinement.enter()\n"
WALLS = ("sandbox/inside/forkserver.py", ENTER, f"        {START}\n{ENTER}")

ATTACK = f"""
import ctypes, os, socket, time
driver = ctypes.CDLL("libdriver.so", 4)
said = []
def try_all():
    for name, attack in (
        ("read", lambda: open({str(SECRET)!r}).read()),
        ("socket", lambda: socket.socket(socket.AF_INET)),
        ("write", lambda: os.open("/tmp/breach", os.O_CREAT | os.O_WRONLY)),
    ):
        try:
            attack()
            said.append(name)
        except OSError as error:
            said.append("no " + name)
callback = ctypes.CFUNCTYPE(None)(try_all)
ctypes.c_void_p.in_dll(driver, "handler").value = ctypes.cast(callback, ctypes.c_void_p).value
driver.wake()
done = ctypes.c_int.in_dll(driver, "done")
for _ in range(10**7):
    if done.value:
        break
driver.open_device()
raise RuntimeError(" ".join(said))
"""

PROGRAM = f"""
import json, sys
from pathlib import Path
from autograder.sandbox.trusted.gpu_server import GpuServer
server = GpuServer("fakegpu", secrets=[Path({str(SECRET)!r})])
with server.spawn() as child:
    [note] = child.load([sys.argv[1]])
print(json.dumps({{"breaches": server.breaches, "said": note["details"]["text"], "added": child.tasks_added}}))
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory) -> Path:
    if not shutil.which("cc"):
        pytest.skip("the driver's thread is written in C; install a compiler to run this")
    folder = tmp_path_factory.mktemp("driver")
    source = Path(__file__).parent / "driver_thread.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-pthread", source, "-o", folder / "libdriver.so"], check=True)
    return folder


def grader_with(folder: Path, edit: tuple[str, str, str], driver: Path) -> dict[str, Any]:
    """Run a copy of the grader in which the driver's thread starts where ``edit`` says, and try to use it."""
    shutil.copytree(ROOT / "autograder", folder / "autograder", ignore=shutil.ignore_patterns("__pycache__"))
    file, old, new = edit
    path = folder / "autograder" / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(folder)!r})\n{PROGRAM}", ATTACK],
        env={**os.environ, "LD_LIBRARY_PATH": str(driver)},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_thread_that_the_driver_starts_is_behind_the_walls(tmp_path, driver) -> None:
    assert grader_with(tmp_path, OPENS, driver) == {
        "breaches": [],
        "said": "no read no socket no write",
        "added": 1,  # what a submission starts by C is counted from outside
    }


def test_a_thread_from_before_the_walls_is_a_breach(tmp_path, driver) -> None:
    seen = grader_with(tmp_path, WALLS, driver)
    assert seen["breaches"] == ["a thread of the child stands in front of the walls"]
    assert seen["said"].startswith("read"), "the attack is worth something only if it succeeds where it can"
