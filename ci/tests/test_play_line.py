"""The line of a report that a student pastes plays what the report shows."""

import pytest

from autograder.reporting import blockview
from autograder.reporting.play_line import play_line
from autograder.reporting.words import Words

NEW = ["new", "m", 4, 3, 2, "float32", "cpu"]
A, B = ["request", "A", 0, 7], ["request", "B", 1, 3]


@pytest.mark.parametrize(
    ("operations", "line"),
    [
        ([NEW, A, ["prefill", "m", "A"]], 'play(4, 3, "A prefill 7")'),
        ([NEW, A, ["prefill", "m", "A"], ["prefill", "m", "A"]], 'play(4, 3, "A prefill 7", "A prefill")'),
        ([NEW, B, ["seize", "m", "B", [2]], ["decode", "m", "B"]], 'play(4, 3, "A hold 3 2", "A decode")'),
        ([NEW, ["fill", "m"], A, ["place", "A", [3, 0, 1], 8], ["read", "m", "A"]],
         'play(4, 3, "A hold 8 3 0 1", "A read")'),
        ([NEW, A, B, ["prefill", "m", "B"], ["prefill", "m", "A"], ["release", "m", "B"]],
         'play(4, 3, "B prefill 3", "A prefill 7", "B release")'),
    ],
)  # fmt: skip
def test_operations_become_a_story(operations, line):
    assert play_line(operations) == line


@pytest.mark.parametrize(
    "operations",
    [
        [["ledger", 1, 2, 3, 4, 5, 6]],
        [NEW],
        [NEW, NEW, A, ["prefill", "m", "A"]],
        [["new", "m", 4000, 3, 2, "float32", "cpu"], A, ["prefill", "m", "A"]],
        [NEW, A, ["decode", "m", "A"]],
        [NEW, A, ["place", "A", [9, 0, 1], 8], ["read", "m", "A"]],
        [NEW, A, ["place", "A", [1, 1, 2], 8], ["read", "m", "A"]],
        [NEW, A, ["place", "A", [1], 8], ["read", "m", "A"]],
        [NEW, A, ["prefill", "m", "A"], ["vacate", "m", "A"]],
        [["real_size", 5, 5, 900]],
        [],
    ],
)
def test_what_no_story_can_say_gives_no_line(operations):
    assert play_line(operations) == ""


def test_tokens_without_a_slot_are_drawn():
    state = {"num_blocks": 2, "block_size": 4, "free": [1], "requests": {"A": {"seq_len": 6, "table": [0]}}}
    words = Words("en")
    assert "∅ |A A| 2 of the tokens of A without a slot" in blockview.text(state, words)
    assert str(blockview.svg(state, "after", words)).count('<rect class="twice"') == 2


def test_a_request_that_waits_for_blocks_has_no_tokens_without_a_slot():
    state = {"num_blocks": 1, "block_size": 4, "free": [0], "requests": {"A": {"seq_len": 6, "table": []}}}
    assert "without a slot" not in blockview.text(state, Words("en"))
