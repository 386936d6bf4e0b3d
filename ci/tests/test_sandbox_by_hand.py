"""States that are set by hand: whatever a free list and a table are kept in."""

from typing import Any

import pytest
from sandbox_samples import LEDGER, NEW, REQUEST, RIGHT, trace

from autograder.contract.operations import Operation

TABLES = {
    "a list": "[]",
    "a deque": "__import__('collections').deque()",
    "a tuple": "()",
    "an array": "__import__('array').array('l')",
    "of NumPy": "__import__('numpy').array([], dtype=int)",
}
FREE = {
    "a list": "list(range(4))",
    "a deque": "__import__('collections').deque(range(4))",
    "a tuple": "tuple(range(4))",
    "a set": "set(range(4))",
    "a frozenset": "frozenset(range(4))",
    "a dict": "dict.fromkeys(range(4), True)",
    "an array": "__import__('array').array('l', range(4))",
    "of NumPy": "__import__('numpy').arange(4)",
    "of its own kind": "__import__('collections').UserList(range(4))",
}
NO_SETTER = """
class KVCacheManager(KVCacheManager):
    def __init__(self, *args):
        self.held = {}
        super().__init__(*args)
    def __setattr__(self, name, value):
        if name == "free_blocks" and name in vars(self):
            raise AttributeError("no setter")
        super().__setattr__(name, value)
"""


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("free", FREE)
def test_blocks_are_seized_and_vacated_by_hand(table: str, free: str) -> None:
    in_place = free not in ("a tuple", "a frozenset", "of NumPy")
    source = RIGHT.replace("prompt_len, []", f"prompt_len, {TABLES[table]}")
    source = source.replace("list(range(num_blocks))", FREE[free]) + (NO_SETTER if in_place else "")
    seize, vacate = Operation("seize", ("m", "r", [3, 1])), Operation("vacate", ("m", "r"))
    _, _, seized, vacated = trace([source], [NEW, REQUEST, seize, vacate])
    assert "returned" in seized
    assert "returned" in vacated
    assert items(seized["state"]["requests"]["r"]["table"]) == [3, 1]
    assert items(vacated["state"]["requests"]["r"]["table"]) == []
    assert items(seized["state"]["managers"]["m"]["free"]) == [0, 2]
    assert sorted(items(vacated["state"]["managers"]["m"]["free"])) == [0, 1, 2, 3]


@pytest.mark.parametrize("table", TABLES)
def test_a_table_placed_by_hand_is_of_the_kind_it_was(table: str) -> None:
    source = RIGHT.replace("prompt_len, []", f"prompt_len, {TABLES[table]}")
    _, fresh, placed = trace([source], [NEW, REQUEST, Operation("place", ("r", [3, 0], 4))])
    assert items(placed["state"]["requests"]["r"]["table"]) == [3, 0]
    kinds = [[*seen["state"]["requests"]["r"]["table"]] for seen in (fresh, placed)]
    assert kinds[0] == kinds[1]


def test_seizing_keeps_the_identity_of_the_lists() -> None:
    remember = """
seen = []
class Request(Request):
    def __init__(self, *args):
        super().__init__(*args)
        seen.append(self.block_table)
def estimate_kv_cache_bytes(*args):
    return seen
"""
    seen = trace([RIGHT, remember], [NEW, REQUEST, Operation("seize", ("m", "r", [2])), LEDGER])
    assert seen[-1]["returned"] == {"list": [{"list": [2]}]}


def test_placing_sets_table_and_length_and_leaves_the_free_list() -> None:
    seen = trace([RIGHT], [NEW, REQUEST, Operation("place", ("r", [3, 0], 4))])[-1]["state"]
    assert seen["requests"]["r"] == {"seq_len": 4, "table": {"list": [3, 0]}}
    assert seen["managers"]["m"]["free"] == {"list": [0, 1, 2, 3]}


def items(value: Any) -> list[Any]:
    """Return the elements of an encoded list, tuple or other sequence."""
    [content] = value.values()
    assert isinstance(content, list)
    return content
