"""Growth of real size: long tables, large blocks, a thousand tokens with many a refusal and its retry."""

import random

from autograder.contract.families.family import HUGE_IDS, Draft, Range, between, family, length_of, pools_of_all_sizes


@family("q3.real_size", num_blocks=(5, 2000), block_size=(2, 1200), table=(1, 900))
def sizes(numbers: random.Random, num_blocks: Range, block_size: Range, table: Range) -> Draft:
    """Grow requests with scattered tables of all sizes side by side, over the ends of blocks and into a full pool."""
    script, pools = Draft("float16"), pools_of_all_sizes(numbers, num_blocks, block_size)
    steps: list[tuple[str, str]] = []
    with script.quietly():
        for i, (size, blocks) in enumerate(pools):
            spare = 1 if size > 5 else numbers.randint(6, 9)
            ids = numbers.sample(range(blocks), blocks - spare)
            long = min(blocks // 2, table[1])
            script.new(blocks, size, 1, m=f"m{i}")
            script.hold(f"a{i}", ids[:long], long * size - min(size - 1, numbers.randint(2, 3)), 1)
            script.hold(f"b{i}", ids[long : long + 1], size - numbers.randrange(min(size, 3)), HUGE_IDS[i])
            script.hold(f"c{i}", ids[long + 1 :], length_of(numbers, len(ids) - long - 1, size), i + 1)
            turns = f"a{i}", f"b{i}", numbers.choice((f"a{i}", f"b{i}"))
            steps += [(f"m{i}", r) for _ in range(4 if size > 20 else 14) for r in turns]
        numbers.shuffle(steps)
        for m, r in steps:
            script.on(m).decode(r)
    with script.quietly():
        for i in range(len(pools)):
            script.on(f"m{i}").vacate(f"c{i}")
        for m, r in steps:
            script.on(m).decode(r)
    return script


@family("q3.long_life", num_blocks=(90, 130), block_size=(4, 6), table=(1, 120), calls=(1000, 1050))
def long_life(numbers: random.Random, num_blocks: Range, block_size: Range, table: Range, calls: Range) -> Draft:
    """Append a thousand tokens on one manager; each time that its pool is full somebody leaves, and growth goes on."""
    script, size, blocks = Draft(), between(numbers, block_size), between(numbers, num_blocks)
    ids = numbers.sample(range(blocks), min(blocks, table[1]) // 2 + 20)
    growing, staying, left = [f"g{i}" for i in range(4)], [f"s{i}" for i in range(6)], between(numbers, calls)
    script.new(blocks, size, 1)
    with script.quietly():
        for i, r in enumerate(growing):
            script.hold(r, ids[i : i + 1], numbers.randint(1, size), (1, 2**62, 5, 9)[i])
        for i, r in enumerate(staying):
            share = ids[len(growing) :][i :: len(staying)]
            script.hold(r, share, length_of(numbers, len(share), size), 10 + i)
    while left > 0:
        with script.quietly():
            for _ in range(350):
                left -= 1
                r = numbers.choice(growing)
                script.decode(r)
                if script.last.outcome != "ok" and staying and numbers.random() < 0.2:
                    script.vacate(staying.pop(numbers.randrange(len(staying)))).decode(r)
    return script
