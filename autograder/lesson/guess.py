"""Predictions: typed into the notebook, answered by the student's own code once it is right, never graded."""

import html
from collections.abc import Callable
from typing import Any

from autograder.lesson.cases import FUNCTIONS
from autograder.lesson.check import public_check
from autograder.lesson.play import new_manager
from autograder.lesson.speech import Figure, emit, notebook, say
from autograder.lesson.story import Requests, attempt, in_words, introduce, perform, read_step
from autograder.lesson.waste import shares

typed: dict[str, dict[str, Any]] = {}


def guess(question: str, **guesses: Any) -> None:
    """Keep your guesses; your own code answers them as soon as it can."""
    known = ANSWERS.get(question)
    if known is None or set(guesses) != set(known):
        choices = "; ".join(f"{q}: {', '.join(names)}" for q, names in ANSWERS.items())
        emit(say(f"The predictions are {choices}.", f"可以预测的有 {choices}。"))
        return
    typed[question] = guesses
    if any(has_blank(value) for value in guesses.values()):
        emit(say("Write your guess over the `...` and run this cell again.", "把 `...` 换成你的猜测，再运行一次。"))
        return
    emit(answers(question) or say("Kept. Your own code will answer this once it passes its check.",
                                  "记下了。等你的代码通过检查，由它来回答。"))  # fmt: skip


def answers(question: str) -> Figure | None:
    """Return the guesses beside what the student's code says; None where nothing was guessed or a check fails."""
    if question not in typed or any(has_blank(value) for value in typed[question].values()):
        return None
    if question in FUNCTIONS and public_check(question).status != "passed":
        return None
    asked = [(name, mine, ANSWERS[question][name]()) for name, mine in typed[question].items()]
    rows = [(name, mine, answer, same(mine, answer)) for name, mine, answer in asked]
    mine_is = say("your prediction", "你的猜测")
    yours_is = say("your code", "你的代码") if question in FUNCTIONS else say("measured", "实际")
    lines, markup = [], ""
    for name, mine, answer, right in rows:
        mark = "=" if right else "≠"
        lines.append(f"{mark} {name}: {mine_is} {mine}, {yours_is} {answer}")
        both = f"{mine_is}: <b>{html.escape(str(mine))}</b> · {yours_is}: <b>{html.escape(str(answer))}</b>"
        markup += f"<div>{mark} <code>{html.escape(name)}</code><br>{both}</div>"
    return Figure("\n".join(lines), f'<div style="overflow-wrap:anywhere">{markup}</div>')


def has_blank(value: Any) -> bool:
    """Whether a guess, or a part of it, is still ``...``."""
    return value is ... or (isinstance(value, (list, tuple)) and any(map(has_blank, value)))


def same(mine: Any, answer: Any) -> bool:
    """Whether a guess is right; percentages may be a little off, a list may be a tuple."""
    if isinstance(answer, float) and isinstance(mine, (int, float)):
        return abs(mine - answer) <= 1
    if isinstance(answer, list) and isinstance(mine, (list, tuple)):
        return [*mine] == answer
    if isinstance(answer, str):
        return str(mine).strip().lower() == answer.lower()
    return bool(mine == answer)


def _ledger(key: str) -> Callable[[], Any]:
    return lambda: notebook.names["estimate_kv_cache_bytes"](1, 4, 2, 3, 5)[key]


def _prefilled(*lengths: int) -> list[Any]:
    """Return what each prompt gets in a pool of its own: the number of blocks."""
    return [_last(5, 4, f"A prefill {length}")[1] for length in lengths]


def _last(num_blocks: int, block_size: int, *steps: str) -> Any:
    manager, requests, outcome = new_manager(num_blocks, block_size, 1), Requests(), None
    for text in steps:
        outcome = attempt(manager, requests, read_step(text))
    return outcome


def _grows(block_size: int, hold: str) -> list[int]:
    """Return which of five decodes make the table longer."""
    manager, requests = new_manager(16, block_size, 1), Requests()
    introduce(requests, read_step(hold))
    held: Any = perform(manager, requests, read_step(hold))
    grown = []
    for number in range(1, 6):
        now: Any = perform(manager, requests, read_step("A decode"))
        if now[1] > held[1]:
            grown.append(number)
        held = now
    return grown


ANSWERS: dict[str, dict[str, Callable[[], Any]]] = {
    "step 1": {
        "contiguous_percent": lambda: round(100 * shares([37, 512, 130, 1900, 64], 2048, 16)[0], 1),
        "paged_percent": lambda: round(100 * shares([37, 512, 130, 1900, 64], 2048, 16)[1], 1),
    },
    "q1": {"bytes_per_token": _ledger("kv_bytes_per_token"), "bytes_per_block_of_4": _ledger("kv_bytes_per_block")},
    "q2": {
        "blocks_for_1_4_5_8_tokens": lambda: _prefilled(1, 4, 5, 8),
        "third_request": lambda: in_words(_last(5, 4, "A prefill 5", "B prefill 5", "C prefill 5")),
    },
    "q3": {
        "decodes_that_take_a_block": lambda: _grows(4, "A hold 4 2"),
        "same_in_blocks_of_1": lambda: _grows(1, "A hold 4 3 2 1 0"),
    },
    "q4": {"rows": lambda: _last(5, 3, "A hold 7 4 1 2", "A read")},
}
