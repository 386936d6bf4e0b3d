"""The public checks: passed, failed with rule, story, line and picture, not attempted, or waiting."""

import html
import inspect
import time
from typing import Any

from autograder.lesson.cases import CASES, FUNCTIONS, HEAD_DIM, LEDGERS, Case, rule
from autograder.lesson.diagnose import advice
from autograder.lesson.diagnose_ledger import ledger_advice
from autograder.lesson.own_values import own_values, told_values
from autograder.lesson.play import new_manager, play_line
from autograder.lesson.pool import frame, side_by_side
from autograder.lesson.speech import Figure, notebook, say
from autograder.lesson.state import broken_invariants, whole
from autograder.lesson.story import (
    PATIENCE,
    Requests,
    StoryError,
    as_outcome,
    attempt,
    guilty_line,
    in_words,
    interrupted_after,
    is_open_todo,
    look,
    now_alive,
    read_step,
)
from autograder.lesson.where import Failure, function_of
from autograder.lesson.why_open import why_open, why_undefined

MARKS = {"passed": "✓", "failed": "✗"}


class Outcome(Figure):
    """What a public check found out: passed, failed, not attempted or waiting."""

    def __init__(self, question: str, status: str, words: str, evidence: Figure | None = None) -> None:
        self.question, self.status, self.words = question, status, words
        self.line = f"{MARKS.get(status, '○')} {question}: {words}"
        edge = {"passed": "#15803d", "failed": "#b00020"}.get(status, "#767676")
        body = html.escape(words)
        markup = (
            f'<div style="border-left:4px solid {edge};padding:0 0 0 10px;margin:4px 0 14px;overflow-wrap:anywhere">'
            f'<div style="white-space:pre-wrap">{MARKS.get(status, "○")} <b>{question}</b>: {body}</div>'
            f"{evidence.markup if evidence else ''}</div>"
        )
        super().__init__(self.line + (f"\n{evidence}" if evidence else ""), markup)


def public_check(question: str) -> Outcome:
    """Run the public cases of a question; never raises."""
    if question not in rules():
        return Outcome(str(question), "not attempted", say("there are q1 to q5.", "题目是 q1 到 q5。"))
    if question == "q5":
        undone = [q for q in FUNCTIONS if public_check(q).status == "not attempted"]
        if undone:
            todos = say(", ", "、").join(f"TODO {q[1:]}" for q in undone)
            return Outcome(question, "waiting", say(f"waiting for {todos}.", f"要等 {todos} 完成。"))
    elif function_of(question) is None:
        return Outcome(question, "not attempted", why_undefined(question))
    try:
        found = [check_ledger()] if question == "q1" else check_cases(question)
    except NotImplementedError:
        return Outcome(question, "not attempted", why_open(question))
    except StoryError as error:
        return Outcome(question, "not attempted", str(error))
    except Exception as error:
        line = guilty_line(error)
        words = say(f"the state cannot be read ({error}). {line}", f"读不出状态（{error}）。{line}")
        return Outcome(question, "failed", words)
    failures = [failure for failure in found if failure]
    if failures:
        return min(failures, key=lambda failure: failure[0])[1]
    count = len(LEDGERS) if question == "q1" else len(CASES[question])
    words = say(f"all {count} public cases hold. Grading uses other, hidden cases.",
                f"{count} 个公开用例全部通过。评分用的是另一批隐藏用例。")  # fmt: skip
    return Outcome(question, "passed", words)


def rules() -> tuple[str, ...]:
    """Return the questions that can be checked."""
    return (*FUNCTIONS, "q5")


def check_cases(question: str) -> list[tuple[int, Outcome] | None]:
    """Return the failure of each case, if any; after a call that had to be stopped, no other is tried."""
    found: list[tuple[int, Outcome] | None] = []
    for case in CASES[question]:
        started = time.monotonic()
        found.append(check_case(question, case))
        if time.monotonic() - started > PATIENCE:
            break
    return found


def failed(question: str, steps: list[str], expected: str, got: str, told: str, paste: str, evidence: Figure | None,
           setting: str = "") -> Outcome:  # fmt: skip
    """Tell a failure: what broke in the shortest story, where to look, the rule, and the line that shows it."""
    lines = [
        say("not right yet.", "还不对。"),
        say("Shortest steps that show it", "能暴露问题的最短操作") + setting + say(":", "："),
        *(f"  {number}. {step}" for number, step in enumerate(steps, 1)),
        say("Expected: ", "应得：") + expected,
        say("Got: ", "实得：") + got,
        *([told] if told else []),
        say("Rule: ", "规则：") + rule(question),
        say("Paste into a new cell to see it: ", "粘贴到新单元格里就能看到：") + paste,
    ]
    return Outcome(question, "failed", "\n".join(lines), evidence)


