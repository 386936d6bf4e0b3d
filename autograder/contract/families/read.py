"""Reading back at real size: tables of hundreds of blocks, every dtype, and requests that look like earlier ones."""

import random

from autograder.contract.families.family import HUGE_IDS, Draft, Range, between, family, grown, length_of
from autograder.contract.operations import DTYPE_BYTES


@family("q4.real_size", num_blocks=(4, 2200), block_size=(1, 1100), head_dim=(1, 160), table=(1, 2150))
def sizes(numbers: random.Random, num_blocks: Range, block_size: Range, head_dim: Range, table: Range) -> Draft:
    """Read scattered tables out of pools of all shapes: long tables and wide rows of every dtype, and a vast pool."""
    script, calls = Draft(), Draft()
    script.calls = calls
    large = between(numbers, block_size, 101, 256)
    pools = [
        (
            dtype,
            between(numbers, num_blocks, 100, 140),
            between(numbers, block_size, 1, 3),
            between(numbers, head_dim, 9, 20),
        )
        for dtype in DTYPE_BYTES
    ]
    pools += [
        (numbers.choice([*DTYPE_BYTES]), between(numbers, num_blocks, 12, 3000 // large), large, head_dim[0]),
        (numbers.choice([*DTYPE_BYTES]), num_blocks[0], between(numbers, block_size, 1030), head_dim[0]),
        (
            "float32",
            between(numbers, num_blocks, 8, 12),
            between(numbers, block_size, 1, 4),
            between(numbers, head_dim, 129),
        ),
        ("float16", between(numbers, num_blocks, 2100), 16, head_dim[0]),
    ]
    for i, (dtype, blocks, size, dim) in enumerate(pools):
        script.dtype = calls.dtype = dtype
        ids = numbers.sample(range(blocks), blocks - 1)
        vast = blocks > 1000  # too large to read whole for those who go token by token
        long, id = min(blocks * (76 if vast else 70) // 100, table[1]), HUGE_IDS[i % len(HUGE_IDS)]
        with script.quietly():
            script.new(blocks, size, dim, m="m")
            script.hold(f"a{i}", ids[:long], length_of(numbers, long, size), id)
            script.hold(f"b{i}", ids[long:], length_of(numbers, len(ids) - long, size), 1)
        with calls.quietly():
            calls.new(blocks, size, dim, m="m")
            if vast:
                calls.request(f"a{i}", length_of(numbers, long, size), id).prefill(f"a{i}")
            else:
                grown(calls, f"a{i}", long, id)
            calls.request(f"b{i}", length_of(numbers, len(ids) - long, size), 1).prefill(f"b{i}")
        for form in (script, calls):
            for r in "b" if vast else "ab":
                form.fill(ord(r) % 2).read(f"{r}{i}")
    return script


@family("q4.again", num_blocks=(40, 50), block_size=(2, 4), head_dim=(1, 3), table=(22, 26), reads=(202, 215))
def again(
    numbers: random.Random, num_blocks: Range, block_size: Range, head_dim: Range, table: Range, reads: Range
) -> Draft:
    """Read requests with the ids and lengths of earlier ones, in two pools at once, hundreds of times."""
    script = Draft(numbers.choice(("float32", "float64")))
    script.calls = calls = Draft(script.dtype)
    blocks, size, dim = (between(numbers, limits) for limits in (num_blocks, block_size, head_dim))
    count = between(numbers, table)
    length, same_id = (count - 1) * size + numbers.randint(1, size), numbers.choice((1, 3, *HUGE_IDS))
    for m in "mn":
        for form in (script, calls):
            form.new(blocks, size, dim, m=m)
    for turn in range(2):
        ids = numbers.sample(range(blocks - 1), count)
        with script.quietly(), calls.quietly():
            for m in "mn":
                if turn and m == "m":
                    script.on(m).hold(f"{m}small", [blocks - 1], 1, 5)
                    calls.on(m).request(f"{m}small", 1, 5).prefill(f"{m}small")
                    for _ in range(between(numbers, reads)):
                        script.read(f"{m}small")
                        calls.read(f"{m}small")
                script.on(m).hold(f"{m}{turn}", ids, length, same_id)
                grown(calls.on(m), f"{m}{turn}", count, same_id)
        for form in (script, calls):
            for i, m in enumerate("mn"):  # now, since whoever hands a block out may wipe it
                form.on(m).fill(2 * turn + i)
            for m in "mn":
                form.on(m).read(f"{m}{turn}")
            form.on("m").fill(turn + 4).read(f"m{turn}")
        with script.quietly(), calls.quietly():
            for m in "mn":
                script.on(m).vacate(f"{m}{turn}")
                calls.on(m).release(f"{m}{turn}")
    return script
