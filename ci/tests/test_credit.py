"""A credit audit: an answer that computes nothing, exits or hangs earns no more than the starter's open TODO."""

from functools import cache

import pytest
from classes import solution
from sandbox_samples import shared_server

from autograder.contract.questions import questions
from autograder.grading.one.judge import SubmissionHandle
from autograder.sandbox.client import Limits

OPEN = "raise NotImplementedError"
ENDS = {
    "open": OPEN,
    "nothing": "return None",
    "out of memory always": 'raise RuntimeError("OOM")',
    "refuses always": 'raise ValueError("no")',
    "an exception without a name": "raise type('', (BaseException,), {})()",
    "exits": "import os\n    os._exit(0)",
    "leaves": "raise SystemExit",
    "hangs": "while True: pass",
}
LEDGER = """def estimate_kv_cache_bytes(num_blocks, block_size, num_layers, num_kv_heads, head_dim, dtype_bytes=2):
    if min(num_blocks, block_size, num_layers, num_kv_heads, head_dim, dtype_bytes) <= 0:
        raise ValueError("positive")
    layout = [num_layers, 2, num_kv_heads, block_size, head_dim]
    {body}
"""
ENTRIES = "dict(kv_bytes_per_token={0}, kv_bytes_per_block={0}, total_cache_bytes={0}, layout_shape=layout)"
PREFILL = """def allocate_for_prefill(self, req):
    if req.block_table:
        raise ValueError("again")
    {body}
KVCacheManager.allocate_for_prefill = allocate_for_prefill
"""
DECODE = """def allocate_for_decode(self, req):
    if not req.block_table:
        raise ValueError("before prefill")
    {body}
KVCacheManager.allocate_for_decode = allocate_for_decode
"""
READ = """def get_physical_cache(self, req):
    if not req.block_table or any(not 0 <= b < self.num_blocks for b in req.block_table):
        raise ValueError("bad table")
    {body}
KVCacheManager.get_physical_cache = get_physical_cache
"""
JUNK = {
    "q1": (LEDGER, {name: f"return {ENTRIES.format(name)}" for name in ("0", "-1", "0.0", "True", "layout", "...")}),
    "q2": (PREFILL, {"all blocks": "req.block_table = list(self.free_blocks)", "block 0": "req.block_table.append(0)"}),
    "q3": (DECODE, {"a longer length": "req.seq_len += 10**6", "a block": "req.block_table.append(-1)"}),
    "q4": (
        READ,
        {
            "an empty tensor": "return torch.empty(0)",
            "one zero": "return torch.zeros(1)",
            "the pool": "return self.physical_kv_cache",
            "zeros of the right shape": "return torch.zeros(req.seq_len, self.head_dim)",
        },
    ),
}
CASES = [(q, name, body) for q, (_, own) in JUNK.items() for name, body in {**ENDS, **own}.items() if body != OPEN]


@cache
def points(question: str, body: str) -> int:
    """Return the points of the solution with one TODO replaced, its guards left as they were given."""
    cells = [solution(), JUNK[question][0].format(body=body)]
    handle = SubmissionHandle(shared_server(Limits()), cells, lambda _, finding: finding.code)
    try:
        passed = [case for case, verdict in handle.verdicts.items() if verdict.status == "passed"]
    finally:
        handle.close()
    return sum(questions().cases[case].points for case in passed)


@pytest.mark.parametrize("question", JUNK)
def test_an_open_todo_costs_its_question_and_the_cases_that_use_it(question):
    table = questions()
    used = sum(case.points for case in table[table.given_code].cases if f"{question}.basic" in case.after)
    assert points(question, OPEN) == table.parts["cpu"] - table[question].points - used


@pytest.mark.parametrize(("question", "name", "body"), CASES, ids=lambda value: str(value)[:24])
def test_junk_earns_no_more_than_an_open_todo(question, name, body):
    assert points(question, body) <= points(question, OPEN)