def check_ledger() -> tuple[int, Outcome] | None:
    """Return the first failure of TODO 1, if any."""
    keys = ("kv_bytes_per_token", "kv_bytes_per_block", "total_cache_bytes")
    for sizes, expected in LEDGERS:
        call = f"estimate_kv_cache_bytes({', '.join(f'{name}={size}' for name, size in sizes.items())})"
        told, values = "", ()
        try:
            with interrupted_after(PATIENCE):
                ledger = notebook.names["estimate_kv_cache_bytes"](**sizes)
            values = tuple(ledger[key] for key in keys)
            right = tuple(map(whole, values)) == expected
            got = ", ".join(map(repr, values))
        except (Exception, KeyboardInterrupt) as error:
            if is_open_todo(error):
                raise
            raised = as_outcome(error)
            right, got = raised.kind == expected, raised.words
            told = say(f"In {raised.line}", f"出错在{raised.line}") if raised.line else ""
        if not right:
            unit = say(" (bytes per token, per block, in all)", "（每 token、每块、总计的字节数）")
            wanted = expected if isinstance(expected, str) else ", ".join(map(str, expected)) + unit
            if values and not isinstance(expected, str):
                told = ledger_advice(expected, values)
            return 1, failed("q1", [call], wanted, got, told, call, None)
    return None


def check_case(question: str, case: Case) -> tuple[int, Outcome] | None:
    """Play one case up to its first wrong step; return the number of steps and the failure, if any."""
    num_blocks, block_size, steps = case
    manager = new_manager(num_blocks, block_size, HEAD_DIM, **other_dtype(question))
    requests, live = Requests(), frozenset[str]()
    for number, (text, expected) in enumerate(steps, 1):
        step = read_step(text)
        before = look(manager, requests, live)
        with own_values() as values:
            got = attempt(manager, requests, step)
        live = now_alive(live, step, got)
        after = look(manager, requests, live)
        broken = broken_invariants(after)
        refused = getattr(got, "kind", "")
        if refused and after.free != before.free:
            broken.append(say("The call failed and yet the free list changed.", "调用没有成功，空闲列表却变了。"))
        if refused and any(after.tables[name] != old for name, old in before.tables.items()):
            broken.append(say("The call failed and yet a request changed.", "调用没有成功，请求却变了。"))
        if step.verb == "read" and after != before:
            broken.append(say("The read has changed the request or the free list; reading changes nothing.",
                              "读取改动了请求或空闲列表；读取不该改变任何东西。"))  # fmt: skip
        elif step.verb != "release" and any(
            after.tables[name][0][: len(old)] != old for name, (old, _) in before.tables.items()
        ):
            broken.append(say("Entries of a block table have moved; a new block goes to the end.",
                              "块表里原有的项移动了；新块要接在末尾。"))  # fmt: skip
        if isinstance(got, str):  # values that are no integers: what follows from them says nothing
            broken = []
        if expected in (got, refused) and not broken:
            continue
        failure = Failure(question, step, expected, got, before, after, values)
        told = "\n".join(filter(None, (told_values(values), *dict.fromkeys(broken), advice(failure))))
        played = [line for line, _ in steps[:number]]
        result = in_words(got)
        if expected in (got, refused):
            result += say(", but the state is wrong", "，但状态不对")
        return number, failed(question, played, in_words(expected), result, told,
                              play_line(num_blocks, block_size, played), picture(before, after),
                              say(f" (pool: {num_blocks} blocks of {block_size})",
                                  f"（池：{num_blocks} 块，每块 {block_size} 个槽位）"))  # fmt: skip
    return None


def picture(before: Any, after: Any) -> Figure:
    """Return the state around the last step, or just one picture where nothing has changed."""
    if before == after:
        return frame(say("before and after the last step", "最后一步前后都是这样"), after)
    return side_by_side([
        frame(say("before the last step", "最后一步之前"), before),
        frame(say("after", "之后"), after, before),
    ])  # fmt: skip


def other_dtype(question: str) -> dict[str, Any]:
    """Return the pool's dtype for the questions in which it must not matter: not the usual one, where there is a choice."""
    make = notebook.names.get("KVCacheManager")
    takes = question == "q4" and make is not None and "dtype" in inspect.signature(make).parameters
    return {"dtype": notebook.names["torch"].float64} if takes and "torch" in notebook.names else {}
