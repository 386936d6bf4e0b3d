"""Reading back at real size: tables of hundreds of blocks, every dtype, and requests that look like earlier ones."""

import random

from autograder.contract.families.family import HUGE_IDS, Draft, Range, between, family, grown, length_of
from autograder.contract.operations import DTYPE_BYTES


@family("q4.real_size", num_blocks=(4, 500), block_size=(1, 1100), head_dim=(1, 96), table=(1, 300))
def sizes(numbers: random.Random, num_blocks: Range, block_size: Range, head_dim: Range, table: Range) -> Draft:
    """Read scattered tables out of pools of all shapes and dtypes: many small blocks, few large ones, wide rows."""
    script, calls = Draft(), Draft()
    script.calls = calls
    large = between(numbers, block_size, 101, 256)
    shapes = [
        (between(numbers, num_blocks, 280, 400), between(numbers, block_size, 2, 4), head_dim[0]),
        (between(numbers, num_blocks, 12, 3000 // large), large, head_dim[0]),
        (num_blocks[0], between(numbers, block_size, 1030), head_dim[0]),
        (between(numbers, num_blocks, 8, 12), between(numbers, block_size, 1, 4), between(numbers, head_dim, 33)),
    ]
    for i, ((blocks, size, dim), dtype) in enumerate(zip(shapes, numbers.sample([*DTYPE_BYTES], 4), strict=True)):
        script.dtype = calls.dtype = dtype
        ids = numbers.sample(range(blocks), blocks - 1)
        long = min(blocks * 7 // 10, table[1])
        with script.quietly():
            script.new(blocks, size, dim, m=f"m{i}")
            script.hold(f"a{i}", ids[:long], length_of(numbers, long, size), HUGE_IDS[i])
            script.hold(f"b{i}", ids[long:], length_of(numbers, len(ids) - long, size), 0)
        script.fill().read(f"a{i}").read(f"b{i}")
        with calls.quietly():
            calls.new(blocks, size, dim, m=f"m{i}")
            grown(calls, f"a{i}", long, HUGE_IDS[i])
            calls.request(f"b{i}", length_of(numbers, len(ids) - long, size), 0).prefill(f"b{i}")
        calls.fill().read(f"a{i}").read(f"b{i}")
    return script


@family("q4.again", num_blocks=(40, 50), block_size=(2, 4), head_dim=(1, 3), table=(24, 36))
def again(numbers: random.Random, num_blocks: Range, block_size: Range, head_dim: Range, table: Range) -> Draft:
    """Read requests with the ids and lengths of earlier ones, in two pools at once, after values have changed."""
    script = Draft(numbers.choice(("float32", "float64")))
    script.calls = calls = Draft(script.dtype)
    blocks, size, dim = (between(numbers, limits) for limits in (num_blocks, block_size, head_dim))
    count = between(numbers, table)
    length, same_id = (count - 1) * size + numbers.randint(1, size), numbers.choice((0, 3, *HUGE_IDS))
    for i, m in enumerate("mn"):
        for form in (script, calls):
            form.new(blocks, size, dim, m=m).fill(i)
    for turn in range(2):
        ids = numbers.sample(range(blocks), count)
        with script.quietly(), calls.quietly():
            for m in "mn":
                script.on(m).hold(f"{m}{turn}", ids, length, same_id)
                grown(calls.on(m), f"{m}{turn}", count, same_id)
        for form in (script, calls):
            for m in "mn":
                form.on(m).read(f"{m}{turn}")
            form.on("m").fill(turn + 2).read(f"m{turn}")
        with script.quietly(), calls.quietly():
            for m in "mn":
                script.on(m).vacate(f"{m}{turn}")
                calls.on(m).release(f"{m}{turn}")
    return script
