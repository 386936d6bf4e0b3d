"""Stories: what happens to a pool, one line per step, carried out by the student's own code."""

import _thread
import difflib
import re
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from autograder.lesson.reading import Misshapen, number_pool, what_was_read
from autograder.lesson.speech import notebook, plural, say
from autograder.lesson.state import Snapshot, snapshot, whole

Requests = dict[str, Any]
PATIENCE = 3.0  # seconds for one step, which needs a millisecond
VERBS = {  # verb -> how many numbers it takes (at least, at most), and its form
    "prefill": (0, 1, "A prefill 6"),
    "decode": (0, 1, "A decode"),
    "release": (0, 0, "A release"),
    "read": (0, 0, "A read"),
    "hold": (2, 10_000, "A hold 6 3 1"),
    "find": (1, 1, "A find 5"),
}


class StoryError(ValueError):
    """A step that says nothing the lesson understands; the text is one sentence."""


class Step(NamedTuple):
    """One step: who, what, and the numbers behind it."""

    name: str
    verb: str
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Raised:
    """A call that ended in an exception: its kind ("OOM" for an out-of-memory), its words, the line it came from."""

    kind: str
    words: str
    line: str = ""


def read_step(text: object) -> Step:
    """Return the step a line such as "A prefill 6" means, or raise StoryError."""
    words = text.split() if isinstance(text, str) else []
    if len(words) < 2:
        raise StoryError(say(f"{text!r} is no step; a step looks like \"A prefill 6\".",
                             f"看不懂 {text!r}；一步要写成 \"A prefill 6\" 这样。"))  # fmt: skip
    name, verb, *numbers = words
    if not re.fullmatch("[A-Z]", name):
        raise StoryError(say(f"{text!r}: a request is called by one capital letter, not {name!r}.",
                             f"{text!r}：请求的名字是一个大写字母，不能是 {name!r}。"))  # fmt: skip
    if verb not in VERBS:
        known, close = ", ".join(VERBS), difflib.get_close_matches(verb, VERBS, 1)
        meant = say(f" Did you mean {close[0]!r}?", f"是不是想写 {close[0]!r}？") if close else ""
        raise StoryError(say(f"{text!r}: there is no verb {verb!r}; there are {known}.",
                             f"{text!r}：没有 {verb!r} 这个动作；可用的有 {known}。") + meant)  # fmt: skip
    least, most, form = VERBS[verb]
    if not least <= len(numbers) <= most or not all(re.fullmatch(r"-?\d{1,6}", number) for number in numbers):
        raise StoryError(say(f"{text!r}: {verb!r} is written like \"{form}\".",
                             f"{text!r}：{verb!r} 要写成 \"{form}\" 这样。"))  # fmt: skip
    return Step(name, verb, tuple(map(int, numbers)))


