"""From a wrong read to where to look."""

from autograder.lesson.cases import HEAD_DIM
from autograder.lesson.reading import Misshapen
from autograder.lesson.speech import say
from autograder.lesson.where import Failure, changing_line, line_of


def read_advice(failure: Failure) -> tuple[str, str]:
    """Return one sentence and one line for a read that brought back something else."""
    got, state = failure.got, failure.after
    pieces, joined = line_of("q4", "blocks", "cat_blocks"), line_of("q4", "cat_blocks")
    if failure.after != failure.before:
        return "", changing_line("q4") or joined
    if isinstance(got, Misshapen):
        return _misshapen(got, failure, pieces, joined)
    if not isinstance(got, list):
        return "", joined
    table, size = list(state.tables[failure.step.name][0]), state.block_size
    orders = {
        say("in the order of the block numbers", "按块号从小到大"): sorted(table),
        say("with the table read from its end", "从块表末尾往前"): table[::-1],
        say("one after the other from the first block on", "从第一块起连着往后"): [
            table[0] + i for i in range(len(table))
        ],
    }
    for order, blocks in orders.items():
        if blocks != table and got == [block * size + place for block in blocks for place in range(size)][: len(got)]:
            return say(f"These are the rows {order}. The table says {table}.",
                       f"读出的是{order}的各行。块表写的是 {table}。"), pieces  # fmt: skip
    came_from = list(dict.fromkeys(row // size for row in got))
    if set(came_from) <= set(table):
        return say("Rows of the right blocks, mixed: all rows of one block come before those of the next.",
                   "块是对的，行却混在了一起：一块的各行读完，才轮到下一块。"), joined  # fmt: skip
    return say(f"These rows lie in blocks {came_from}. The table says {table}.",
               f"这些行在块 {came_from} 里。块表写的是 {table}。"), pieces  # fmt: skip


def _misshapen(got: Misshapen, failure: Failure, pieces: str, joined: str) -> tuple[str, str]:
    seq_len, shape = failure.after.tables[failure.step.name][1], got.shape
    if got.nothing:
        return say("Nothing was returned. Is the given `return` line still there?",
                   "什么也没有返回。给定的 `return` 那一行还在吗？"), line_of("q4", "return", "print") or joined  # fmt: skip
    if got.mixed:
        return say("A row of the pool is one token with all its features; only join the blocks, do not reshape their rows.",
                   "池的一行是一个 token 的全部特征；只要把各块接起来，不要把行拆开重排。"), joined  # fmt: skip
    if len(shape) == 3:
        return say("The pieces lie on top of one another; they should follow one another, along the token dimension.",
                   "各段叠在了一起；应当沿 token 那一维首尾相接。"), joined  # fmt: skip
    joined_shape = tuple(getattr(failure.values.get("cat_blocks"), "shape", ()))
    if len(joined_shape) == 2 and joined_shape[0] == HEAD_DIM != joined_shape[1]:
        return say("Rows and columns are swapped: a token is a row.", "行和列颠倒了：一个 token 是一行。"), joined
    if len(shape) == 2 and shape[1] > HEAD_DIM:
        return say("The pieces were put side by side: rows got wider instead of more.",
                   "各段并排放了：行变宽了，行数没有变多。"), joined  # fmt: skip
    if len(shape) == 2 and shape[0] > seq_len:
        return say("The tail was not cut off.", "尾部没有切掉。"), line_of("q4", "return")
    if len(shape) == 2:
        return say("Rows are missing.", "少了几行。"), pieces if shape[0] % failure.after.block_size == 0 else joined
    return "", line_of("q4", "self.physical_kv_cache", "pool") or joined
