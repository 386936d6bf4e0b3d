"""Sequences recorded from a real engine, and whether a submission's allocator decided as the engine did in each step.

``vllm.json`` holds some of those in ``ci/tests/data``, which ``ci/record_engine.py`` recorded; a step is written as
``p4:17=5,8`` (prefill request 4, 17 tokens: it then holds 5 blocks and 8 are free), ``d4!5,0`` (decode is refused for
lack of blocks) or ``r4=,13`` (release). No block's number is compared: the engine hands out others, as everybody may.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import accumulate
from typing import Any

from autograder.contract.observations import COLLECTIONS, ids_of
from autograder.contract.operations import Operation
from autograder.contract.quiet import quietly

STRETCH = 20
"""Steps between two looks: each look costs as much as ten calls."""
_STEP = re.compile(r"([pdr])(\d+)(?::(\d+))?([=!])(\d*),(\d+)")
_NAMES = {"p": "prefill", "d": "decode", "r": "release"}


@dataclass(frozen=True)
class Step:
    """One call and what the engine did; ``length`` is a prompt's, ``blocks`` what the request held afterwards."""

    name: str
    request: str
    length: int
    refused: bool
    blocks: int
    free: int

    @property
    def calls(self) -> tuple[Operation, ...]:
        """The calls on a submission; a prompt is a new request."""
        call = Operation(self.name, ("m", self.request))
        if self.name != "prefill":
            return (call,)
        return (Operation("request", (self.request, int(self.request[1:]), self.length)), call)


@dataclass(frozen=True)
class Recording:
    """A pool, and what happened in it step by step."""

    num_blocks: int
    block_size: int
    steps: tuple[Step, ...]

    @property
    def stretches(self) -> list[tuple[Step, ...]]:
        """The steps between one look and the next."""
        return [self.steps[start : start + STRETCH] for start in range(0, len(self.steps), STRETCH)]

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The recording as a child is asked for it."""
        new = Operation("new", ("m", self.num_blocks, self.block_size, 1, "float32", "cpu"))
        return (new, *(quietly(call for step in stretch for call in step.calls) for stretch in self.stretches))


@cache
def recorded() -> tuple[str, tuple[Recording, ...]]:
    """Return the engine's name and version, and its sequences."""
    data = json.loads(files("autograder.contract").joinpath("vllm.json").read_text(encoding="utf-8"))
    sequences = (
        Recording(one["num_blocks"], one["block_size"], tuple(map(_step, one["steps"].split())))
        for one in data["sequences"]
    )
    return data["engine"], tuple(sequences)


def _step(text: str) -> Step:
    match = _STEP.fullmatch(text)
    assert match, text
    name, number, length, end, blocks, free = match.groups()
    return Step(_NAMES[name], f"r{number}", int(length or 0), end == "!", int(blocks or 0), int(free))


def same_steps(recordings: Iterable[Recording], traces: Iterable[Sequence[dict[str, Any]]]) -> int:
    """Count the steps that a submission granted and refused as the engine did, up to a look that shows as many blocks.

    Where a look shows another number of blocks, none of the steps before it counts.
    """
    same = 0
    for recording, trace in zip(recordings, traces, strict=True):
        held: dict[str, int] = {}
        for stretch, seen in zip(recording.stretches, trace[1:], strict=True):
            held |= {step.request: step.blocks for step in stretch}
            if "ends" in seen and _shows(held, stretch[-1].free, seen["state"]):
                last = accumulate(len(step.calls) for step in stretch)
                same += sum(_is_so(step, seen["ends"][calls - 1]) for step, calls in zip(stretch, last, strict=True))
    return same


def _is_so(step: Step, end: dict[str, Any]) -> bool:
    return end["raised"]["oom"] if step.refused and "raised" in end else step.refused == ("raised" in end)


def _shows(held: dict[str, int], kept: int, state: dict[str, Any]) -> bool:
    """Tell whether every request holds so many blocks, and so many are free where that can be counted."""
    tables = {r: ids_of(state["requests"].get(r, {}).get("table")) for r in held}
    free = ids_of(state["managers"].get("m", {}).get("free"), COLLECTIONS)
    as_many = all(table is not None and len(table) == held[r] for r, table in tables.items())
    return as_many and (free is None or len(free) == kept)
