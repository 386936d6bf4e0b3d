"""From a wrong number of the ledger to its factor and its line."""

from autograder.lesson.speech import say
from autograder.lesson.state import whole
from autograder.lesson.where import line_of


def ledger_advice(expected: tuple[int, ...], got: tuple[object, ...]) -> str:
    """Return which of the three numbers is the first wrong one, by what factor, and its line."""
    names = ("kv_bytes_per_token", "kv_bytes_per_block", "total_cache_bytes")
    for name, right, value in zip(names, expected, got, strict=True):
        number = whole(value)
        if number == right:
            continue
        if number < 0:
            told = say(f"{name} is {value!r}, a {type(value).__name__}; bytes are counted in integers.",
                       f"{name} 是 {value!r}（{type(value).__name__}）；字节数要用整数。")  # fmt: skip
        elif number and right % number == 0:
            told = say(f"{name} is too small by a factor of {right // number}.",
                       f"{name} 只有应得的 1/{right // number}。")  # fmt: skip
        elif number and number % right == 0:
            told = say(f"{name} is too large by a factor of {number // right}.",
                       f"{name} 是应得的 {number // right} 倍。")  # fmt: skip
        else:
            told = say(f"{name} is {number}, not {right}.", f"{name} 是 {number}，应为 {right}。")
        return "\n".join(filter(None, (told, line_of("q1", f"{name} ="))))
    return ""
