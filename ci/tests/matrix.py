"""The suite on other people's machines, played by root on one: matrix.py KIND [PYTEST ARGUMENT ...]

KIND is an environment of ``environments.py``, such as ``user`` or ``"user unmounting"``. The working tree is copied to
a folder of that user's, with a .venv of its own; skipped tests are counted under their reasons.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from actions import set_up, working_tree
from environments import NOBODY, become

KINDS = ("root", "user", "user unmounting", "user container")
SKIPPED = re.compile(r"(?m)^SKIPPED \[(\d+)\] \S+ (.+)$")


def play(kind: str, arguments: list[str]) -> int:
    """Run pytest in an environment on a copy of this tree; print what it skipped, and return its exit code."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        home = Path(name).resolve()
        for folder in ("tree", "tmp"):
            (home / folder).mkdir()
        working_tree(home / "tree")
        set_up(home / "tree")
        if "user" in kind.split():
            for path in (home, *home.rglob("*")):
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
        if (child := os.fork()) == 0:
            os._exit(_run(kind, home, arguments))
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _run(kind: str, home: Path, arguments: list[str]) -> int:
    become(kind)
    os.chdir(home / "tree")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYTEST", "XDG"))}
    environment = {**kept, "HOME": str(home), "TMPDIR": str(home / "tmp"), "PYTHONDONTWRITEBYTECODE": ""}
    command = [home / "tree/.venv/bin/python", "-m", "pytest", "-rs", "-p", "no:cacheprovider", *arguments]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout
        lines = []
        for line in running.stdout:
            lines.append(line)
            print(line, end="", flush=True)
    reasons: Counter[str] = Counter()
    for count, reason in SKIPPED.findall("".join(lines)):
        reasons[reason] += int(count)
    print(f"As {kind}: {sum(reasons.values())} skipped", *(f"{n} x {why}" for why, n in reasons.items()), sep="\n  ")
    return running.returncode


if __name__ == "__main__":
    if len(sys.argv) < 2 or not set(sys.argv[1].split()) <= {"root", "user", "unmounting", "container", "old"}:
        sys.exit(f"Name one of: {', '.join(KINDS)}.")
    if os.geteuid() or not shutil.which("git"):
        sys.exit("Playing other users takes root and git; run the suite as you are with ci/test.")
    sys.exit(play(sys.argv[1], sys.argv[2:]))
