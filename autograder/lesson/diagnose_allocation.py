"""From a wrong prefill or decode to where to look."""

from autograder.lesson.speech import plural, say
from autograder.lesson.state import whole
from autograder.lesson.story import Raised
from autograder.lesson.where import Failure, line_of

GUARD = ("if len(self.free_blocks)", "if not self.free_blocks", "raise RuntimeError", "raise")


def prefill_advice(failure: Failure) -> tuple[str, str]:
    """Return one sentence and one line for a prefill that went wrong."""
    before, got, size = failure.before, failure.got, failure.after.block_size
    count, choice = line_of("q2", "needed_blocks ="), line_of("q2", "allocated_blocks =")
    seq_len = failure.after.tables[failure.step.name][1]
    tokens = failure.step.numbers[0] if failure.step.numbers else seq_len
    wanted = len({token // size for token in range(tokens)})
    miscounted = "needed_blocks" in failure.values and whole(failure.values["needed_blocks"]) != wanted
    blamed = count if miscounted else choice
    if isinstance(got, str):
        return say("Block numbers are Python integers.", "块号是 Python 整数。"), choice
    if isinstance(got, Raised):
        if got.kind == "ValueError" and failure.expected != "ValueError":
            chosen = failure.values.get("allocated_blocks")
            sound = isinstance(chosen, list) and len(set(chosen)) == len(chosen) and set(chosen) <= set(before.free)
            taken = line_of("q2", "del self.free_blocks", "self.free_blocks =") if sound else ""
            return say("allocated_blocks has to name different blocks that are still in the free list: only choose "
                       "them, the given lines below take them out.",
                       "allocated_blocks 里要写互不相同、而且还在空闲列表里的块：只选不取，下面给定的几行会把它们拿走。"), taken or choice  # fmt: skip
        if failure.expected == "OOM":
            return say("Whether there is enough has to be known before the first block is taken.",
                       "拿走第一块之前，就要知道够不够。"), line_of("q2", "raise RuntimeError")  # fmt: skip
        return say(f"{plural(tokens, 'token')} need {plural(wanted, 'block')} of {size}, and {len(before.free)} are "
                   "free: that is enough.",
                   f"{tokens} 个 token 需要 {wanted} 块（每块 {size} 个），空闲的有 {len(before.free)} 块：够用。"
                   ), count if miscounted else line_of("q2", *GUARD)  # fmt: skip
    if failure.expected == "OOM":
        return say(f"The prompt does not fit, since {len(before.free)} blocks of {size} are free: an OOM has to be raised.",
                   f"这个 prompt 放不下，因为空闲的只有 {len(before.free)} 块，每块 {size} 个：要抛出 OOM。"
                   ), count if miscounted else line_of("q2", *GUARD)  # fmt: skip
    if seq_len != tokens:
        return say("Prefill leaves seq_len alone: the prompt's tokens are counted in it from the start.",
                   "prefill 不改 seq_len：prompt 的 token 一开始就算在里面了。"), line_of("q2", "req.seq_len")  # fmt: skip
    return _wrong_number(failure, tokens, wanted, blamed)


def _wrong_number(failure: Failure, tokens: int, wanted: int, blamed: str) -> tuple[str, str]:
    """Say why a request that got room holds too few blocks, or too many."""
    size, held = failure.after.block_size, len(failure.after.tables[failure.step.name][0])
    chosen, left = failure.values.get("allocated_blocks"), line_of("q2", "return")
    needed = whole(failure.values.get("needed_blocks"))
    if held == 0 and left:
        return say("The function ends before the given lines below have run.",
                   "函数在执行下面给定的几行之前就结束了。"), left  # fmt: skip
    if isinstance(chosen, list) and held > len(chosen) == wanted:
        return say("The given lines put allocated_blocks into the table; nothing else may.",
                   "allocated_blocks 由给定的几行放进块表，别处不要再放。"), line_of("q2", "req.block_table")  # fmt: skip
    if isinstance(chosen, list) and held == len(chosen) != needed == wanted:
        return say(f"needed_blocks is right, but allocated_blocks has {len(chosen)}.",
                   f"needed_blocks 是对的，allocated_blocks 里却有 {len(chosen)} 个。"), blamed  # fmt: skip
    if held < wanted and tokens % size == 0:
        return say(f"Too few: {tokens} tokens need {plural(wanted, 'block')} of {size}, and as many are free.",
                   f"少了：{tokens} 个 token 需要 {wanted} 块（每块 {size} 个），空闲块也正好够。"), blamed  # fmt: skip
    if held < wanted:
        return say(f"Too few: {plural(held, 'block')} of {size} hold {held * size} of {plural(tokens, 'token')}. "
                   "A part of a block is a block.",
                   f"少了：{held} 块（每块 {size} 个）只放得下 {tokens} 个 token 中的 {held * size} 个。"
                   "不满一块也要算一块。"), blamed  # fmt: skip
    if tokens % size == 0 and held == wanted + 1:
        return say(f"One too many: {tokens} tokens fill {wanted} blocks of {size} exactly.",
                   f"多了一块：{tokens} 个 token 正好装满 {wanted} 块（每块 {size} 个）。"), blamed  # fmt: skip
    if held > wanted:
        return say(f"Too many: {plural(wanted, 'block')} of {size} would do for {plural(tokens, 'token')}.",
                   f"多了：{tokens} 个 token 只需要 {wanted} 块（每块 {size} 个）。"), blamed  # fmt: skip
    return "", blamed


def decode_advice(failure: Failure) -> tuple[str, str]:
    """Return one sentence and one line for a decode that went wrong."""
    before, after, got, name = failure.before, failure.after, failure.got, failure.step.name
    (old_table, old_len), (table, seq_len) = before.tables[name], after.tables[name]
    room = len(old_table) * after.block_size
    length = line_of("q3", "req.seq_len +=", "new_seq_len =")
    boundary = line_of("q3", "is_new_block_needed")
    held = say(f"Before the call {name} had {plural(old_len, 'token')} in room for {room}",
               f"调用之前 {name} 有 {old_len} 个 token，手里的块放得下 {room} 个")  # fmt: skip
    if failure.expected == "OOM" and isinstance(got, Raised):
        return say("Nobody may notice a refused call: change things only after the check for OOM.",
                   "被拒绝的调用不能留下痕迹：确认不会 OOM 之后再改动。"), line_of("q3", "req.seq_len")  # fmt: skip
    if isinstance(got, str):
        return say("Use integers only.", "只能用整数。"), length
    if failure.expected == "OOM" and failure.values.get("is_new_block_needed") is True:
        return say(f"{held}, and no block is free: an OOM has to be raised.",
                   f"{held}，而且没有空闲块：要抛出 OOM。"), line_of("q3", *GUARD)  # fmt: skip
    if isinstance(got, tuple) and seq_len != old_len + 1:
        return say(f"One decode is one token: seq_len was {old_len} and is {seq_len} now.",
                   f"一次 decode 就是一个 token：seq_len 原来是 {old_len}，现在是 {seq_len}。"), length  # fmt: skip
    if table[: len(old_table)] != old_table:
        return "", line_of("q3", "req.block_table.insert", "req.block_table")
    if len(table) > len(old_table) + 1:
        return say("One decode takes at most one block, and the given lines take it.",
                   "一次 decode 最多取一块，而且由给定的几行来取。"), line_of("q3", "req.block_table")  # fmt: skip
    if old_len < room:
        return say(f"{held}: no block is needed, and yet one was asked for.",
                   f"{held}：不需要新块，代码却去要了一块。"), boundary  # fmt: skip
    if len(table) == len(old_table):
        return say(f"{held}: all full, and yet no block was taken.", f"{held}：全满了，代码却没有取块。"), boundary
    return "", boundary
