"""Stories with the outcome that a student expects, tried on right and wrong allocators before any code is written."""

from autograder.lesson.black_boxes import Box, mistakes, right_boxes
from autograder.lesson.speech import emit, say
from autograder.lesson.state import Snapshot
from autograder.lesson.story import StoryError, in_words, read_step, refuse_nonsense

Example = tuple[int, int, list[tuple[str, object]]]  # num_blocks, block_size, (step, what is right) ...


def examples(*stories: Example) -> None:
    """Say whether each story is right, and how many of the wrong allocators all stories together catch.

    A story is ``(4, 3, [("A prefill 7", (7, 3)), ("B prefill 4", "OOM")])``: blocks, their size, and for each step the
    tokens and blocks of its request afterwards, or "OOM" or "ValueError". Any number of steps may be left out with None.
    """
    valid = []
    for number, story in enumerate(stories, 1):
        try:
            wrong = [told for make in right_boxes() if (told := first_difference(make(*story[:2]), story))]
        except (StoryError, TypeError, ValueError, KeyError, IndexError) as error:
            emit(say(f"Story {number} cannot be read: {error}", f"第 {number} 个故事看不懂：{error}"))
            continue
        if wrong:
            emit(say(f"✗ Story {number} is not what a right allocator does: {wrong[0]}",
                     f"✗ 第 {number} 个故事与正确的分配器不符：{wrong[0]}"))  # fmt: skip
        else:
            valid.append(story)
    words = mistakes()
    caught = [name for name in words if any(first_difference(Box(*story[:2], name), story) for story in valid)]
    emit(say(f"Valid: {len(valid)} of {len(stories)} stories. Caught: {len(caught)} of {len(words)} wrong allocators.",
             f"正确的故事：{len(stories)} 个中的 {len(valid)} 个。抓住的错误分配器：{len(words)} 个中的 {len(caught)} 个。"))  # fmt: skip
    for name in caught:
        emit(say("  caught one that ", "  抓住一个：") + words[name])


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
