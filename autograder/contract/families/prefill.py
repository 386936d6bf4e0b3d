"""Prefills of real size: long prompts, large pools, many requests that come, are refused, and come again."""

import random

from autograder.contract.families.family import (
    HUGE_IDS,
    Draft,
    Range,
    between,
    family,
    fresh_id,
    length_of,
    pools_of_all_sizes,
)

PARTS = ((0, 0), (15, 24), (10, 14), (46, 48))
"""How much of a pool each prompt takes, in percent; the first is as long in every pool."""


@family("q2.real_size", num_blocks=(5, 2000), block_size=(1, 1200), table=(1, 1200))
def sizes(numbers: random.Random, num_blocks: Range, block_size: Range, table: Range) -> Draft:
    """Fill pools of all sizes side by side with prompts around whole blocks, to the last block and one beyond."""
    script, pools = Draft("float16"), pools_of_all_sizes(numbers, num_blocks, block_size)
    shared = numbers.randint(260, 280)
    with script.quietly():
        for i, (size, blocks) in enumerate(pools):
            script.new(blocks, size, 1, m=f"m{i}")
        for turn in range(len(PARTS)):
            for i, (size, blocks) in enumerate(pools):
                needed = min(max(1, blocks * numbers.randint(*PARTS[turn]) // 100), table[1])
                length = shared if turn == 0 else length_of(numbers, needed, size)
                if turn == len(PARTS) - 1:  # where it is long, half precision takes it for the boundary below it
                    length = (needed - 1) // 4 * 4 * size + 1
                script.on(f"m{i}").request(f"r{i}{turn}", length, (*HUGE_IDS, 1)[turn + i % 2]).prefill(f"r{i}{turn}")
    with script.quietly():
        for i, (size, _) in enumerate(pools):
            free = len(script.on(f"m{i}").pool.free)
            script.request(f"beyond{i}", free * size + 1, 7).prefill(f"beyond{i}")
            if free:
                script.request(f"last{i}", length_of(numbers, free, size), 7).prefill(f"last{i}", f"last{i}")
            script.request(f"none{i}", 1, 9).prefill(f"none{i}")
            script.vacate(f"r{i}1").prefill(f"none{i}", f"beyond{i}")
    return script


@family("q2.crowd", num_blocks=(120, 200), block_size=(1, 16), prompt_blocks=(1, 40), calls=(500, 520))
def crowd(numbers: random.Random, num_blocks: Range, block_size: Range, prompt_blocks: Range, calls: Range) -> Draft:
    """Let requests come and go by the hundred; most meet a pool that is nearly full, and those refused come again."""
    script, size, left = Draft(), between(numbers, block_size), between(numbers, calls)
    script.new(between(numbers, num_blocks), size, 1)
    gone = [f"r{i}" for i in range(24)]
    waiting: list[str] = []
    holding: list[str] = []
    ids: dict[str, int] = {}
    while left > 0:
        with script.quietly():
            start = len(script.operations)
            while len(script.operations) < start + 175:
                if waiting and (not gone or numbers.random() < 0.4):
                    r = waiting.pop(numbers.randrange(len(waiting)))
                elif holding and (not gone or numbers.random() < 0.15):
                    script.prefill(numbers.choice(holding))
                    continue
                else:
                    r = gone.pop(0)
                    ids[r] = fresh_id(numbers, {ids[q] for q in (*waiting, *holding)})
                    script.request(r, length_of(numbers, between(numbers, prompt_blocks), size), ids[r])
                script.prefill(r)
                if script.last.outcome == "ok":
                    holding.append(r)
                    continue
                waiting.append(r)
                for _ in range(min(numbers.randint(0, 2), len(holding))):
                    gone.append(holding.pop(numbers.randrange(len(holding))))
                    script.vacate(gone[-1])
            left -= len(script.operations) - start
    script.new(num_blocks[0], block_size[0] + 1, 1)
    with script.quietly():
        for i in range(305):  # a manager grows old with one small request at a time
            script.arrive(f"again{i % 7}", 1 + i % 3).vacate(f"again{i % 7}")
    return script
