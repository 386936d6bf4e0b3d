"""Seeded random scenarios: the same for every student, on every machine."""

import random

from autograder.contract.model import ReferenceModel
from autograder.contract.scenario import Scenario, Script


def _numbers(id: str) -> random.Random:
    return random.Random(f"paged attention {id}")


def random_prefills(id: str) -> Scenario:
    """Requests of random lengths fill pools of every block size until nothing fits, and then some."""
    numbers, script = _numbers(id), Script()
    for size in (1, 2, 4, 5, 8):
        m = f"m{size}"
        script.new(numbers.randint(5, 8), size, 1, m=m)
        for i in range(4):
            r = f"{m}{i}"
            script.arrive(r, numbers.randint(1, 3 * size + 1))
            if numbers.random() < 0.3:
                script.prefill(r)
    return script.scenario(id)


def random_decodes(id: str) -> Scenario:
    """Interleaved requests with scattered tables grow until the pool is empty, release by hand, and grow again."""
    numbers, script = _numbers(id), Script()
    for size in (2, 3, 4, 6):
        m, blocks = f"m{size}", 7
        ids = numbers.sample(range(blocks), 4)
        script.new(blocks, size, 1, m=m)
        script.hold(f"{m}a", ids[:2], numbers.randint(size + 1, 2 * size))
        script.hold(f"{m}b", ids[2:3], numbers.randint(1, size)).hold(f"{m}c", ids[3:], size)
        for _ in range(2 * size + 2):
            script.decode(f"{m}{numbers.choice('aabc')}")
        script.vacate(f"{m}c").decode(f"{m}a", 2).decode(f"{m}b", 1)
    return script.scenario(id)


def random_reads(id: str) -> Scenario:
    """Scattered tables over pools of several shapes are read, rewritten and read again."""
    numbers, script = _numbers(id), Script()
    for size, dim in ((1, 2), (2, 5), (3, 3), (4, 2), (7, 1)):
        m = f"m{size}"
        script.new(7, size, dim, m=m).fill()
        for i in range(2):
            ids = numbers.sample(range(7), numbers.randint(1, 5))
            seq_len = (len(ids) - 1) * size + numbers.randint(1, size)
            script.request(f"{m}{i}", seq_len).place(f"{m}{i}", ids, seq_len).read(f"{m}{i}")
        script.fill(2).read(f"{m}0")
    return script.scenario(id)


def random_lifecycle(id: str) -> Scenario:
    """Several requests arrive, grow, are read, leave and make room for others, through many an OOM and its retry."""
    numbers, script = _numbers(id), Script()
    for size in (2, 3, 4):
        m, count = f"m{size}", 0
        script.new(numbers.randint(4, 6), size, 2, m=m).fill(size)
        for _ in range(16):
            requests = _run(script).requests
            alive = [r for r, request in requests.items() if r.startswith(m) and request.table]
            waiting = [r for r, request in requests.items() if r.startswith(m) and not request.table]
            event = numbers.choice("aadddrrx") if alive else "a"
            if event == "a" and waiting and numbers.random() < 0.6:
                script.prefill(waiting[0])
            elif event == "a":
                count += 1
                script.arrive(f"{m}{count}", numbers.randint(1, 2 * size))
            elif event == "d":
                script.decode(numbers.choice(alive), numbers.randint(1, 2))
            elif event == "r":
                script.read(numbers.choice(alive))
            else:
                script.release(numbers.choice(alive))
    return script.scenario(id)


def _run(script: Script) -> ReferenceModel:
    model = ReferenceModel()
    for operation in script.operations:
        model.apply(operation)
    return model
