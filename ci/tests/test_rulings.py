"""Rulings on what a right submission may do its own way, in whole cases, and sentences that fit a mistake."""

from dataclasses import replace

import pytest
from classes import CEILING, solution
from in_process import deviation_of, trace_of

from autograder.contract.compare import first_deviation
from autograder.contract.ledger import TOTAL
from autograder.contract.model import ReferenceModel
from autograder.contract.operations import DTYPE_BYTES
from autograder.contract.pinned import as_pinned
from autograder.contract.quiet import spoken_aloud
from autograder.contract.scenario import Scenario, Script
from autograder.contract.scenarios import scenarios
from autograder.reporting.words import LANGUAGES, Words

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


def attribute_case() -> Scenario:
    return Script().request("D", 1, 0).attributes("D").new(3, 4, 5).attributes("m").scenario("q5.request")


SENTENCES = {
    "no request id": (attribute_case(), [("self.request_id = request_id", "pass")], "blocks.absent"),
    "another request id": (
        attribute_case(),
        [("self.request_id = request_id", "self.request_id = 3")],
        "attribute.value",
    ),
    "no head_dim": (attribute_case(), [("self.head_dim = head_dim", "pass")], "blocks.absent"),
    "zeros": (
        "q1.per_block",
        [("kv_bytes_per_token = 2", "kv_bytes_per_token = 0"), ("block_size * kv_bytes_per_token", "0")],
        "ledger.block",
    ),
    "32 bits": (
        "q1.exact_integers",
        [(RETURN, "import ctypes\n    kv_bytes_per_block = ctypes.c_int32(kv_bytes_per_block).value\n    " + RETURN)],
        "ledger.overflow",
    ),
    "through a float": (
        "q1.exact_integers",
        [(RETURN, "total_cache_bytes = int(float(total_cache_bytes))\n    " + RETURN)],
        "ledger.overflow",
    ),
    "another default": ("q1.shapes", [("dtype_bytes: int = 2", "dtype_bytes: int = 4")], "ledger.default"),
    "nothing committed": ("q2.basic", [(TAKE_NOTHING, "pass"), (TABLE, "pass")], "prefill.commit"),
    "taken instead of chosen": (
        "q2.basic",
        [(CHOOSE, "allocated_blocks = [self.free_blocks.pop() for _ in range(needed_blocks)]")],
        "prefill.removed",
    ),
    "ids that are not free": (
        "q2.requests_apart",
        [(CHOOSE, "allocated_blocks = list(range(needed_blocks))")],
        "prefill.removed",
    ),
    "a block kept back": ("q2.basic", [(FREE, "self.free_blocks = list(range(1, num_blocks))")], "new.blocks"),
    "release loses a block": (
        "q5.release",
        [("self.free_blocks.extend(blocks)", "self.free_blocks.extend(blocks[1:])")],
        "release.blocks",
    ),
    "the pool is turned": (
        "q4.basic",
        [(POOL, "torch.zeros(block_size, num_blocks, head_dim, dtype=dtype)")],
        "pool.shape",
    ),
    "first block only": ("q4.basic", [(CUT, "return cat_blocks[: self.block_size]")], "read.first_block"),
    "last block dropped": (
        "q4.basic",
        [(CUT, "return cat_blocks[: req.seq_len // self.block_size * self.block_size]")],
        "read.last_block",
    ),
    "tail kept": ("q4.basic", [(CUT, "return cat_blocks")], "read.uncut"),
    "blocks side by side": (
        "q4.basic",
        [(CUT, SIDE_BY_SIDE)],
        "read.contiguous",
    ),
    "a table of floats": (
        "q2.basic",
        [(TABLE, "req.block_table.extend(map(float, allocated_blocks))")],
        "blocks.entry",
    ),
    "a set for a table": ("q2.basic", [(TABLE, "req.block_table = set(allocated_blocks)")], "blocks.kind"),
    "free blocks called otherwise": (
        "q2.basic",
        [(FREE, FREE + "\n        self.free = self.free_blocks; del self.free_blocks")],
        "blocks.absent",
    ),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_a_mistake_is_called_by_its_name(name: str) -> None:
    case, replacements, code = SENTENCES[name]
    scenario = scenarios()[case] if isinstance(case, str) else case
    aloud = replace(scenario, operations=spoken_aloud(scenario.operations))  # as the grader asks for what failed
    found = deviation_of(solution(*replacements), aloud)
    assert found is not None
    assert found.finding.code == code
    for lang in LANGUAGES:
        assert "?" not in Words(lang).sentence(found.finding)


def test_the_guilty_request_or_manager_is_named_in_our_words() -> None:
    shared = solution(
        (CEILING, f"for other in EVERYBODY: other.seq_len += 1\n    EVERYBODY.append(req)\n    {CEILING}")
    )
    found = deviation_of("EVERYBODY = []\n" + shared, scenarios()["q2.block_size_one"])
    assert found is not None
    assert (found.finding.code, found.finding.details["what"]) == ("changed.other", "other_seq_len")
    assert "another request's seq_len" in Words("en").sentence(found.finding)
    assert "另一个请求" in Words("zh").sentence(found.finding)


@pytest.mark.parametrize("name", ["KVCacheManager", "Request"])
def test_a_constructor_that_fails_is_named_with_its_own_exception(name: str) -> None:
    broken = solution() + f"\nclass {name}:\n    def __init__(self, *args, **options): self.absent\n"
    found = deviation_of(broken, scenarios()["q2.basic"])
    assert found is not None
    assert (found.finding.code, found.finding.details["got"]) == ("call.raised", "AttributeError")
    assert f"{name}() raised AttributeError" in Words("en").sentence(found.finding)


def test_an_oom_without_the_word_is_told_what_it_lacks() -> None:
    source = solution().replace("OOM", "Out of memory")
    for case, operation in (("q2.refusal_changes_nothing", "prefill"), ("q3.refusal_changes_nothing", "decode")):
        found = deviation_of(source, scenarios()[case])
        assert found is not None
        assert (found.finding.code, found.finding.details["operation"]) == ("oom.text", operation)


def test_a_list_that_all_managers_share_is_called_the_other_managers() -> None:
    shared = solution((FREE, "self.free_blocks = POOL; self.free_blocks[:] = range(num_blocks)"))
    found = deviation_of("POOL = []\n" + shared, Script().new(4, 2).new(3, 2, m="n").scenario("q2.basic"))
    assert found is not None
    assert found.finding.details == {"operation": "new", "what": "other_free"}


def test_endless_recursion_is_no_refusal() -> None:
    endless = solution(
        (CEILING, f"{CEILING}\n    if needed_blocks > len(self.free_blocks): self.allocate_for_prefill(req)")
    )
    found = deviation_of(endless, Script().new(1, 2).arrive("A", 9).scenario("q2.basic"))
    assert found is not None
    assert (found.finding.code, found.finding.details["got"]) == ("prefill.oom", "RecursionError")
