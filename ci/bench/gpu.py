"""What a submission costs in a process that opens a device behind the walls: 200 right ones, on the stand-in.

.venv/bin/python ci/bench/gpu.py [COUNT] [DEVICE]
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from device_samples import MASTER, patched

from autograder.config import Config
from autograder.grading.one.grade_on_device import grade_on_device
from autograder.intake.submission import Submission
from autograder.reporting.words import Words
from autograder.sandbox.trusted.gpu_server import GpuServer


def main() -> None:
    """Print the cost of the start, which imports torch, and of each submission after it."""
    count, device = int((sys.argv[1:2] or ["200"])[0]), (sys.argv[2:3] or ["fakegpu"])[0]
    cells, words, started = patched(), Words("en"), time.perf_counter()
    server = GpuServer(device)
    _ = server.layers
    print(f"start, with the import of torch: {time.perf_counter() - started:.2f} s once")
    wall, cpu = [], []
    for number in range(count):
        begun = time.perf_counter()
        submission = Submission(str(number), f"{number}.py", "0" * 64, cells, MASTER.encode())
        graded = grade_on_device(server, submission, Config(readiness_counts=True), words)
        assert graded.result.points == 20, graded.result
        wall.append(time.perf_counter() - begun)
        cpu.append(graded.timing["child_cpu_s"])
    server.close()
    wall.sort()
    print(f"{count} submissions: {sum(wall):.1f} s; each {wall[count // 2]:.3f} s (median), {wall[-1]:.3f} s at most")
    print(f"CPU time of a child after its device is open: {sum(cpu) / count:.3f} s")


if __name__ == "__main__":
    main()
