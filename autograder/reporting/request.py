"""A request for another look that carries its evidence: one block of text to copy, and the same read again."""

import re
from dataclasses import dataclass

from autograder.errors import GraderError
from autograder.reporting.results import SubmissionResult

FIRST = "regrade-request/1"
_LONGEST = 20_000
_LINE = re.compile(r"\s*(?P<key>\w+):\s*(?P<value>.*\S)\s*")


class RequestError(GraderError):
    """A block that cannot be used; the text says why and what to do."""


@dataclass(frozen=True)
class RegradeRequest:
    """Which file, modules beside it, tests and seed a request is about, and the outcome of each case that it names."""

    file: str
    tests: str
    cases: dict[str, str]
    seed: str = ""
    helpers: str = ""


def block(result: SubmissionResult) -> str:
    """Return the block of a result, empty where no case failed."""
    lost = [test for test in result.tests if test.status in ("failed", "could not run")]
    if not lost:
        return ""
    lines = [FIRST, f"file: {result.sha256}", *([f"helpers: {result.helpers}"] if result.helpers else ())]
    lines += [f"{name}: {result.versions[name]}" for name in ("tests", "seed") if name in result.versions]
    lines += [f"case: {test.id} {test.status}, {test.finding.code if test.finding else '-'}" for test in lost]
    return "\n".join([*lines, "end"])


def read_block(text: str) -> RegradeRequest:
    """Read what :func:`block` wrote, wherever it stands in a message; raise RequestError for anything else."""
    at = text.find(FIRST)
    found = [_LINE.fullmatch(line) for line in text[max(at, 0) :][:_LONGEST].splitlines()[1:]]
    told: dict[str, list[str]] = {}
    for match in found:
        if match:
            told.setdefault(match["key"], []).append(match["value"])
    cases = dict(value.partition(" ")[::2] for value in told.get("case", ()))
    if at < 0 or not re.fullmatch(r"[0-9a-f]{64}", (told.get("file") or [""])[0]) or not cases:
        raise RequestError(f"There is no whole block '{FIRST}' in it; ask for the one at the end of the report.")
    tests, seed, helpers = ((told.get(name) or [""])[0] for name in ("tests", "seed", "helpers"))
    return RegradeRequest(told["file"][0], tests, cases, seed, helpers)
