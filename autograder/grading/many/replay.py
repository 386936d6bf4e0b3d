"""Showing again what a student's request speaks of: the same file, graded alone, with the shortest examples."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from autograder.config import Config
from autograder.contract.seed import demand_same, read_seed
from autograder.grading.confined import confined_server
from autograder.grading.many.received import handed_in_again, received_file
from autograder.grading.many.rerender import results
from autograder.grading.one.grade_one import grade_one
from autograder.reporting.describe import describe
from autograder.reporting.request import RegradeRequest, RequestError
from autograder.reporting.results import SubmissionResult, TestResult
from autograder.reporting.words import Words


def replay(request: RegradeRequest, out: Path, config: Config, words: Words) -> tuple[str, bool]:
    """Return what grading the requested file again shows, and whether each case came out as the block says."""
    asked = (request.file, request.helpers)
    owner = next((r for r in results(out).values() if r.handed_in == asked), None)
    received = received_file(out, owner) if owner else None
    if owner is None or received is None:
        raise RequestError(f"{out} holds no graded file with the hash {request.file}; name the run that graded it.")
    if request.seed:
        demand_same(request.seed, read_seed(config.seed_file).sha256)
    with TemporaryDirectory() as folder, confined_server(allow_weak=False) as server:
        submission = handed_in_again(Path(folder), received)
        again = grade_one(server, submission, replace(config, feedback="example"), words).result
    lines = [f"{owner.student}, {received.name}"]
    if again.versions.get("tests") != request.tests:
        lines.append(words.text("replay.tests"))
    same = True
    for name, told in request.cases.items():
        test = next((test for test in again.tests if test.id == name), None)
        now = f"{test.status}, {test.finding.code if test.finding else '-'}" if test else words.text("replay.unknown")
        same &= now == told or (test is not None and told == f"{test.status}, -")
        lines += [f"{name}: {told} -> {now}", *(_shown(test, again, words) if test else ())]
    return "\n".join(lines), same


def _shown(test: TestResult, again: SubmissionResult, words: Words) -> Iterator[str]:
    """The rule, and the question's shortest example: its steps in words."""
    if test.finding:
        yield f"    {words.sentence(test.finding)}"
    example = next((t.example for t in again.tests if t.question == test.question and t.example), None)
    for number, operation in enumerate(example["operations"] if example else (), 1):
        yield f"    {number}. {describe(operation, words)}"
