"""The ledger of models as they are built: one KV head or many, odd element sizes, the default, by keyword."""

import random

from autograder.contract.families.family import Draft, Range, between, family
from autograder.contract.ledger import BLOCK, LAYOUT, TOKEN, TOTAL

LARGEST = 2**63 - 1


@family(
    "q1.shapes",
    focus=(TOKEN, BLOCK, TOTAL, LAYOUT),
    num_blocks=(1, 10**6),
    block_size=(1, 256),
    layers=(1, 126),
    kv_heads=(1, 128),
    head_dim=(1, 576),
    dtype_bytes=(1, 16),
)
def shapes(numbers: random.Random, dtype_bytes: Range, kv_heads: Range, **others: Range) -> Draft:
    """Draw dimensions with one KV head and with many, every way to say how many bytes an element takes."""
    script = Draft()
    sizes: list[tuple[int | dict[str, int], ...]] = [
        (),
        (3,),
        (between(numbers, dtype_bytes, least=5),),
        ({"dtype_bytes": numbers.choice((1, 3, 4, 8))},),
        (numbers.choice((1, 4, 8)),),
    ]
    for size in sizes:
        for heads in (1, between(numbers, kv_heads, least=2)):
            drawn = {name: between(numbers, limits, least=2) for name, limits in others.items()}
            if numbers.random() < 0.3:
                drawn[numbers.choice([*drawn])] = 1
            script.ledger(drawn["num_blocks"], drawn["block_size"], drawn["layers"], heads, drawn["head_dim"], *size)
            assert script.last.value[TOTAL] <= LARGEST
    return script
