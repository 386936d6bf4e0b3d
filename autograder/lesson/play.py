"""``play``: a story of the student's own, drawn step by step, with what their code made of it."""

import builtins
from typing import Any

from autograder.lesson.cases import FUNCTIONS, HEAD_DIM
from autograder.lesson.diagram import diagram
from autograder.lesson.pool import frame
from autograder.lesson.speech import Figure, emit, notebook, say
from autograder.lesson.state import broken_invariants, snapshot, whole
from autograder.lesson.stepper import stepper
from autograder.lesson.story import (
    Raised,
    Requests,
    Step,
    StoryError,
    as_outcome,
    attempt,
    in_words,
    is_open_todo,
    look,
    now_alive,
    read_step,
    refuse_nonsense,
)

TODO_CELLS = {name: f"TODO {question[1:]}" for question, name in FUNCTIONS.items()}
CLASSES = ("KVCacheManager", "Request")


def play(num_blocks: int, block_size: int, *steps: str) -> None:
    """Start with an empty pool, carry out the steps with your code, and draw the pool after each.

    A request is a capital letter. Steps: "A prefill 6" (a new request with 6 tokens; without the number, A once more),
    "A decode" or "A decode 3", "A release", "A read", "A find 5" (the way of token 5), and "A hold 6 3 1", which puts
    6 tokens of A into blocks 3 and 1 by hand.
    """
    try:
        emit(told(num_blocks, block_size, steps))
    except StoryError as error:
        emit(say("play cannot go on. ", "play 演不下去：") + str(error))


def told(num_blocks: int, block_size: int, steps: tuple[str, ...]) -> Figure:
    """Return the story as a stepper; raise StoryError where it is none."""
    if not (0 < whole(num_blocks) <= 64 and 0 < whole(block_size) <= 64):
        raise StoryError(say("Begin with the number of blocks and their size, each from 1 to 64: play(5, 4, ...).",
                             "开头要写块数和每块大小，都在 1 到 64 之间：play(5, 4, ...)。"))  # fmt: skip
    if not steps:
        raise StoryError(say('Add steps: play(5, 4, "A prefill 6").', '请写上步骤：play(5, 4, "A prefill 6")。'))
    manager = new_manager(num_blocks, block_size, HEAD_DIM)
    requests, live = Requests(), frozenset[str]()
    captions: list[str] = []
    frames: list[Figure] = []
    before = look(manager, requests, live)
    for text, step in unrolled(steps):
        refuse_nonsense(before, step, text)
        if step.verb == "find":
            captions.append(text)
            frames.append(diagram(before, step.name, step.numbers[0]))
            continue
        try:
            outcome = attempt(manager, requests, step)
        except NotImplementedError as error:
            captions.append(say(f"{text}: waiting for {error}", f"{text}：要等 {error} 完成"))
            frames.append(frame(captions[-1], before))
            break
        live = now_alive(live, step, outcome)
        after = look(manager, requests, live)
        captions.append(text if isinstance(outcome, tuple) and not is_outcome(outcome) else f"{text} → {said(outcome)}")
        frames.append(frame(captions[-1], after, before))
        before = after
    return stepper(captions, frames)


def is_outcome(outcome: object) -> bool:
    """Tell an outcome that a caption has to name from the plain (tokens, blocks), which the picture shows."""
    return hasattr(outcome, "words")


def said(outcome: object) -> str:
    """Return an outcome in words, with the line it came from and what to do about a missing method."""
    if not isinstance(outcome, Raised):
        return in_words(outcome)
    if outcome.kind in ("AttributeError", "NameError"):
        for name, cell in TODO_CELLS.items():
            if f"'{name}'" in outcome.words:
                return say(f"run the cell of {cell} (again): {name} is not there now",
                           f"请（重新）运行 {cell} 的单元格：现在没有 {name}")  # fmt: skip
    if outcome.kind == "NameError" and any(f"'{name}'" in outcome.words for name in CLASSES):
        return run_the_classes()
    return f"{outcome.words} ({outcome.line})" if outcome.line else outcome.words


def unrolled(steps: tuple[str, ...]) -> list[tuple[str, Step]]:
    """Return the steps as written and as read, "A decode 3" as three of them."""
    pairs: list[tuple[str, Step]] = []
    for text in steps:
        step = read_step(text)
        if step.verb == "decode" and step.numbers and 1 <= step.numbers[0] <= 100:
            pairs += [(f"{step.name} decode", Step(step.name, "decode", ()))] * step.numbers[0]
        else:
            pairs.append((text, step))
    return pairs


def run_the_classes() -> str:
    """Return what to do where the two given classes are not there."""
    return say("Run the cell with the two given classes (Step 4) first.", "请先运行 Step 4 里定义两个类的单元格。")


def new_manager(num_blocks: int, block_size: int, head_dim: int, **options: Any) -> Any:
    """Return a pool of the student's own class; say which cell to run where it is not there."""
    make = notebook.names.get("KVCacheManager")
    if not (isinstance(make, type) and isinstance(notebook.names.get("Request"), type)):
        raise StoryError(run_the_classes())
    for name, value in notebook.names.items():
        if name[0] != "_" and callable(getattr(builtins, name, None)) and not callable(value):
            raise StoryError(say(f"A cell has given Python's own name {name!r} to something else: run `del {name}` in a new cell.",
                                 f"有个单元格把 Python 自带的名字 {name!r} 用作了别的：请新建单元格运行 `del {name}`。"))  # fmt: skip
    return make(num_blocks, block_size, head_dim, **options)


def play_line(num_blocks: int, block_size: int, steps: list[str]) -> str:
    """Return the line that plays a story, ready to paste."""
    return f"play({', '.join([str(num_blocks), str(block_size), *(chr(34) + step + chr(34) for step in steps)])})"


def invariants(manager: Any, requests: list[Any]) -> list[str]:
    """Return the broken rules in words; an empty list means that all hold."""
    try:
        return broken_invariants(snapshot(manager, name_requests(requests)))
    except (AttributeError, TypeError):
        return [take_a_pool_and_a_list()]


def show(manager: Any, requests: list[Any], caption: str = "") -> None:
    """Draw the pool: who holds which block, which slots are used, wasted, free or lost."""
    try:
        emit(frame(caption, snapshot(manager, name_requests(requests))))
    except (AttributeError, TypeError):
        emit(take_a_pool_and_a_list())


def take_a_pool_and_a_list() -> str:
    """Return how show and invariants are called."""
    return say("show and invariants take a manager and a list of requests: show(manager, [first, second]).",
               "show 和 invariants 要一个管理器和一个请求列表：show(manager, [first, second])。")  # fmt: skip


def name_requests(requests: list[Any]) -> dict[str, Any]:
    """Call the requests A, B, C... in the order given."""
    return {chr(65 + i): req for i, req in enumerate(requests)}


def when_ready(demonstration: Any) -> None:
    """Run the function below at once, or say which TODO it is waiting for."""
    try:
        demonstration()
    except StoryError as error:
        emit(str(error))
    except Exception as error:
        if is_open_todo(error):
            emit(say(f"Waiting for {error}.", f"要等 {error} 完成。"))
        else:
            told = said(as_outcome(error)).rstrip(".。")
            emit(say(f"This stopped: {told}. Does the check above pass?", f"这里停下了：{told}。上面的检查通过了吗？"))
