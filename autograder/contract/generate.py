"""Seeded random scenarios: the same for every student, on every machine."""

import random

from autograder.contract.model import ReferenceModel
from autograder.contract.scenario import Scenario, Script


def _numbers(id: str) -> random.Random:
    return random.Random(f"paged attention {id}")


def random_prefills(id: str) -> Scenario:
    """Requests of random lengths fill pools of every block size until nothing fits, and then some."""
    numbers, script = _numbers(id), Script()
    for size in (3, 5):
        script.new(numbers.randint(5, 8), size, 1)
        for r in "ABCD":
            script.arrive(r, numbers.randint(1, 3 * size + 1))
            if numbers.random() < 0.3:
                script.prefill(r)
    return script.scenario(id)


def random_decodes(id: str) -> Scenario:
    """Interleaved requests with scattered tables grow until the pool is empty, release by hand, and grow again."""
    numbers, script = _numbers(id), Script()
    for size in (2, 3):
        ids = numbers.sample(range(7), 4)
        script.new(7, size, 1).hold("A", ids[:2], numbers.randint(size + 1, 2 * size))
        script.hold("B", ids[2:3], numbers.randint(1, size)).hold("C", ids[3:], size)
        for _ in range(6 + size):
            script.decode(numbers.choice("AAABBC"))
        script.vacate("C").decode("A", 2).decode("B", 1)
    return script.scenario(id)


def random_reads(id: str) -> Scenario:
    """Scattered tables over pools of several shapes are read, rewritten and read again."""
    numbers, script = _numbers(id), Script()
    for size, dim in ((1, 2), (3, 5)):
        script.new(7, size, dim).fill()
        for r in "AB":
            ids = numbers.sample(range(7), numbers.randint(1, 5))
            seq_len = (len(ids) - 1) * size + numbers.randint(1, size)
            script.request(r, seq_len).place(r, ids, seq_len).read(r)
        script.fill(2).read("A")
    return script.scenario(id)


def random_lifecycle(id: str) -> Scenario:
    """Several requests arrive, grow, are read, leave and make room for others, through many an OOM and its retry."""
    numbers, script = _numbers(id), Script()
    for size in (2, 3, 4):
        script.new(numbers.randint(4, 6), size, 2).fill(size)
        labels = iter("ABCDEFGHIJKLMNOP")
        for _ in range(7):
            requests = _run(script).requests
            alive = [r for r, request in requests.items() if request.table]
            waiting = [r for r, request in requests.items() if not request.table]
            event = numbers.choice("aadddrrx") if alive else "a"
            if event == "a" and waiting and numbers.random() < 0.6:
                script.prefill(waiting[0])
            elif event == "a":
                script.arrive(next(labels), numbers.randint(1, 2 * size))
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
