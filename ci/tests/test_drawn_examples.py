"""A drawn case that fails gives an example that fits on a page, or says that it shows at real size only."""

import pytest
from classes import CEILING, NEEDS_BLOCK, solution
from in_process import by_hand, deviation_of

from autograder.contract.families.drawn import drawn_scenarios
from autograder.contract.miniature import miniature
from autograder.contract.quiet import spoken_aloud
from autograder.contract.seed import PUBLIC
from autograder.contract.shrink import legal_part
from autograder.contract.walk import walks
from autograder.grading.one.example import shortest_example
from autograder.grading.one.loaded_submission import LoadedSubmission
from autograder.sandbox.client import ForkServer

TAKE = "req.block_table.extend(allocated_blocks)"
READ = "for block in req.block_table]"
FACTOR = "2 * num_layers * num_kv_heads"
BY_ID = "req.block_table.extend(allocated_blocks if KNOWN.setdefault(req.request_id, req) is req else [])"
BY_LENGTH = "needed_blocks = KNOWN.setdefault(req.seq_len, (req.seq_len + self.block_size - 1) // self.block_size)"
CASES = {s.id: by_hand(s) for s in [*walks(), *drawn_scenarios(PUBLIC).values()]}
SMALL = [
    ("q1.shapes", [(FACTOR, "(2 - (num_kv_heads == 1)) * num_layers * num_kv_heads")]),
    ("q1.shapes", [("dtype_bytes: int = 2\n", "bytes_each: int = 2\n"), ("* dtype_bytes", "* bytes_each")]),
    ("q2.real_size", [(CEILING, "needed_blocks = req.seq_len // self.block_size + 1")]),
    ("q2.real_size", [(CEILING, BY_LENGTH)]),
    ("q2.crowd", [(CEILING, "needed_blocks = max(1, req.seq_len // self.block_size)")]),
    ("q2.crowd", [(TAKE, BY_ID)]),
    ("q2.small_scope", [(CEILING, "needed_blocks = req.seq_len // self.block_size + 1")]),
    ("q3.real_size", [(NEEDS_BLOCK, "is_new_block_needed = req.seq_len % self.block_size == 1")]),
    ("q3.long_life", [(NEEDS_BLOCK, "is_new_block_needed = new_seq_len % self.block_size == 0")]),
    ("q3.small_scope", [(NEEDS_BLOCK, "is_new_block_needed = new_seq_len % self.block_size == 0")]),
    ("q4.real_size", [(READ, "for block in sorted(req.block_table)]")]),
    ("q4.again", [(READ, "for block in KNOWN.setdefault(req.request_id, list(req.block_table))]")]),
    ("q5.long_life", [("self.free_blocks.extend(blocks)", "self.free_blocks.extend(blocks[:-1])")]),
]
LARGE = [
    ("q2.real_size", [(CEILING, CEILING + " + (needed_blocks_before(self) > 99)")]),
    ("q3.real_size", [(NEEDS_BLOCK, NEEDS_BLOCK + " and len(req.block_table) < 99")]),
    ("q3.long_life", [(NEEDS_BLOCK, NEEDS_BLOCK + " and len(KNOWN) < 700; KNOWN[len(KNOWN)] = 1")]),
    ("q4.real_size", [(READ, "for block in req.block_table[:64] + req.block_table[:-64]]")]),
]
HEAD = "KNOWN = {}\n\ndef needed_blocks_before(manager):\n    return len(manager.free_blocks)\n\n"


@pytest.fixture(scope="module")
def server():
    with ForkServer() as server:
        yield server


def example_of(server, case, replacements):
    source = HEAD + solution()
    for old, new in replacements:
        assert old in source
        source = source.replace(old, new)
    assert deviation_of(source, CASES[case])
    submission = LoadedSubmission(server, [source])
    try:
        return shortest_example(submission, [CASES[case]])
    finally:
        submission.close()


@pytest.mark.parametrize(("case", "replacements"), SMALL, ids=lambda value: value if isinstance(value, str) else "")
def test_a_mistake_of_any_size_is_shown_in_six_calls_on_eight_blocks(server, case, replacements):
    example = example_of(server, case, replacements)
    assert example is not None
    names = [operation[0] for operation in example["operations"]]
    assert "real_size" not in names
    two_requests_read = case == "q4.again"  # each made, given blocks and read, on a pool made and filled
    assert len(names) <= (9 if two_requests_read else 6), example["operations"]
    assert all(operation[2] <= 8 for operation in example["operations"] if operation[0] == "new")


@pytest.mark.parametrize(("case", "replacements"), LARGE, ids=lambda value: value if isinstance(value, str) else "")
def test_a_mistake_of_real_size_says_so(server, case, replacements):
    example = example_of(server, case, replacements)
    assert example is not None
    [[name, blocks, size, calls]] = example["operations"]
    assert name == "real_size"
    assert blocks > 8 or calls > 12
    assert size > 0


@pytest.mark.parametrize("case", CASES)
def test_the_small_world_of_a_case_is_legal_and_right_for_the_solution(case):
    scenario = CASES[case]
    small = miniature(spoken_aloud(scenario.operations))
    assert legal_part(small)
    assert all(operation.args[1] <= 8 for operation in small if operation.name == "new")
