"""A mistake is called by its name, in a sentence that fits it."""

from dataclasses import replace

import pytest
from classes import CEILING, solution
from in_process import deviation_of
from test_rulings import CHOOSE, CUT, FREE, POOL, RETURN, SIDE_BY_SIDE, TABLE, TAKE_NOTHING

from autograder.contract.quiet import spoken_aloud
from autograder.contract.scenario import Scenario, Script
from autograder.contract.scenarios import scenarios
from autograder.reporting.words import LANGUAGES, Words


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
