"""From what went wrong to where to look: one sentence, and the student's own line."""

from collections.abc import Callable

from autograder.lesson.diagnose_allocation import decode_advice, prefill_advice
from autograder.lesson.diagnose_read import read_advice
from autograder.lesson.speech import say
from autograder.lesson.story import Raised
from autograder.lesson.where import Failure


def advice(failure: Failure) -> str:
    """Return what the failure most likely comes from and the line to look at, or ""."""
    got = failure.got
    refused = isinstance(got, Raised) and (
        got.kind == "OOM" or (got.kind, failure.step.verb) == ("ValueError", "prefill")
    )
    if isinstance(got, Raised) and not refused:
        told, line = _exception(failure, got), say("In ", "出错在") + got.line if got.line else ""
    else:
        told, line = _BY_VERB.get(failure.step.verb, _nothing)(failure)
    return "\n".join(filter(None, (told, line)))


def _nothing(_: Failure) -> tuple[str, str]:
    return "", ""


def _exception(failure: Failure, raised: Raised) -> str:
    if raised.kind == "Endless":
        return say("A loop ends only if what it asks about changes inside it.",
                   "循环条件里的东西在循环体内要有变化，循环才会结束。")  # fmt: skip
    if raised.kind == "RecursionError":
        return say("The function calls itself, again and again.", "函数一直在调用自己。")
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
    if "positional argument" in raised.words:
        return say("A method's first argument is `self`; keep the given first line.",
                   "方法的第一个参数是 `self`；请保留给定的第一行。")  # fmt: skip
    if failure.expected == "OOM":
        return say('A full pool is told with RuntimeError("OOM").', '池满要用 RuntimeError("OOM") 来报告。')
    if "ellipsis" in raised.words:
        return say("A `...` is still where your expression goes.", "还有 `...` 没有换成你的表达式。")
    return ""


def _release(failure: Failure) -> tuple[str, str]:
    if failure.expected == "ValueError":
        return say(
            "Given code refuses a second release; has it been changed?", "给定代码会拒绝重复释放；是不是改动过它？"
        ), ""
    return "", ""


_BY_VERB: dict[str, Callable[[Failure], tuple[str, str]]] = {
    "prefill": prefill_advice,
    "decode": decode_advice,
    "read": read_advice,
    "release": _release,
}
