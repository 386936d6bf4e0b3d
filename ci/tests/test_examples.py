"""The shortest failing example: short, the same every time, and no way to read a hidden test or an expected number."""

import re
from pathlib import Path

import pytest
from classes import CEILING, NEEDS_BLOCK, solution

from autograder import hidden_tests
from autograder.config import Config
from autograder.contract.model import ReferenceModel
from autograder.contract.scenarios import scenarios
from autograder.grading.one.grade_one import grade_one
from autograder.intake.submission import Submission
from autograder.reporting.feedback import POLICIES
from autograder.reporting.gradebook import student_files
from autograder.reporting.words import Words
from autograder.sandbox.client import ForkServer

READ = "cat_blocks = torch.cat(blocks, dim=0)"
FAULTS = {
    "floor": [(CEILING, "needed_blocks = req.seq_len // self.block_size")],
    "one too many": [(CEILING, "needed_blocks = req.seq_len // self.block_size + 1")],
    "modulo one": [(NEEDS_BLOCK, "is_new_block_needed = new_seq_len % self.block_size == 1")],
    "always": [(NEEDS_BLOCK, "is_new_block_needed = True")],
    "never": [(NEEDS_BLOCK, "is_new_block_needed = False")],
    "sorted": [("for block in req.block_table]", "for block in sorted(req.block_table)]")],
    "float32": [(READ, "cat_blocks = torch.cat(blocks, dim=0).float()")],
    "no factor two": [("kv_bytes_per_token = 2 * ", "kv_bytes_per_token = ")],
    "two faults": [(CEILING, "needed_blocks = req.seq_len"), (READ, "cat_blocks = torch.stack(blocks)")],
}
FAULTY = {name: solution(*replacements) for name, replacements in FAULTS.items()}


@pytest.fixture(scope="module")
def server():
    with ForkServer() as server:
        yield server


def grade(server, source, policy):
    submission = Submission("someone", "someone.py", "0" * 64, (source,), source.encode())
    return grade_one(server, submission, Config(feedback=policy), Words("en")).result


@pytest.mark.parametrize("name", FAULTY)
def test_every_failed_question_has_a_short_example_and_the_same_one_twice(server, name):
    first, second = (grade(server, FAULTY[name], "example") for _ in range(2))
    assert first == second
    failed = {test.question for test in first.tests if test.status == "failed"}
    examples = {test.question: test.example for test in first.tests if test.example}
    assert failed
    assert examples.keys() == failed
    for example in examples.values():
        assert len(example["operations"]) <= 6
        assert all(operation[2] <= 8 for operation in example["operations"] if operation[0] == "new")


def expected_numbers():
    """Return every number of four digits or more that a hidden case expects of a ledger."""
    numbers = set()
    for scenario in scenarios().values():
        for operation in scenario.operations:
            value = ReferenceModel().apply(operation).value if operation.name == "ledger" else None
            numbers |= {v for v in (value or {}).values() if isinstance(v, int) and v > 999}
    return numbers


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_policy_shows_a_hidden_test_or_an_expected_number(server, policy, lang):
    source_lines = {
        line.strip()
        for path in Path(hidden_tests.__file__).parent.glob("q*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith(("def ", "@", "points"))
    }
    numbers = expected_numbers()
    assert numbers
    for source in FAULTY.values():
        result = grade(server, source, policy)
        for name, content in student_files(result, Words(lang), policy).items():
            text = content.decode()
            assert not [line for line in source_lines if line in text], name
            shown = {int(digits) for digits in re.findall(r"\d{4,}", text)}
            assert not shown & numbers, name


def test_what_each_policy_shows(server):
    shown = {}
    for policy in POLICIES:
        result = grade(server, FAULTY["never"], policy)
        shown[policy] = student_files(result, Words("en"), policy)["report.md"].decode()
    sentence = Words("en").sentence(next(t.finding for t in result.tests if t.status == "failed"))
    assert sentence not in shown["score"]
    assert sentence in shown["hint"]
    assert "decode one token" not in shown["hint"]
    assert "decode one token" in shown["example"]
