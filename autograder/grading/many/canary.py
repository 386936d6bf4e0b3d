"""The reference solution as a canary: a device that is sick stops the run before it costs a student anything."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from autograder.errors import GraderError
from autograder.grading.confined import confined_server
from autograder.grading.one.judge import SubmissionHandle
from autograder.reporting.merge import MACHINE_FAULTS
from autograder.sandbox.client import Server

SOLUTION = Path(__file__).with_name("reference_solution.py")
"""Right in everything that the device part asks; left out of whatever a student may fetch."""


class DeviceUnfit(GraderError):
    """The device failed on the reference solution; the text is one sentence that says what to do."""


@contextmanager
def canary(device: str, allow_weak: bool) -> Iterator[Callable[[], None]]:
    """Give what grades the reference solution on ``device``, and raises DeviceUnfit unless it passes every case."""
    with confined_server(allow_weak, device) as server:
        yield lambda: check(server)


def check(server: Server) -> None:
    """Grade the reference solution; raise DeviceUnfit unless it passes every case."""
    if not SOLUTION.is_file():
        raise DeviceUnfit(
            "A grader without solutions cannot watch over a GPU; grade there from the course's repository."
        )
    handle = SubmissionHandle(server, (SOLUTION.read_text("utf-8"),), lambda _, finding: finding.code)
    try:
        failed = [case for case, verdict in handle.verdicts.items() if verdict.status != "passed"]
        codes = sorted({v.finding.code for v in handle.verdicts.values() if v.finding})
    finally:
        handle.close()
    if failed:
        raise DeviceUnfit(
            f"The device fails on the reference solution ({', '.join(failed)}: {', '.join(codes)}), so nobody else is "
            "graded on it; what was graded before is kept: see dmesg and nvidia-smi, then go on with --resume."
        )


def watched_over(rows: Iterable[dict[str, Any] | None], check: Callable[[], None]) -> Iterator[dict[str, Any] | None]:
    """Yield the rows of a run, with the canary first, last, and before a row in which the machine was at fault."""
    check()
    for row in rows:
        if row is not None and has_machine_fault(row):
            check()
        yield row
    check()


def has_machine_fault(row: Mapping[str, Any]) -> bool:
    """Tell whether the machine kept something in a journal's row from being judged."""
    return any(note["code"] in MACHINE_FAULTS for note in row.get("notes") or ())