def refuse_nonsense(state: Snapshot, step: Step, text: str) -> None:
    """Raise StoryError for a step that this story cannot contain, whatever the student's code does."""
    new = step.verb == "hold" or (step.verb == "prefill" and step.numbers)
    if new and step.name in state.tables:
        raise StoryError(say(f"{text!r}: {step.name} is there already; give a new request another letter.",
                             f"{text!r}：{step.name} 已经有了；新请求请换一个字母。"))  # fmt: skip
    if not new and step.name not in state.tables:
        raise StoryError(say(f"{text!r}: there is no {step.name} yet; begin with \"{step.name} prefill 6\".",
                             f"{text!r}：还没有 {step.name}；请先写 \"{step.name} prefill 6\"。"))  # fmt: skip
    if step.verb == "decode" and step.numbers and not 1 <= step.numbers[0] <= 100:
        raise StoryError(say(f"{text!r}: the number says how often, 1 to 100 times.",
                             f"{text!r}：数字表示做几次，从 1 到 100。"))  # fmt: skip
    if step.verb == "hold":
        tokens, *blocks = step.numbers
        needed = len({token // state.block_size for token in range(max(tokens, 0))})
        if tokens < 1 or needed != len(blocks) or len(set(blocks)) < len(blocks) or set(blocks) - set(state.free):
            raise StoryError(say(f"{text!r}: name tokens, then as many different free blocks as they fill.",
                                 f"{text!r}：先写 token 数，再写恰好放得下它们的块号；块要空闲，也不能重复。"))  # fmt: skip


def introduce(requests: Requests, step: Step) -> None:
    """Make the request that a step is about, where it is new."""
    if step.verb in ("prefill", "hold") and step.numbers:
        requests[step.name] = notebook.names["Request"](len(requests), step.numbers[0])


def perform(manager: Any, requests: Requests, step: Step) -> object:
    """Carry out one step; return (tokens, blocks) of the request, or the rows that were read."""
    req = requests[step.name]
    if step.verb == "hold":
        req.block_table = list(step.numbers[1:])
        for block in req.block_table:
            manager.free_blocks.remove(block)
    elif step.verb == "prefill":
        manager.allocate_for_prefill(req)
    elif step.verb == "decode":
        manager.allocate_for_decode(req)
    elif step.verb == "release":
        manager.release_request(req)
    elif step.verb == "read":
        numbered = number_pool(manager)
        return what_was_read(manager, req, manager.get_physical_cache(req), numbered)
    if whole(req.seq_len) < 0:
        return say(f"seq_len is {req.seq_len!r}, not an integer", f"seq_len 是 {req.seq_len!r}，不是整数")
    if -1 in map(whole, req.block_table):
        return say(f"the table is {req.block_table!r}, not integers", f"块表是 {req.block_table!r}，不全是整数")
    return whole(req.seq_len), len(req.block_table)


def is_open_todo(error: BaseException) -> bool:
    """Tell a TODO's own raise line from a NotImplementedError of PyTorch."""
    return isinstance(error, NotImplementedError) and str(error).startswith(("TODO", "Stretch"))


def attempt(manager: Any, requests: Requests, step: Step) -> object:
    """Carry out one step; an OOM and any other exception are outcomes too, an open TODO is not."""
    try:
        with interrupted_after(PATIENCE):
            introduce(requests, step)
            return perform(manager, requests, step)
    except (Exception, KeyboardInterrupt) as error:
        if is_open_todo(error):
            raise
        return as_outcome(error)


@contextmanager
def interrupted_after(seconds: float) -> Iterator[None]:
    """Interrupt a loop that never ends, as the stop button would."""
    timer = threading.Timer(seconds, _thread.interrupt_main)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def as_outcome(error: BaseException) -> Raised:
    """Return an exception as an outcome, with the student's line it came from."""
    if isinstance(error, KeyboardInterrupt):
        endless = say("stopped: the call was still running", "已中断：调用一直没有结束")
        return Raised("Endless", endless, guilty_line(error))
    if isinstance(error, RuntimeError) and not isinstance(error, NotImplementedError) and "OOM" in str(error):
        return Raised("OOM", "OOM")
    return Raised(type(error).__name__, f"{type(error).__name__}: {error}", guilty_line(error))


def guilty_line(error: BaseException) -> str:
    """Return the line of the notebook's own code that an exception came from, and who called it, or ""."""
    frames = list(traceback.walk_tb(error.__traceback__))
    own = [i for i, (frame, _) in enumerate(frames) if frame.f_globals is notebook.names]
    if not own:
        return ""
    lines = traceback.extract_tb(error.__traceback__)
    first, last = lines[own[0]], lines[own[-1]]
    once = first.name == last.name or first.lineno == last.lineno  # a list comprehension is a call of its own
    ways = [first] if isinstance(error, RecursionError) else [last] if once else [first, last]
    return " → ".join(say(f"line {way.lineno}: {way.line}", f"第 {way.lineno} 行：{way.line}") for way in ways)


def in_words(outcome: object) -> str:
    """Return an outcome as a student reads it."""
    if isinstance(outcome, Misshapen):
        return outcome.words
    if isinstance(outcome, Raised):
        return outcome.words
    if isinstance(outcome, tuple):
        tokens, blocks = outcome
        return say(f"{plural(tokens, 'token')} in {plural(blocks, 'block')}", f"{tokens} 个 token，{blocks} 个块")
    if isinstance(outcome, list):
        return say(f"pool rows {outcome}", f"池中的行 {outcome}")
    return str(outcome)


def now_alive(live: frozenset[str], step: Step, outcome: object) -> frozenset[str]:
    """Return who has been given room, after a step with this outcome."""
    if isinstance(outcome, (Raised, str)):
        return live
    return live - {step.name} if step.verb == "release" else live | {step.name}


def look(manager: Any, requests: Requests, live: frozenset[str]) -> Snapshot:
    """Return the state of the story now."""
    return snapshot(manager, requests, live)
