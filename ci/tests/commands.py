"""Running the product as its users do: the ``autograder`` command in a process of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | {"PYTHONPATH": str(ROOT)}
PROGRAM = [sys.executable, "-c", "from autograder.cli import main; main()"]

PUBLIC_CASES = (
    "The course has no seed of its own, so its drawn cases are public; "
    "make one with `autograder seed` and name its file as seed_file in [tool.autograder]."
)
NO_COURSE = "No pyproject.toml here or above, so the default settings hold"


def complaints(said: str) -> list[str]:
    """Return the lines of standard error but for those about a course that most tests do without."""
    return [line for line in said.splitlines() if line != PUBLIC_CASES and not line.startswith(NO_COURSE)]


def autograder(*args: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run one command to its end; where nothing else is said, a class is graded by one worker.

    A second one costs an import of torch, and tests run side by side already.
    """
    own = ("--jobs", 1) if args[0] == "grade" and not {"--jobs", "--cluster"} & {*args} else ()
    command = [*PROGRAM, *map(str, (*args, *own))]
    return subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, check=False)


def start_autograder(*args: object, cwd: Path = ROOT) -> subprocess.Popen[bytes]:
    """Start one command in a process group of its own."""
    return subprocess.Popen(
        [*PROGRAM, *map(str, args)],
        cwd=cwd,
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def printed_on(page: str, language: str = "") -> list[str]:
    """Return the commands that a page of the docs prints as to be run, in order."""
    text = (ROOT / "docs" / language / page).read_text(encoding="utf-8")
    blocks = re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]
