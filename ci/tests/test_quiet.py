"""Quiet calls: the same calls, looked at less often, with the same verdict."""

import random
from dataclasses import replace

import pytest
from classes import CEILING, NEEDS_BLOCK, solution
from in_process import deviation_of, trace_of
from sandbox_samples import trace

from autograder.contract.compare import first_deviation
from autograder.contract.families.family import Draft
from autograder.contract.operations import NAMES, QUIET_CALLS
from autograder.contract.quiet import calls_of, quietly, renamed, spoken_aloud
from autograder.contract.scenario import Scenario, Script
from autograder.contract.scenarios import scenarios

TAKE = "for block in allocated_blocks:\n        self.free_blocks.remove(block)"
GIVE = "self.free_blocks.extend(blocks)"
GROW = "req.block_table.append(self.free_blocks.pop(0))"
COMMIT = "req.seq_len = new_seq_len"
WRONG = {
    "prefill takes a block too few": [(CEILING, "needed_blocks = req.seq_len // self.block_size or 1")],
    "prefill takes a block too many": [(CEILING, "needed_blocks = req.seq_len // self.block_size + 1")],
    "prefill leaves the blocks free": [(TAKE, "pass")],
    "prefill changes the length": [(TAKE, TAKE + "\n    req.seq_len += 1")],
    "decode takes a block too early": [(NEEDS_BLOCK, "is_new_block_needed = new_seq_len % self.block_size == 0")],
    "decode takes a block too late": [(NEEDS_BLOCK, "is_new_block_needed = False")],
    "decode puts the block in front": [(GROW, "req.block_table.insert(0, self.free_blocks.pop(0))")],
    "decode takes a block and loses another": [(GROW, GROW + "; self.free_blocks[-1:] = []")],
    "decode leaves the block free": [(GROW, "req.block_table.append(self.free_blocks[0])")],
    "decode forgets the length": [(COMMIT, "pass")],
    "decode counts twice": [(COMMIT, "req.seq_len += 2")],
    "a block that is not there": [(GROW, "req.block_table.append(self.free_blocks.pop(0) + 1000)")],
    "release loses a block": [(GIVE, "self.free_blocks.extend(blocks[1:])")],
    "release gives a block back twice": [(GIVE, "self.free_blocks.extend(blocks + blocks[:1])")],
    "release keeps the table": [("req.block_table.clear()", "pass")],
    "the manager shrinks": [(COMMIT, COMMIT + "\n    self.num_blocks -= 1")],
    "the pool is overwritten": [(COMMIT, COMMIT + "\n    self.physical_kv_cache += 1")],
}


def life(seed: int) -> Scenario:
    """Return a life of three requests in a small pool, spoken aloud."""
    numbers, script = random.Random(seed), Draft()
    script.new(numbers.randint(5, 7), 3).fill()
    for _ in range(40):
        r = numbers.choice("ABC")
        request = script.model.requests.get(r)
        if request is None or not request.table:
            script.arrive(r, numbers.randint(1, 9))
        elif numbers.random() < 0.85:
            script.decode(r)
        else:
            script.release(r)
    return script.scenario("q5.life")


def hushed(scenario: Scenario, every: int) -> Scenario:
    """Return the scenario with its calls made quiet, and a look after so many of them."""
    start = next(i for i, o in enumerate(scenario.operations) if o.name == "fill") + 1
    loud, calls = scenario.operations[:start], scenario.operations[start:]
    quiet = (quietly(calls[i : i + every]) for i in range(0, len(calls), every))
    return replace(scenario, operations=(*loud, *quiet))


