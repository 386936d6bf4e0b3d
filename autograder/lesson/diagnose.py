"""From what went wrong to where to look: one sentence, and the student's own line."""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from autograder.lesson.cases import FUNCTIONS
from autograder.lesson.reading import Misshapen
from autograder.lesson.speech import notebook, plural, say
from autograder.lesson.state import Snapshot
from autograder.lesson.story import Raised, Step, in_words


class Failure(NamedTuple):
    """The first wrong step of a case: what is right, what came, and the state around it."""

    question: str
    step: Step
    expected: object
    got: object
    before: Snapshot
    after: Snapshot


def function_of(question: str) -> Callable[..., Any] | None:
    """Return the function of a question as it is defined now."""
    if question == "q1":
        return notebook.names.get(FUNCTIONS[question])
    return getattr(notebook.names.get("KVCacheManager"), FUNCTIONS[question], None)


def line_of(question: str, *beginnings: str) -> str:
    """Return the line of the student's function that begins with the first of these that any line begins with."""
    try:
        lines, first = inspect.getsourcelines(function_of(question) or len)
    except (OSError, TypeError):
        return ""
    for beginning in beginnings:
        for number, line in enumerate(lines, max(first, 1)):
            if line.strip().startswith(beginning):
                return say(f"Look at line {number}: {line.strip()}", f"请看第 {number} 行：{line.strip()}")
    return ""


def advice(failure: Failure) -> str:
    """Return what the failure most likely comes from and the line to look at, or ""."""
    if isinstance(failure.got, Raised) and failure.got.kind not in ("OOM", "ValueError"):
        told, line = _exception(failure, failure.got), say("In ", "出错在") + failure.got.line
        line = line if failure.got.line else ""
    else:
        told, line = _BY_VERB.get(failure.step.verb, _nothing)(failure)
    return "\n".join(filter(None, (told, line)))


def _nothing(_: Failure) -> tuple[str, str]:
    return "", ""


def _exception(failure: Failure, raised: Raised) -> str:
    if raised.kind in ("UnboundLocalError", "NameError"):
        return say("A name is used that has no value here. Is a line still a comment, or `self.` or an import missing?",
                   "用到了一个没有值的名字。是不是某行还是注释，或者少了 `self.`、少了 import？")  # fmt: skip
    if "float" in raised.words or "slice indices" in raised.words:
        return say("A float got in; blocks are counted in integers, so use `//`, not `/`.",
                   "混进了浮点数；块数要用整数算，请用 `//`，不要用 `/`。")  # fmt: skip
    if "is not iterable" in raised.words:
        return say("allocated_blocks is a list of block numbers, not how many.",
                   "allocated_blocks 是一个块号的列表，不是块数。")  # fmt: skip
    if "expected Tensor" in raised.words:
        return say("blocks holds numbers; take each block's tensor out of self.physical_kv_cache.",
                   "blocks 里是块号；要从 self.physical_kv_cache 里取出每一块的张量。")  # fmt: skip
    if raised.kind == "AttributeError":
        return say("A request has request_id, seq_len and block_table; the manager's names stand in its class above.",
                   "请求有 request_id、seq_len 和 block_table；管理器的各个名字见上面的类。")  # fmt: skip
    if failure.expected == "OOM":
        return say('A full pool is told with RuntimeError("OOM").', '池满要用 RuntimeError("OOM") 来报告。')
    if "ellipsis" in raised.words:
        return say("A `...` is still where your expression goes.", "还有 `...` 没有换成你的表达式。")
    return ""


def _prefill(failure: Failure) -> tuple[str, str]:
    before, after, got = failure.before, failure.after, failure.got
    size = after.block_size
    count, choice = line_of("q2", "needed_blocks ="), line_of("q2", "allocated_blocks =")
    held = len(after.tables.get(failure.step.name, ((), 0))[0])
    if isinstance(got, Raised) and got.kind == "ValueError" and failure.expected != "ValueError":
        return say("allocated_blocks has to name different blocks that are still in the free list: only choose them, "
                   "the given lines below take them out.",
                   "allocated_blocks 里要写互不相同、而且还在空闲列表里的块：只选不取，下面给定的几行会把它们拿走。"), choice  # fmt: skip
    if isinstance(got, Raised) and failure.expected == "OOM":
        return say("Whether there is enough has to be known before the first block is taken.",
                   "拿走第一块之前，就要知道够不够。"), line_of("q2", "raise RuntimeError")  # fmt: skip
    if isinstance(failure.expected, tuple):
        tokens, wanted = failure.expected
        if isinstance(got, Raised):
            return say(f"{plural(tokens, 'token')} need {plural(wanted, 'block')} of {size}, and {len(before.free)} are "
                       "free: that is enough.",
                       f"{tokens} 个 token 需要 {wanted} 块（每块 {size} 个），空闲的有 {len(before.free)} 块：够用。"), count  # fmt: skip
        if isinstance(got, tuple) and got[0] != tokens:
            return say("Prefill leaves seq_len alone: the prompt's tokens are counted in it from the start.",
                       "prefill 不改 seq_len：prompt 的 token 一开始就算在里面了。"), line_of("q2", "req.seq_len")  # fmt: skip
        left = line_of("q2", "return")
        if held == 0 and left:
            return say("The function ends before the given lines below have run.",
                       "函数在执行下面给定的几行之前就结束了。"), left  # fmt: skip
        if held < wanted and tokens % size == 0:
            return say(f"Too few: {tokens} tokens need {plural(wanted, 'block')} of {size}, and as many are free.",
                       f"少了：{tokens} 个 token 需要 {wanted} 块（每块 {size} 个），空闲块也正好够。"), choice  # fmt: skip
        if held < wanted:
            return say(f"Too few: {plural(held, 'block')} of {size} hold {held * size} of {plural(tokens, 'token')}. "
                       "A part of a block is a block.",
                       f"少了：{held} 块（每块 {size} 个）只放得下 {tokens} 个 token 中的 {held * size} 个。"
                       "不满一块也要算一块。"), count  # fmt: skip
        if tokens % size == 0 and held == wanted + 1:
            return say(f"One too many: {tokens} tokens fill {wanted} blocks of {size} exactly.",
                       f"多了一块：{tokens} 个 token 正好装满 {wanted} 块（每块 {size} 个）。"), count  # fmt: skip
        if held > wanted:
            return say(f"Too many: {plural(wanted, 'block')} would do. Choose needed_blocks of them, not all.",
                       f"多了：只需要 {wanted} 块。请只选 needed_blocks 块，不要全选。"), choice  # fmt: skip
    if failure.expected == "OOM" and isinstance(got, tuple):
        return say(f"The prompt does not fit: {len(before.free)} blocks of {size} are free.",
                   f"这个 prompt 放不下：空闲的只有 {len(before.free)} 块，每块 {size} 个。"), count  # fmt: skip
    return "", ""


