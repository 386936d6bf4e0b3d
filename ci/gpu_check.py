"""Try on a GPU everything that docs/gpu.md lists as unseen, and print a report that can be pasted there.

`ci/gpu --self-check` runs it; DEVICE=fakegpu tries the script itself on a machine without a GPU.
"""

import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "ci" / "tests"))

from device_idioms import ALL, TABLE, agrees, judged, source  # noqa: E402
from device_samples import MASTER, patched  # noqa: E402
from test_device_attacks import ATTACKS, WRONG  # noqa: E402

from autograder.config import Config  # noqa: E402
from autograder.contract.device_scenarios import device_scenarios  # noqa: E402
from autograder.grading.doctor import examine  # noqa: E402
from autograder.grading.many.canary import check  # noqa: E402
from autograder.grading.one.grade_on_device import grade_on_device  # noqa: E402
from autograder.grading.one.judge import SubmissionHandle  # noqa: E402
from autograder.intake.submission import Submission  # noqa: E402
from autograder.reporting.words import Words  # noqa: E402
from autograder.sandbox.trusted.gpu_server import GpuServer  # noqa: E402

OPENINGS = 5
TRIED = """
in-a-thread in-a-thread-started-at-import modes-put-aside mode-of-its-own pinned-and-not-blocking warnings-silenced
copied-in-the-background
""".split()
"""Attacks whose outcome CUDA decides; ci/tests/test_device_attacks.py tries all of them on the stand-in."""


def machine(device: str) -> Iterator[str]:
    """Say what this machine is and what its walls are."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version,compute_cap,memory.total", "--format=csv,noheader"]
    if device == "cuda":
        yield from subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()
    yield f"Linux {platform.release()}"
    yield from examine(device).lines


def costs(server: GpuServer) -> Iterator[str]:
    """Say what the import costs once and what opening the device costs each child."""
    times = []
    for _ in range(OPENINGS):
        started = time.perf_counter()
        server.spawn().kill()
        times.append(time.perf_counter() - started)
    yield f"a child with its device open: {min(times):.3f} to {max(times):.3f} s over {OPENINGS}"


def honest(server: GpuServer) -> Iterator[str]:
    """Grade the reference solution: silence of prefill and decode, g1's rounding, the vast pool, and the rates."""
    check(server)
    yield "the reference solution passes every case"
    submission = Submission("reference", "reference.py", "0" * 64, patched(), MASTER.encode())
    graded = grade_on_device(server, submission, Config(readiness_counts=True), Words("en"))
    yield f"points {graded.result.points} of {graded.result.max_points}"
    yield ", ".join(f"{name} {value}" for name, value in graded.timing.items())
    if "driver_mib" not in graded.timing:
        yield "the driver's figure for a process is absent: no nvidia-smi, or a container in which it names no process"


def wrongs(server: GpuServer) -> Iterator[str]:
    """Grade wrong code and the attacks that hide it: what is passed and should not be."""
    lost = {}
    for name in ("through_the_host", "waits", "keeps_memory", "wrong_ledger"):
        lost[name] = _lost(server, WRONG[name])
        yield f"wrong code {name} loses {', '.join(lost[name]) or 'NOTHING'}"
    for name in TRIED:
        wrong, attack = ATTACKS[name]["wrong"], ATTACKS[name]["attack"]
        kept = set(lost[wrong]) - set(_lost(server, WRONG[wrong], attack))
        yield f"attack {name} {'GAINS ' + ', '.join(sorted(kept)) if kept else 'gains nothing'}"


def idioms(device: str) -> Iterator[str]:
    """Judge every idiom in this process and say where the table is wrong about the device."""
    from autograder.sandbox.inside.device_executor import executor_on

    executor, right = executor_on(device), 0
    for rule, name, line, code in ALL:
        with redirect_stdout(StringIO()):
            found = judged(executor, source(line, code), device)
        if agrees(name, rule, found) or (device == "fakegpu" and name in TABLE["refused"]):
            right += 1
        else:
            yield f"{name}: the table says {TABLE['rules'][rule]['says']}, the device {found or 'ok'}"
    yield f"{right} of {len(ALL)} idioms as in the table"


def _lost(server: GpuServer, *cells: str) -> list[str]:
    handle = SubmissionHandle(server, (*patched(), *cells), lambda _, finding: finding.code)
    try:
        return [case for case in device_scenarios(server.device) if handle.verdicts[case].status != "passed"]
    finally:
        handle.close()


def main() -> int:
    """Print one section after another; a section that fails says so and does not stop the rest."""
    device, failed, begun = sys.argv[1], 0, time.perf_counter()
    server = GpuServer(device)
    sections: list[tuple[str, Callable[[], Iterator[str]]]] = [
        ("Machine and walls", lambda: machine(device)),
        ("Costs", lambda: costs(server)),
        ("A right solution", lambda: honest(server)),
        ("Wrong solutions and attacks", lambda: wrongs(server)),
        ("Idioms", lambda: idioms(device)),
    ]
    for title, section in sections:
        print(f"\n### {title}\n", flush=True)
        started = time.perf_counter()
        try:
            for line in section():
                print(f"- {line}", flush=True)
        except Exception as error:
            failed += 1
            print(f"- FAILED: {type(error).__name__}: {error}", flush=True)
        print(f"- ({time.perf_counter() - started:.1f} s)", flush=True)
    server.close()
    print(f"\n{time.perf_counter() - begun:.0f} s in all, {failed} sections failed.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
