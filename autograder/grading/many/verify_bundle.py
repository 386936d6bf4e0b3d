"""Checking a bundle: its hashes, and on request whether grading its submission again gives the same results."""

from pathlib import Path
from tempfile import TemporaryDirectory

from autograder.config import Config
from autograder.contract.questions import questions
from autograder.contract.seed import demand_same, read_seed
from autograder.findings import Finding
from autograder.grading.confined import confined_server
from autograder.grading.many.received import Received, handed_in_again
from autograder.grading.one.grade_one import grade_one
from autograder.reporting.received_bundle import differences, helpers_of, results_of, submission_of, verify
from autograder.reporting.schema import to_json
from autograder.reporting.words import Words


def verify_bundle(path: Path, regrade: bool, config: Config, words: Words) -> list[Finding]:
    """Return what is wrong with the bundle at ``path``; ``regrade`` compares its CPU part with a fresh grading."""
    problems = verify(path)
    if problems or not regrade:
        return problems
    stored = results_of(path)
    demand_same(stored["versions"].get("seed", "unknown"), read_seed(config.seed_file).sha256)
    with TemporaryDirectory() as folder, confined_server(allow_weak=False) as server:
        submission = handed_in_again(Path(folder), Received(*submission_of(path), helpers_of(path)))
        again = to_json(grade_one(server, submission, config, words).result, words)
    cpu = {**stored, "tests": [t for t in stored["tests"] if t["question"] not in questions().of("gpu")]}
    return differences(cpu, again)


def unproven(path: Path) -> list[Finding]:
    """Return what grading a verified bundle's submission again says nothing about: points that a GPU gave elsewhere."""
    tests = [t for t in results_of(path)["tests"] if t["question"] in questions().of("gpu") and t["max_points"]]
    return [Finding("bundle.unproven", {"points": sum(t["points"] for t in tests)})] if tests else []
