"""Whole lives of real size: a thousand calls on managers side by side, with many a refusal and its retry."""

import random

from autograder.contract.families.family import Draft, Range, between, family, fresh_id, length_of

EVENTS = "aadddddddddddddddddddx"
"""What happens next: somebody arrives, grows, or leaves."""


@family(
    "q5.long_life",
    num_blocks=(40, 90),
    block_size=(2, 16),
    head_dim=(1, 2),
    prompt_blocks=(1, 25),
    calls=(1000, 1050),
)
def long_life(
    numbers: random.Random, num_blocks: Range, block_size: Range, head_dim: Range, prompt_blocks: Range, calls: Range
) -> Draft:
    """Let requests arrive, grow, be read, leave and be refused in three pools, and look closely now and then."""
    script, left = Draft(), between(numbers, calls)
    shapes = zip(
        "mno", (block_size[0], between(numbers, block_size, 2, 7), between(numbers, block_size, 8)), strict=True
    )
    for m, size in shapes:
        script.new(between(numbers, num_blocks), size, between(numbers, head_dim), m=m).fill()
    holding: dict[str, dict[str, int]] = {m: {} for m in "mno"}
    gone = {m: [f"{m}{i}" for i in range(9)] for m in "mno"}
    while left > 0:
        with script.quietly():
            start = len(script.operations)
            while len(script.operations) < start + 350:
                m = numbers.choice("mno")
                _happen(numbers, script.on(m), holding[m], gone[m], numbers.choice(EVENTS), prompt_blocks)
            left -= len(script.operations) - start
        for m in "mno":
            if holding[m]:
                script.on(m).fill(left % 7).read(numbers.choice([*holding[m]]))
        script.report(numbers.choice([*holding[m]] or gone[m]))
    return script


def _happen(
    numbers: random.Random, script: Draft, holding: dict[str, int], gone: list[str], event: str, prompt_blocks: Range
) -> None:
    """Let one thing happen in a pool, with what follows from it."""

    def leave() -> None:
        r = numbers.choice([*holding])
        del holding[r]
        gone.append(r)
        script.release(r)

    if not holding or (event == "a" and gone):
        r = gone.pop(0)
        number = fresh_id(numbers, {*holding.values()})
        script.request(r, length_of(numbers, between(numbers, prompt_blocks), script.pool.block_size), number).prefill(
            r
        )
        if script.last.outcome != "ok" and holding:
            leave()
            script.prefill(r)
        if script.last.outcome == "ok":
            holding[r] = number
        else:
            gone.append(r)
    elif event != "d":
        leave()
    else:
        script.decode(numbers.choice([*holding]))
        if script.last.outcome != "ok" and len(holding) > 1 and numbers.random() < 0.5:
            leave()
