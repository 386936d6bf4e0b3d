"""The report's section beside a real engine: what was recorded, what a submission did, and what is said of it."""

import json
from pathlib import Path

import pytest
from classes import CEILING, solution

from autograder.config import Config
from autograder.contract import engine
from autograder.contract.engine import STRETCH, recorded, same_steps
from autograder.grading.confined import confined_server
from autograder.grading.one.grade_one import grade_one
from autograder.intake.script import script_cells
from autograder.intake.submission import Submission
from autograder.reporting.report import render_html, render_markdown
from autograder.reporting.words import Words
from autograder.sandbox.client import ForkServer

DATA = Path(__file__).parent / "data" / "golden_vllm0320.json"
LAST_FREED_FIRST = ("self.free_blocks.pop(0)", "self.free_blocks.pop()")
FORGETS = """

class KVCacheManager(KVCacheManager):
    seen = 0

    def allocate_for_decode(self, req):
        KVCacheManager.seen += 1
        if (self.num_blocks, self.block_size) == {pool} and KVCacheManager.seen % 7 == 0:
            raise RuntimeError("OOM")
        return super().allocate_for_decode(req)
"""


def graded(source: str):
    with confined_server(allow_weak=False) as server:
        cells = tuple(script_cells(source))
        return grade_one(server, Submission("a", "a.py", "", cells, source.encode()), Config(), Words("en")).result


def test_the_compact_form_says_what_was_recorded():
    full = {one["seed"]: one for one in json.loads(DATA.read_text(encoding="utf-8"))}
    compact = json.loads((Path(engine.__file__).parent / "vllm.json").read_text(encoding="utf-8"))
    for one, recording in zip(compact["sequences"], recorded()[1], strict=True):
        original = full[one["seed"]]
        assert (recording.num_blocks, recording.block_size) == (original["num_blocks"], original["block_size"])
        for step, (name, request, *rest) in zip(recording.steps, original["ops"], strict=True):
            assert (step.name, step.request) == (name, f"r{request}")
            assert [step.length] == (rest[:1] if name == "prefill" else [0])
            outcome, blocks, free = rest[-3:]
            assert (step.refused, step.blocks, step.free) == (outcome == "OOM", blocks or 0, free)
    assert sum(len(recording.steps) for recording in recorded()[1]) == 200


@pytest.mark.parametrize("changes", [(), (LAST_FREED_FIRST,)], ids=["as taught", "last freed first"])
def test_a_right_submission_did_as_the_engine_in_every_step(changes):
    source = solution()
    for old, new in changes:
        source = source.replace(old, new)
    result = graded(source)
    [note] = [note for note in result.notes if note.code.startswith("engine.")]
    assert (note.code, note.details["same"], note.details["steps"]) == ("engine.same", 200, 200)
    for lang in ("en", "zh"):
        words = Words(lang)
        for page in (render_html(result, words), render_markdown(result, words)):
            assert words.text("engine.title") in page
            assert words.text("page.notes") not in page
    assert "vLLM" not in result.gradescope["output"]


def test_nothing_is_said_where_prefill_is_wrong():
    result = graded(solution((CEILING, "needed_blocks = req.seq_len // self.block_size")))
    assert not [note for note in result.notes if note.code.startswith("engine.")]


def test_steps_up_to_a_look_that_shows_another_number_do_not_count():
    _, recordings = recorded()
    with ForkServer() as server, server.spawn() as child:
        child.load(script_cells(solution()))
        traces = [child.run(one.operations) for one in recordings]
    assert same_steps(recordings, traces) == 200
    traces[0][1] = {**traces[0][1], "state": {"managers": {}, "requests": {}}}
    assert same_steps(recordings, traces) == 200 - STRETCH
    traces[1][1]["ends"][1] = {"raised": {"oom": False}}
    assert same_steps(recordings, traces) == 200 - STRETCH - 1
    traces[2] = [*traces[2][:2], {"raised": {}, "state": {}}]
    assert same_steps(recordings, traces) == 200 - STRETCH - 1 - STRETCH


def test_who_differs_from_the_engine_reads_in_how_many_steps():
    pool = (recorded()[1][-1].num_blocks, recorded()[1][-1].block_size)
    result = graded(solution() + FORGETS.format(pool=pool))
    [note] = [note for note in result.notes if note.code.startswith("engine.")]
    assert note.code == "engine.differs"
    assert 160 <= note.details["same"] < 200
    assert result.points == 80
