"""All families, and the cases that a seed draws from them."""

import hashlib
import random
from functools import cache

from autograder.contract.families import decode, ledger, life, prefill, read
from autograder.contract.families.family import Family
from autograder.contract.scenario import Scenario
from autograder.contract.seed import Seed

FAMILIES: tuple[Family, ...] = (
    ledger.shapes,
    prefill.sizes,
    prefill.crowd,
    decode.sizes,
    decode.long_life,
    read.sizes,
    read.again,
    life.long_life,
)


@cache
def drawn_scenarios(seed: Seed) -> dict[str, Scenario]:
    """Return the case that ``seed`` draws from every family, by its id; the same for everyone who has the seed."""
    return {family.case: family(_numbers(seed, family.case)) for family in FAMILIES}


def _numbers(seed: Seed, case: str) -> random.Random:
    """Return random numbers of one case's own: whoever works back from them finds a hash, not the seed."""
    return random.Random(hashlib.sha256(f"{seed.text}\0{case}".encode()).digest())
