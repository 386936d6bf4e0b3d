"""Variants of the master solution, and short ways to judge them on the stand-in device that all device tests share."""

import atexit
import functools
from collections.abc import Callable
from pathlib import Path

from autograder.contract.device_scenarios import device_scenarios
from autograder.grading.one.judge import SubmissionHandle
from autograder.grading.one.verdict import Verdict
from autograder.intake.script import script_cells
from autograder.sandbox.client import ForkServer
from autograder.sandbox.inside.device_executor import executor_on

MASTER = (Path(__file__).resolve().parents[2] / "solutions" / "paged_attention.py").read_text(encoding="utf-8")
COUNT = "needed_blocks = (req.seq_len + self.block_size - 1) // self.block_size"
GROWS = "is_new_block_needed = req.seq_len == len(req.block_table) * self.block_size"
JOIN = "cat_blocks = torch.cat(blocks, dim=0)"
RETURN = "return cat_blocks[: req.seq_len]"


@functools.cache
def stand_in() -> ForkServer:
    """Return the fork-server of the stand-in device, started once per test run."""
    server = ForkServer(device="fakegpu")
    atexit.register(server.close)
    return server


@functools.cache
def in_this_process() -> Callable:
    """Return what makes executors on the stand-in here, without any walls; torch takes it once in a process."""
    return executor_on("fakegpu")


def patched(*edits: tuple[str, str]) -> tuple[str, ...]:
    """Return the master's cells with each line replaced that an edit names; it stands there once."""
    source = MASTER
    for line, replacement in edits:
        assert source.count(line) == 1, line
        source = source.replace(line, replacement.replace("\n", "\n    "))
    return tuple(script_cells(source))


def reading(line: str, body: str) -> tuple[str, ...]:
    """Return the master's cells with one line of TODO 4 replaced."""
    return patched((line, body))


def verdicts(cells: tuple[str, ...], *questions: str) -> dict[str, Verdict]:
    """Return the verdict on every case of the questions, all four when none is named."""
    handle = SubmissionHandle(stand_in(), cells, lambda _, finding: finding.code)
    try:
        cases = [case for case in device_scenarios("fakegpu") if not questions or case[:2] in questions]
        return {case: handle.verdicts[case] for case in cases}
    finally:
        handle.close()


def codes(cells: tuple[str, ...], *questions: str) -> set[str]:
    """Return the codes of everything that went wrong."""
    return {v.finding.code for v in verdicts(cells, *questions).values() if v.finding}