def _decode(failure: Failure) -> tuple[str, str]:
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
    if isinstance(got, tuple) and seq_len != old_len + 1:
        return say(f"One decode is one token: seq_len went from {old_len} to {seq_len}.",
                   f"一次 decode 就是一个 token：seq_len 却从 {old_len} 变成了 {seq_len}。"), length  # fmt: skip
    if table[: len(old_table)] != old_table:
        return "", line_of("q3", "req.block_table.insert", "req.block_table")
    if old_len < room:
        return say(f"{held}: no block is needed, and yet one was asked for.",
                   f"{held}：不需要新块，代码却去要了一块。"), boundary  # fmt: skip
    if len(table) == len(old_table):
        return say(f"{held}: all full, and yet no block was taken.", f"{held}：全满了，代码却没有取块。"), boundary
    return "", boundary


def _read(failure: Failure) -> tuple[str, str]:
    got, state = failure.got, failure.after
    table, seq_len = state.tables[failure.step.name]
    size = state.block_size
    pieces, joined = line_of("q4", "blocks", "cat_blocks"), line_of("q4", "cat_blocks")
    if isinstance(got, Misshapen):
        if len(got.shape) == 3:
            return say("The pieces lie on top of one another; they should follow one another, along the token dimension.",
                       "各段叠在了一起；应当沿 token 那一维首尾相接。"), joined  # fmt: skip
        if len(got.shape) == 2 and got.shape[0] > seq_len:
            return say("The tail was not cut off.", "尾部没有切掉。"), ""
        if len(got.shape) == 2 and got.shape[1] > 2:
            return say("The pieces were put side by side: rows got wider instead of more.",
                       "各段并排放了：行变宽了，行数没有变多。"), joined  # fmt: skip
        if len(got.shape) == 2:
            return say("Rows are missing.", "少了几行。"), pieces if got.shape[0] % size == 0 else joined
        return "", line_of("q4", "self.physical_kv_cache", "pool") or joined
    if not isinstance(got, list):
        return "", joined
    orders = {
        say("in the order of the block numbers", "按块号从小到大"): sorted(table),
        say("with the table read from its end", "从块表末尾往前"): list(reversed(table)),
        say("one after the other from the first block on", "从第一块起连着往后"): [
            table[0] + i for i in range(len(table))
        ],
    }
    for order, blocks in orders.items():
        if got == [block * size + place for block in blocks for place in range(size)][:seq_len] and blocks != list(
            table
        ):
            return say(f"These are the rows {order}. The table says {list(table)}.",
                       f"读出的是{order}的各行。块表写的是 {list(table)}。"), pieces  # fmt: skip
    if {row // size for row in got} <= set(table):
        return say("Rows of the right blocks, mixed: all rows of one block come before those of the next.",
                   "块是对的，行却混在了一起：一块的各行读完，才轮到下一块。"), joined  # fmt: skip
    return "", pieces


def _release(failure: Failure) -> tuple[str, str]:
    if failure.expected == "ValueError":
        return say(
            "Given code refuses a second release; has it been changed?", "给定代码会拒绝重复释放；是不是改动过它？"
        ), ""
    return "", ""


_BY_VERB: dict[str, Callable[[Failure], tuple[str, str]]] = {
    "prefill": _prefill,
    "decode": _decode,
    "read": _read,
    "release": _release,
}


def ledger_advice(sizes: dict[str, int], expected: tuple[int, ...], got: tuple[object, ...]) -> str:
    """Return which of the three numbers is the first wrong one, by what factor, and its line."""
    names = ("kv_bytes_per_token", "kv_bytes_per_block", "total_cache_bytes")
    for name, right, value in zip(names, expected, got, strict=True):
        if value == right and not isinstance(value, (float, bool)):
            continue
        if isinstance(value, float):
            told = say(f"{name} is a float; bytes are counted in integers.", f"{name} 是浮点数；字节数要用整数。")
        elif isinstance(value, int) and value > 0 and right % value == 0:
            told = say(
                f"{name} is too small by a factor of {right // value}.", f"{name} 只有应得的 1/{right // value}。"
            )
        elif isinstance(value, int) and value > 0 and value % right == 0:
            told = say(
                f"{name} is too large by a factor of {value // right}.", f"{name} 是应得的 {value // right} 倍。"
            )
        else:
            told = say(f"{name} is {in_words(value)}, not {right}.", f"{name} 是 {in_words(value)}，应为 {right}。")
        return "\n".join(filter(None, (told, line_of("q1", f"{name} ="))))
    return ""