@pytest.mark.parametrize("every", [1, 5, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_a_right_submission_is_right_however_seldom_it_is_looked_at(seed, every):
    assert deviation_of(solution(), hushed(life(seed), every)) is None


@pytest.mark.parametrize("name", WRONG)
def test_a_look_after_each_quiet_call_sees_what_a_plain_one_does(name):
    source = solution(*WRONG[name])
    loud = [seed for seed in range(8) if deviation_of(source, life(seed))]
    assert loud
    assert [seed for seed in range(8) if deviation_of(source, hushed(life(seed), 1))] == loud


@pytest.mark.parametrize("every", [4, 12])
@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_shows_at_a_checkpoint_of_some_life(name, every):
    assert any(deviation_of(solution(*WRONG[name]), hushed(life(seed), every)) for seed in range(8))


@pytest.mark.parametrize("name", WRONG)
def test_a_look_after_each_quiet_call_blames_the_same_question(name):
    source = solution(*WRONG[name])
    for seed in range(4):
        loud, quiet = deviation_of(source, life(seed)), deviation_of(source, hushed(life(seed), 1))
        assert (loud and loud.owner) == (quiet and quiet.owner)


def test_a_request_that_changes_nothing_of_its_own_may_not_change_another():
    source = solution((COMMIT, COMMIT + "\n    KNOWN[0].block_table.reverse() if KNOWN[0] is not req else None"))
    source = source.replace("self.request_id = request_id", "self.request_id = request_id; KNOWN.append(self)")
    script = Script().new(9, 2).arrive("A", 6).arrive("B", 3)
    with script.quietly():
        script.decode("B")
    found = deviation_of("KNOWN = []\n" + source, script.scenario("q5.x"))
    assert found is not None
    assert found.finding.code == "decode.order"


def test_every_end_is_noted_and_nothing_stops_the_calls_that_follow():
    script = Script().new(2, 2)
    with script.quietly():
        script.arrive("A", 2).arrive("B", 9).prefill("A").prefill("nobody").decode("A")
    ends = trace([solution()], script.operations)[-1]["ends"]
    names = [end["raised"]["name"] if "raised" in end else "-" for end in ends]
    assert names == ["-", "-", "-", "RuntimeError", "ValueError", "Missing", "-"]
    assert ends[3]["raised"]["oom"]
    assert ends[5]["raised"]["missing"] is None
    assert trace_of(solution(), script.operations)[-1]["ends"] == ends


def test_the_words_of_the_wire_say_what_may_be_quiet():
    assert QUIET_CALLS < NAMES
    quiet = {call.name for s in scenarios().values() for o in s.operations if o.name == "quiet" for call in calls_of(o)}
    assert quiet <= QUIET_CALLS


def test_speaking_aloud_gives_the_same_calls_in_the_same_order():
    scenario = life(0)
    assert spoken_aloud(hushed(scenario, 6).operations) == scenario.operations


def test_calls_that_set_state_by_hand_become_the_submissions_own_inside_a_quiet_operation_too():
    script = Script().new(5, 2)
    with script.quietly():
        script.hold("A", [3], 2).vacate("A")
    [_, quiet] = script.operations
    names = [call.name for call in calls_of(renamed(quiet, {"seize": "prefill", "vacate": "release"}))]
    assert names == ["request", "prefill", "release"]


@pytest.mark.parametrize(
    "ends",
    [None, [], [{"returned": None}] * 3, [{}, {}], [{"raised": {}}, {"raised": {"bases": 3}}]],
    ids=["none", "too few", "too many", "empty", "malformed"],
)
def test_made_up_ends_are_a_deviation_and_no_exception(ends):
    script = Script().new(2, 2).request("A", 2)
    with script.quietly():
        script.prefill("A").prefill("A")
    seen = trace_of(solution(), script.operations)
    seen[-1] = {"ends": ends, "state": seen[-1]["state"]}
    assert first_deviation("q2", script.operations, seen)


def test_a_quiet_operation_that_did_not_answer_with_ends_is_a_deviation():
    script = Script().new(2, 2)
    with script.quietly():
        script.request("A", 2)
    seen = trace_of(solution(), script.operations)
    assert first_deviation("q2", script.operations, [seen[0], {"returned": None, "state": seen[1]["state"]}])
