"""Stories with the outcome that a student expects, tried on right and wrong allocators before any code is written.

Stories are plain data, so the grader judges them with this very module, and runs no student's code for it.
"""

from typing import NamedTuple

from autograder.lesson.black_boxes import Box, mistakes, right_boxes
from autograder.lesson.speech import emit, say
from autograder.lesson.state import Snapshot
from autograder.lesson.story import StoryError, in_words, read_step, refuse_nonsense

Example = tuple[int, int, list[tuple[str, object]]]  # num_blocks, block_size, (step, what is right) ...
LARGEST, MOST_STORIES = 1000, 40


class Judged(NamedTuple):
    """What became of stories: what is wrong with some, how many are right, which mistakes those catch."""

    problems: list[str]
    valid: int
    caught: list[str]


def examples(*stories: Example) -> None:
    """Say whether each story is right, and how many of the wrong allocators all stories together catch.

    A story is ``(4, 3, [("A prefill 7", (7, 3)), ("B prefill 4", "OOM")])``: blocks, their size, and for each step the
    tokens and blocks of its request afterwards, or "OOM" or "ValueError". Any number of steps may be left out with None.
    """
    judged, words = judge(stories), mistakes()
    for problem in judged.problems:
        emit(problem)
    emit(say(f"Valid: {judged.valid} of {len(stories)} stories. "
             f"Caught: {len(judged.caught)} of {len(words)} wrong allocators.",
             f"正确的故事：{len(stories)} 个中的 {judged.valid} 个。"
             f"抓住的错误分配器：{len(words)} 个中的 {len(judged.caught)} 个。"))  # fmt: skip
    for name in judged.caught:
        emit(say("  caught one that ", "  抓住一个：") + words[name])


def judge(stories: tuple[Example, ...]) -> Judged:
    """Try the stories on right allocators, and those that are right on wrong ones; anything may stand in a story."""
    problems, valid = [], []
    for number, story in enumerate(stories[:MOST_STORIES], 1):
        try:
            wrong = [told for make in right_boxes() if (told := first_difference(make(*_size(story)), story))]
        except (StoryError, TypeError, ValueError, KeyError, IndexError) as error:
            form = '(4, 3, [("A prefill 7", (7, 3)), ("B prefill 4", "OOM")])'
            told = say(f"it is written like {form}.", f"要写成 {form} 这样。")
            if isinstance(error, StoryError):
                told = str(error)
            problems.append(say(f"Story {number} cannot be read: {told}", f"第 {number} 个故事看不懂：{told}"))
            continue
        if wrong:
            problems.append(say(f"✗ Story {number} is not what a right allocator does: {wrong[0]}",
                                f"✗ 第 {number} 个故事与正确的分配器不符：{wrong[0]}"))  # fmt: skip
        else:
            valid.append(story)
    caught = [name for name in mistakes() if any(first_difference(Box(*s[:2], name), s) for s in valid)]
    return Judged(problems, len(valid), caught)


def _size(story: Example) -> tuple[int, int]:
    num_blocks, block_size, steps = story
    sizes = [num_blocks, block_size, *(number for text, _ in steps for number in read_step(text).numbers)]
    if not all(type(size) is int and size <= LARGEST for size in sizes) or num_blocks < 1 or block_size < 1:
        raise StoryError(say(f"the sizes are integers from 1 to {LARGEST}.", f"大小要写成 1 到 {LARGEST} 的整数。"))
    if len(steps) > MOST_STORIES:
        raise StoryError(say(f"{MOST_STORIES} steps are enough.", f"{MOST_STORIES} 步足够了。"))
    return num_blocks, block_size


def first_difference(box: Box, story: Example) -> str:
    """Return the first step at which the box does something else than the story says, in words, or ""."""
    for text, expected in story[2]:
        step = read_step(text)
        if step.verb not in ("hold", "prefill", "decode", "release"):
            raise StoryError(say(f"{text!r}: examples may hold, prefill, decode and release.",
                                 f"{text!r}：例子里可以用 hold、prefill、decode、release。"))  # fmt: skip
        tables = {name: (tuple(blocks), box.tokens[name]) for name, blocks in box.held.items()}
        refuse_nonsense(Snapshot(box.num_blocks, box.block_size, tuple(box.free), tables), step, text)
        if step.verb == "decode" and step.numbers:
            raise StoryError(
                say(f"{text!r}: write each decode as a step of its own.", f"{text!r}：每次 decode 单独写一步。")
            )
        got = box.tell(step)
        if expected is not None and got != expected:
            return f"{text} → {in_words(got)}, {say('not', '不是')} {in_words(expected)}"
    return ""
