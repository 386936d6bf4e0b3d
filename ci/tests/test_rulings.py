"""Rulings on what a right submission may do its own way, in whole cases."""

import pytest
from classes import solution
from in_process import trace_of

from autograder.contract.compare import first_deviation
from autograder.contract.ledger import TOTAL
from autograder.contract.model import ReferenceModel
from autograder.contract.operations import DTYPE_BYTES
from autograder.contract.pinned import as_pinned
from autograder.contract.scenario import Scenario
from autograder.contract.scenarios import scenarios

FREE = "self.free_blocks = list(range(num_blocks))"
REMOVE = "self.free_blocks.remove(block)"
POP = "self.free_blocks.pop(0)"
POOL = "torch.zeros(num_blocks, block_size, head_dim, dtype=dtype, device=device)"
RETURN = 'return {\n        "kv_bytes_per_token"'
GIVE = "self.free_blocks.extend(blocks)\n        self.free_blocks.sort()"
TAKE_NOTHING = "for block in allocated_blocks:\n        self.free_blocks.remove(block)"
CLEAR = "req.block_table.clear()"
TOKEN = "kv_bytes_per_token = 2 * num_layers"
TABLE = "req.block_table.extend(allocated_blocks)"
CHOOSE = "allocated_blocks = self.free_blocks[:needed_blocks]"
CUT = "return cat_blocks[: req.seq_len]"
SIDE_BY_SIDE = """at = req.block_table[0] * self.block_size
    return self.physical_kv_cache.view(-1, self.head_dim)[at : at + req.seq_len]"""
AS_ORDERED_DICT = """
import collections
_plain = estimate_kv_cache_bytes
def estimate_kv_cache_bytes(*args, **options):
    return collections.OrderedDict(_plain(*args, **options))
"""
AS_SETS = (
    (REMOVE, "self.free_blocks -= {block}"),
    (POP, "self.take()"),
    ("self.free_blocks[:needed_blocks]", "sorted(self.free_blocks)[:needed_blocks]"),
    (GIVE, "self.free_blocks |= set(blocks)"),
)


def taking(body: str) -> tuple[str, str]:
    """Return a replacement that adds ``take`` to the manager: the body of a method that takes one block out."""
    return ("    def allocation_report", f"    def take(self):\n        {body}\n\n    def allocation_report")


CASES = [id for id in scenarios() if not id.startswith("g")]
RIGHT = {
    "ordered dict": [("", AS_ORDERED_DICT)],
    "free set": [
        (FREE, "self.free_blocks = set(range(num_blocks))"),
        *AS_SETS,
        taking("return self.free_blocks.pop()"),
    ],
    "free frozenset": [
        (FREE, "self.free_blocks = frozenset(range(num_blocks))"),
        *AS_SETS,
        taking("block = min(self.free_blocks); self.free_blocks -= {block}; return block"),
    ],
    "free dict": [
        (FREE, "self.free_blocks = dict.fromkeys(range(num_blocks))"),
        (REMOVE, "del self.free_blocks[block]"),
        (POP, "self.free_blocks.popitem()[0]"),
        ("self.free_blocks[:needed_blocks]", "[*self.free_blocks][:needed_blocks]"),
        (GIVE, "self.free_blocks.update(dict.fromkeys(blocks))"),
    ],
    "ids of an own kind": [
        (
            FREE,
            "Block = type('Block', (int,), {'__int__': lambda _: 0, '__eq__': int.__eq__, '__hash__': int.__hash__})"
            "\n        self.free_blocks = [Block(i) for i in range(num_blocks)]",
        ),
    ],
    "length cleared on release": [(CLEAR, CLEAR + "\n        req.seq_len = 0")],
    "int64 of numpy": [(TOKEN, "import numpy\n    kv_bytes_per_token = 2 * numpy.int64(num_layers)")],
    "pinned float32": [(POOL, "torch.zeros(num_blocks, block_size, head_dim, dtype=torch.float32)")],
    "pinned float64": [(POOL, "torch.zeros(num_blocks, block_size, head_dim, dtype=torch.float64)")],
    "pinned bfloat16": [(POOL, "torch.zeros(num_blocks, block_size, head_dim, dtype=torch.bfloat16)")],
}


def write(name: str) -> str:
    """Return the submission of this name; what a replacement does not find is not there to be replaced."""
    source = solution()
    for old, new in RIGHT[name]:
        source = source.replace(old, new) if old else source + new
    return source


def ends(source: str, scenario: Scenario) -> str | None:
    """Return the code of the deviation in a case, asked in the pool's own dtype as the grader would."""
    trace = trace_of(source, scenario.operations)
    if pinned := as_pinned(scenario, trace):
        scenario, trace = pinned, trace_of(source, pinned.operations)
    found = first_deviation(scenario.question, scenario.operations, trace, scenario.focus)
    return found.finding.code if found else None


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_submission_of_its_own_kind_loses_nothing(name: str) -> None:
    source = write(name)
    assert source != solution()
    assert {id: code for id in CASES if (code := ends(source, scenarios()[id]))} == {}


@pytest.mark.parametrize("name", [name for name in RIGHT if name.startswith("free")])
def test_a_collection_without_an_order_is_still_looked_at(name: str) -> None:
    losing = write(name).replace("(blocks)", "(blocks[1:])")
    assert ends(losing, scenarios()["q5.release"]) == "release.blocks"


@pytest.mark.parametrize("dtype", DTYPE_BYTES)
def test_a_pinned_pool_is_asked_for_values_that_it_can_hold(dtype: str) -> None:
    source = solution((POOL, f"torch.zeros(num_blocks, block_size, head_dim, dtype=torch.{dtype})"))
    wrong = source.replace(CUT, "return cat_blocks.flip(0)[: req.seq_len]")
    scenario = scenarios()["q4.dtypes"]
    assert ends(source, scenario) is None
    assert ends(wrong, scenario) == "read.values"
    if dtype in ("float32", "float64"):
        through_half = source.replace(CUT, "return cat_blocks.half().to(cat_blocks.dtype)[: req.seq_len]")
        assert ends(through_half, scenario) == "read.values"


@pytest.mark.parametrize("id", ["q1.exact_integers", "q1.shapes", "q1.per_token"])
def test_no_product_of_a_ledger_needs_more_than_64_bits(id: str) -> None:
    model = ReferenceModel()
    totals = [model.apply(operation).value[TOTAL] for operation in scenarios()[id].operations]
    assert max(totals) < 2**63
    if id == "q1.exact_integers":
        assert min(totals) > 2**32
        assert sum(total > 2**53 for total in totals) >= 2  # more than a float holds exactly, too
