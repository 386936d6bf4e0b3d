"""Pictures, stories and checks of the PagedAttention lesson. Keep this file beside the notebook.

You need not read it, and you may. Nothing in it is graded: grading uses your functions and other, hidden cases.
这是 PagedAttention 一课的图示、演示和检查，请把它放在 notebook 旁边。不必读，想读也可以；评分不看这个文件。
"""

from collections.abc import Callable
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from types import FrameType
from typing import Any
from typing import NamedTuple
from zlib import crc32
import _thread
import builtins
import contextlib
import difflib
import html
import importlib
import inspect
import io
import itertools
import json
import operator
import os
import random
import re
import sys
import tempfile
import threading
import time
import torch
import traceback
import unicodedata
import zipfile

# -------------------- speech --------------------
# What the lesson knows of the notebook it serves: its names, its language, its file.


class Notebook:
    """The notebook that imported the lesson."""

    names: dict[str, Any]
    language = ""

    def __init__(self) -> None:
        import __main__

        self.names = __main__.__dict__

    def path(self) -> Path | None:
        """Return the notebook's file, as far as the editor tells; a folder with one notebook tells enough."""
        named = os.environ.get("JPY_SESSION_NAME") or self.names.get("__vsc_ipynb_file__") or self.names.get("__file__")
        if named and Path(named).is_file() and Path(named).suffix in (".ipynb", ".py"):
            return Path(named)
        found = list(Path.cwd().glob("*.ipynb"))
        return found[0] if len(found) == 1 else None

    def saved_code(self) -> str:
        """Return the code that the notebook's file holds, or "" where it cannot be read."""
        path = self.path()
        try:
            return code_of(path.read_bytes()) if path and path.suffix == ".ipynb" else ""
        except (OSError, ValueError, KeyError, TypeError):
            return ""


notebook = Notebook()


def code_of(raw: bytes) -> str:
    """Return the code cells of a notebook's bytes as one text."""
    cells = json.loads(raw)["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def say(en: str, zh: str) -> str:
    """Return the sentence in the language of the notebook; in both where that is unknown."""
    return {"en": en, "zh": zh}.get(notebook.language, f"{en} / {zh}")


def plural(number: int | str, thing: str) -> str:
    """Return "1 token" or "2 tokens"."""
    return f"{number} {thing}" if str(number) == "1" else f"{number} {thing}s"


class Figure:
    """Something to look at: HTML in a notebook, plain text elsewhere."""

    def __init__(self, text: str, markup: str = "") -> None:
        self.text = text
        self.markup = markup or f'<div style="white-space:pre-wrap">{html.escape(text)}</div>'

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.markup


def emit(figure: Figure | str) -> None:
    """Display the figure or sentence at once."""
    shown = Figure(figure) if isinstance(figure, str) else figure
    getattr(builtins, "display", print)(shown)

# -------------------- reading --------------------
# What a read brought back: the numbers of the pool's rows, or in which way it is no such thing.


@dataclass(frozen=True)
class Misshapen:
    """A read that is not ``[seq_len, head_dim]`` in the pool's dtype: wanted and got, in words."""

    words: str
    shape: tuple[int, ...] = ()
    nothing: bool = False
    mixed: bool = False


def number_pool(manager: Any) -> Any:
    """Give each row of the pool its number, in every feature; return a copy of the pool as it is then."""
    import torch  # not above: examples are judged where there is none

    pool = manager.physical_kv_cache
    rows = torch.arange(pool.shape[0] * pool.shape[1]).reshape(*pool.shape[:2], 1)
    pool.copy_(rows.expand_as(pool))
    return pool.clone()


def what_was_read(manager: Any, req: Any, cache: Any, numbered: Any) -> object:
    """Return the numbers of the rows that were read, in order, or a Misshapen."""
    import torch

    pool = manager.physical_kv_cache
    wanted = [req.seq_len, pool.shape[2]]
    if not isinstance(cache, torch.Tensor):
        kind = type(cache).__name__
        words = say(f"{kind}; wanted a tensor of shape {wanted}", f"{kind}；应是形状 {wanted} 的张量")
        return Misshapen(words, nothing=cache is None)
    if list(cache.shape) != wanted:
        got = list(cache.shape)
        return Misshapen(say(f"shape {got}; wanted {wanted}", f"形状 {got}；应为 {wanted}"), tuple(got))
    if cache.dtype != pool.dtype:
        return Misshapen(
            say(f"dtype {cache.dtype}; the pool has {pool.dtype}", f"dtype {cache.dtype}；池是 {pool.dtype}")
        )
    if not torch.equal(pool, numbered):
        return Misshapen(say("the read has changed the pool", "读取时改动了池"))
    if not torch.equal(cache, cache[:, :1].expand_as(cache)):
        mixed = say("rows put together from several rows of the pool", "一行里混进了池中好几行的数")
        return Misshapen(mixed, mixed=True)
    return [int(row) for row in cache[:, 0].tolist()]

# -------------------- state --------------------
# A moment of the allocator as plain data, and what must hold at every moment.


Tables = dict[str, tuple[tuple[int, ...], int]]  # name of a request -> (block table, seq_len)


class Snapshot(NamedTuple):
    """Everything the allocator knows at one moment; ``live`` names the requests that have been given room."""

    num_blocks: int
    block_size: int
    free: tuple[int, ...]
    tables: Tables
    live: frozenset[str] = frozenset()


def whole(value: Any) -> int:
    """Return an integer, NumPy's included, as an int, and -1 for anything else: a bool, a float, a tensor."""
    if isinstance(value, bool) or type(value).__module__ == "torch":
        return -1
    try:
        return operator.index(value)
    except TypeError:
        return -1


def snapshot(manager: Any, requests: dict[str, Any], live: frozenset[str] | None = None) -> Snapshot:
    """Copy the state of the manager and its requests; without ``live``, who holds blocks counts as alive."""
    tables = {name: (tuple(map(whole, req.block_table)), whole(req.seq_len)) for name, req in requests.items()}
    alive = frozenset(name for name, (table, _) in tables.items() if table) if live is None else live
    return Snapshot(manager.num_blocks, manager.block_size, tuple(map(whole, manager.free_blocks)), tables, alive)


def homeless(state: Snapshot) -> dict[str, int]:
    """Return how many tokens of each live request have no slot in its blocks."""
    missing = {
        name: seq_len - len(table) * state.block_size
        for name, (table, seq_len) in state.tables.items()
        if name in state.live
    }
    return {name: count for name, count in missing.items() if count > 0}


def claims(state: Snapshot, block: int) -> list[tuple[str, int]]:
    """Return who holds the block: pairs of a request and the entry of its table."""
    return [(name, i) for name, (table, _) in state.tables.items() for i, b in enumerate(table) if b == block]


def slots(state: Snapshot, block: int) -> tuple[str, str]:
    """Return one symbol per slot of a block, and the block's label.

    A letter is a used slot of that request, "." a slot it holds and does not use (tail waste), a space is free, "!" a
    block that is claimed twice, "?" a block that is lost: nobody holds it and it is not free. The label ``A[1]`` says:
    this is entry 1 of A's block table.
    """
    held, times_free = claims(state, block), state.free.count(block)
    label = " ".join([f"{name}[{i}]" for name, i in held] + [say("free", "空闲")] * times_free)
    if not label:
        return "?" * state.block_size, say("lost", "丢失")
    if len(held) + times_free > 1:
        return "!" * state.block_size, label
    if not held:
        return " " * state.block_size, label
    name, i = held[0]
    used = min(max(state.tables[name][1] - i * state.block_size, 0), state.block_size)
    return name * used + "." * (state.block_size - used), label


def broken_invariants(state: Snapshot) -> list[str]:
    """Return the broken rules of a state in words; an empty list means that all hold."""
    owned = [block for table, _ in state.tables.values() for block in table]
    everywhere = [*owned, *state.free]
    broken = []
    if any(block not in range(state.num_blocks) for block in everywhere):
        broken.append(say("A block table or the free list names a block that does not exist.", "出现了不存在的块号。"))
    if len(set(owned)) < len(owned):
        broken.append(say("A block is held twice.", "有的块被占用了两次。"))
    if set(owned) & set(state.free) or len(set(state.free)) < len(state.free):
        broken.append(say("A block is held and free at once, or free twice.", "有的块既被占用又算空闲，或者重复空闲。"))
    if not set(everywhere).issuperset(range(state.num_blocks)):
        broken.append(say("A block is lost: neither held nor free.", "有的块丢失了：既没人占用，也不在空闲列表里。"))
    for name, (table, seq_len) in state.tables.items():
        spare = len(table) * state.block_size - seq_len
        if name in state.live and spare < 0:
            broken.append(say(f"{name} has tokens without a slot.", f"{name} 有 token 没有槽位可放。"))
        if table and seq_len >= 0 and spare >= state.block_size:
            broken.append(say(f"{name} holds a block that it does not need.", f"{name} 多占了用不着的块。"))
    return broken

# -------------------- story --------------------
# Stories: what happens to a pool, one line per step, carried out by the student's own code.


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

# -------------------- black_boxes --------------------
# Allocators to try examples on: right ones that choose differently, and wrong ones, each with one typical mistake.
#
# They count tokens one by one and know nothing of the student's code. Which mistake a black box makes is told only after
# an example has caught it.


Result = tuple[int, int] | str


@dataclass
class Box:
    """One allocator: ``mistake`` names what it gets wrong, "" for a right one."""

    num_blocks: int
    block_size: int
    mistake: str = ""
    last_first: bool = False
    free: list[int] = field(default_factory=list)
    held: dict[str, list[int]] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.free = list(range(self.num_blocks))

    def tell(self, step: Step) -> Result:
        """Carry out a step; return (tokens, blocks) of its request, or "OOM" or "ValueError"."""
        name, number = step.name, step.numbers[0] if step.numbers else 0
        if step.verb in ("prefill", "hold") and number:
            self.held[name], self.tokens[name] = [], number
        try:
            {"hold": self._hold, "prefill": self._prefill, "decode": self._decode, "release": self._release}[step.verb](
                step
            )
        except MemoryError:
            return "OOM"
        except ValueError:
            return "ValueError"
        return self.tokens[name], len(self.held[name])

    def _take(self, name: str) -> None:
        if not self.free:
            raise MemoryError
        self.held[name].append(self.free.pop(-1 if self.last_first else 0))

    def _hold(self, step: Step) -> None:
        self.held[step.name] = list(step.numbers[1:])
        self.free = [block for block in self.free if block not in step.numbers[1:]]

    def _prefill(self, step: Step) -> None:
        name = step.name
        if self.held[name] and self.mistake != "prefills twice":
            raise ValueError
        tokens = self.tokens[name]
        wanted = len({token // self.block_size for token in range(tokens)})
        wanted += {
            "one block too many when full": tokens % self.block_size == 0,
            "rounds down": -(tokens % self.block_size > 0),
        }.get(self.mistake, 0)
        if wanted > len(self.free) - (self.mistake == "never uses the last block"):
            if self.mistake == "keeps blocks on OOM":
                self.free.clear()
            raise MemoryError
        for _ in range(wanted):
            self._take(name)

    def _decode(self, step: Step) -> None:
        name, room = step.name, len(self.held[step.name]) * self.block_size
        if not self.held[name]:
            raise ValueError
        if self.mistake == "counts the token before the OOM":
            self.tokens[name] += 1
        new = self.tokens[name] + (self.mistake != "counts the token before the OOM")
        full = {
            "asks too early": new >= room,
            "asks too late": new > room + 1,
            "modulo one": new % self.block_size == 1,
        }.get(self.mistake, new > room)
        if full:
            self._take(name)
        self.tokens[name] = new

    def _release(self, step: Step) -> None:
        if not self.held[step.name] and self.mistake != "releases twice":
            raise ValueError
        if self.mistake != "loses blocks on release":
            self.free += self.held[step.name]
        self.held[step.name] = []


def mistakes() -> dict[str, str]:
    """Return every mistake of a wrong box, with its words."""
    return {
        "one block too many when full": say(
            "takes a block too many for a prompt of whole blocks", "prompt 恰好装满整块时多拿一块"
        ),
        "rounds down": say("rounds the number of blocks down", "块数向下取整"),
        "never uses the last block": say("never gives out the last free block", "最后一个空闲块永远不发"),
        "keeps blocks on OOM": say("keeps what it took when a prefill is refused", "prefill 被拒绝时不归还已拿的块"),
        "prefills twice": say("prefills a request twice", "同一个请求可以 prefill 两次"),
        "asks too early": say("takes a block one token early", "早一个 token 取块"),
        "asks too late": say("takes a block one token late", "晚一个 token 取块"),
        "modulo one": say("asks whether the new length modulo the size is 1", "判断新长度对块大小取余是否为 1"),
        "counts the token before the OOM": say("counts the token before the OOM", "OOM 之前就把 token 算进去了"),
        "loses blocks on release": say("loses the blocks of a release", "释放时把块弄丢了"),
        "releases twice": say("releases a request twice", "同一个请求可以释放两次"),
    }


def right_boxes() -> list[Callable[[int, int], Box]]:
    """Return makers of right allocators that choose different blocks."""
    return [lambda n, size: Box(n, size), lambda n, size: Box(n, size, last_first=True)]

# -------------------- cases --------------------
# The public cases: few, open, and other ones than those that grade.


Expected = tuple[int, int] | list[int] | str  # (tokens, blocks), rows of the pool, or the kind of exception
Case = tuple[int, int, list[tuple[str, Expected]]]  # num_blocks, block_size, (step, what is right) ...

HEAD_DIM = 5  # of the pools in checks and stories: no request there has 5 tokens, so a swapped shape shows

LEDGERS: list[tuple[dict[str, int], tuple[int, int, int] | str]] = [
    (
        {"num_blocks": 1, "block_size": 1, "num_layers": 1, "num_kv_heads": 1, "head_dim": 1, "dtype_bytes": 1},
        (2, 2, 2),
    ),
    ({"num_blocks": 7, "block_size": 5, "num_layers": 3, "num_kv_heads": 2, "head_dim": 11}, (264, 1320, 9240)),
    (
        {"num_blocks": 9, "block_size": 6, "num_layers": 5, "num_kv_heads": 3, "head_dim": 7, "dtype_bytes": 4},
        (840, 5040, 45360),
    ),
    ({"num_blocks": 7, "block_size": 0, "num_layers": 3, "num_kv_heads": 2, "head_dim": 11}, "ValueError"),
]

CASES: dict[str, list[Case]] = {
    "q2": [
        (5, 3, [("A prefill 1", (1, 1))]),
        (5, 3, [("A prefill 7", (7, 3))]),
        (5, 3, [("A prefill 9", (9, 3))]),
        (4, 1, [("A prefill 4", (4, 4))]),
        (2, 3, [("A prefill 7", "OOM")]),
        (3, 5, [("A prefill 6", (6, 2)), ("B prefill 6", "OOM"), ("C prefill 5", (5, 1))]),
        (4, 3, [("A prefill 4", (4, 2)), ("A prefill", "ValueError")]),
    ],
    "q3": [
        (4, 3, [("A hold 4 2 0", (4, 2)), ("A decode", (5, 2))]),
        (4, 3, [("A hold 3 2", (3, 1)), ("A decode", (4, 2)), ("A decode", (5, 2))]),
        (3, 1, [("A hold 1 1", (1, 1)), ("A decode", (2, 2)), ("A decode", (3, 3)), ("A decode", "OOM")]),
        (2, 3, [("A hold 3 1", (3, 1)), ("B hold 2 0", (2, 1)), ("A decode", "OOM"), ("B decode", (3, 1))]),
        (2, 3, [("A hold 3 1", (3, 1)), ("B hold 2 0", (2, 1)), ("B release", (2, 0)), ("A decode", (4, 2))]),
    ],
    "q4": [
        (4, 2, [("A hold 2 3", (2, 1)), ("A read", [6, 7])]),
        (5, 1, [("A hold 3 2 0 1", (3, 3)), ("A read", [2, 0, 1])]),
        (5, 3, [("A hold 7 4 1 2", (7, 3)), ("A read", [12, 13, 14, 3, 4, 5, 6])]),
    ],
    "q5": [
        (2, 3, [("A prefill 0", "ValueError")]),
        (2, 3, [("A prefill 4", (4, 2)), ("A release", (4, 0)), ("A release", "ValueError")]),
        (4, 3, [("A prefill 4", (4, 2)), ("B prefill 6", (6, 2)), ("A decode", (5, 2)), ("A decode", (6, 2)),
                ("A decode", "OOM"), ("B release", (6, 0)), ("A decode", (7, 3)), ("C prefill 3", (3, 1))]),
        (4, 3, [("A hold 5 3 0", (5, 2)), ("B hold 3 1", (3, 1)), ("A decode", (6, 2)), ("A decode", (7, 3)),
                ("A read", [9, 10, 11, 0, 1, 2, 6]), ("B release", (3, 0)), ("C prefill 3", (3, 1)),
                ("C read", [3, 4, 5])]),
    ],
}  # fmt: skip

FUNCTIONS = {
    "q1": "estimate_kv_cache_bytes",
    "q2": "allocate_for_prefill",
    "q3": "allocate_for_decode",
    "q4": "get_physical_cache",
}
QUESTIONS = (*FUNCTIONS, "q5")


def rule(question: str) -> str:
    """Return the rule of a question in one sentence."""
    return {
        "q1": say(
            "A token leaves a key and a value in every layer and KV head; a block is block_size tokens, "
            "a pool num_blocks blocks.",
            "每个 token 在每一层、每个 KV 头都留下一份 key 和一份 value；一块有 block_size 个 token，整个池有 num_blocks 块。",
        ),
        "q2": say(
            "Prefill takes as many blocks as the prompt needs, not one more, or raises OOM and leaves everything "
            "as it was.",
            "prefill 恰好取走 prompt 所需的块，一块不多；不够就抛出 OOM，一切保持原样。",
        ),
        "q3": say(
            "A decode adds one token, and a block at the end of the table only if those held were full before; "
            "on OOM nothing changes.",
            "decode 增加一个 token；只有原来的块已经装满，才在块表末尾添一块；OOM 时什么都不变。",
        ),
        "q4": say(
            "The rows come back in the order of the block table, and only the first seq_len of them.",
            "按块表的顺序读出各行，并且只要前 seq_len 行。",
        ),
        "q5": say(
            "Through any mix of prefill, decode and release every block is either free or held by exactly one request.",
            "无论 prefill、decode、release 怎样交错，每个块要么空闲，要么恰好属于一个请求。",
        ),
    }[question]

# -------------------- where --------------------
# A failed step, and where in the student's function to look for its cause.


CHANGING = ("pop", "popleft", "remove", "append", "extend", "insert", "clear", "sort", "reverse")


class Failure(NamedTuple):
    """The first wrong step of a case: what is right, what came, the state around it, and the student's own values."""

    question: str
    step: Step
    expected: object
    got: object
    before: Snapshot
    after: Snapshot
    values: dict[str, Any]


def function_of(question: str) -> Callable[..., Any] | None:
    """Return the function of a question as it is defined now."""
    if question == "q1":
        return notebook.names.get(FUNCTIONS[question])
    return getattr(notebook.names.get("KVCacheManager"), FUNCTIONS[question], None)


def line_of(question: str, *beginnings: str) -> str:
    """Return the line of the student's function that begins with the first of these that any line begins with."""
    return _first_line(question, *(f" *{re.escape(beginning)}" for beginning in beginnings))


def changing_line(question: str) -> str:
    """Return the first line of the student's function that changes a request or the pool, a line that only reads left out."""
    of_whom = r"(req|self)\.\w+(\[[^=]*\])*"
    return _first_line(
        question, rf".*{of_whom}\.({'|'.join(CHANGING)})\(", rf" *(del +)?{of_whom} *([-+*/%]|//)?=[^=]", r" *del "
    )


def _first_line(question: str, *patterns: str) -> str:
    try:
        lines, first = inspect.getsourcelines(function_of(question) or len)
    except (OSError, TypeError):
        return ""
    for pattern in patterns:
        for number, line in enumerate(lines, max(first, 1)):
            if re.match(pattern, line):
                return say(f"Look at line {number}: {line.strip()}", f"请看第 {number} 行：{line.strip()}")
    return ""

# -------------------- diagnose_allocation --------------------
# From a wrong prefill or decode to where to look.


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

# -------------------- diagnose_read --------------------
# From a wrong read to where to look.


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

# -------------------- diagnose --------------------
# From what went wrong to where to look: one sentence, and the student's own line.


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

# -------------------- diagnose_ledger --------------------
# From a wrong number of the ledger to its factor and its line.


def ledger_advice(expected: tuple[int, ...], got: tuple[object, ...]) -> str:
    """Return which of the three numbers is the first wrong one, by what factor, and its line."""
    names = ("kv_bytes_per_token", "kv_bytes_per_block", "total_cache_bytes")
    for name, right, value in zip(names, expected, got, strict=True):
        number = whole(value)
        if number == right:
            continue
        if number < 0:
            told = say(f"{name} is {value!r}, a {type(value).__name__}; bytes are counted in integers.",
                       f"{name} 是 {value!r}（{type(value).__name__}）；字节数要用整数。")  # fmt: skip
        elif number and right % number == 0:
            told = say(f"{name} is too small by a factor of {right // number}.",
                       f"{name} 只有应得的 1/{right // number}。")  # fmt: skip
        elif number and number % right == 0:
            told = say(f"{name} is too large by a factor of {number // right}.",
                       f"{name} 是应得的 {number // right} 倍。")  # fmt: skip
        else:
            told = say(f"{name} is {number}, not {right}.", f"{name} 是 {number}，应为 {right}。")
        return "\n".join(filter(None, (told, line_of("q1", f"{name} ="))))
    return ""

# -------------------- own_values --------------------
# What a student's own names held while their function ran: "needed_blocks = 4" tells more than a wrong state.


ASKED_FOR = ("needed_blocks", "allocated_blocks", "new_seq_len", "is_new_block_needed", "blocks", "cat_blocks")
LONGEST = 80


@contextmanager
def own_values() -> Iterator[dict[str, Any]]:
    """While active, keep the first value of each name that a TODO asks for, as it was then."""
    kept: dict[str, Any] = {}

    def note(frame: FrameType, event: str, argument: object) -> Any:
        for name in ASKED_FOR:
            if name in frame.f_locals and name not in kept:
                value = frame.f_locals[name]
                kept[name] = list(value) if isinstance(value, list) else value
        return note

    def enter(frame: FrameType, event: str, argument: object) -> Any:
        own = frame.f_globals is notebook.names and frame.f_code.co_name in FUNCTIONS.values()
        return note if own else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        yield kept
    finally:
        sys.settrace(before)


def in_short(value: Any) -> str:
    """Return a value in a few words: a tensor by its shape, many tensors by their number, anything else as Python shows it."""
    parts = list(value) if isinstance(value, (list, tuple)) else []
    if parts and all(hasattr(part, "shape") for part in parts):
        shape = list(parts[0].shape)
        return say(f"{plural(len(parts), 'tensor')} of shape {shape}", f"{len(parts)} 个形状为 {shape} 的张量")
    if hasattr(value, "shape") and list(value.shape):
        return say(f"tensor of shape {list(value.shape)}", f"形状为 {list(value.shape)} 的张量")
    text = repr(value)
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def told_values(values: dict[str, Any]) -> str:
    """Return the line that shows a student their own values, "" where there are none."""
    if not values:
        return ""
    pairs = [f"{name} = {in_short(value)}"
             for name, value in values.items()]  # fmt: skip
    return say("Your values: ", "你的变量：") + say("; ", "；").join(pairs)

# -------------------- pool --------------------
# The picture of the pool: one row per block, one cell per slot, as text and as SVG.


SIDE, ROW, LEFT = 20, 24, 28
LOOKS = {
    " ": 'fill="none" stroke-dasharray="2 3" stroke-opacity=".6"',
    ".": 'fill="currentColor" fill-opacity=".12"',
    "?": 'fill="none" stroke-width="2" stroke-dasharray="5 2"',
    "!": 'fill="#b00020" stroke-width="2"',
}
INKS = {".": "currentColor", "?": "currentColor", "!": "#fff"}
RED = 'fill="#b00020" stroke-width="2"'


def room(text: str) -> int:
    """Return how many pixels the text takes at most in a picture, where a Chinese character is as wide as it is high."""
    return sum(14 if unicodedata.east_asian_width(sign) in "WF" else 8 for sign in text)


def cell(x: int, y: int, symbol: str, look: str = "", moved: bool = False) -> str:
    """Return one slot as SVG; ``moved`` underlines what the last step changed."""
    fill = look or LOOKS.get(symbol) or f'fill="hsl({ord(symbol) * 67 % 360} 65% 80%)"'
    ink = "#fff" if look == RED else INKS.get(symbol, "#111")
    box = f'<rect x="{x}" y="{y}" width="{SIDE - 2}" height="{SIDE}" stroke="currentColor" {fill}/>'
    mark = "·" if symbol == "." else symbol.strip()
    text = (
        f'<text x="{x + 9}" y="{y + 15}" text-anchor="middle" fill="{ink}">{html.escape(mark)}</text>' if mark else ""
    )
    under = f'<rect x="{x + 2}" y="{y + SIDE - 4}" width="{SIDE - 6}" height="3" fill="#c2410c"/>' if moved else ""
    return box + text + under


def legend(state: Snapshot) -> list[str]:
    """Return one line per request: its length and its block table."""
    return [
        say(
            f"{name}: {plural(known(seq_len), 'token')}, block table [{', '.join(map(known, table))}]",
            f"{name}：{known(seq_len)} 个 token，块表 [{', '.join(map(known, table))}]",
        )
        for name, (table, seq_len) in state.tables.items()
    ]


def known(number: int) -> str:
    """Return a number as it is drawn: "?" where the student's value is no integer."""
    return "?" if number < 0 else str(number)


def homeless_label(name: str, count: int) -> str:
    """Return the sentence beside tokens that have no slot."""
    return say(f"{plural(count, 'token')} of {name} without a slot", f"{name} 有 {count} 个 token 没有槽位")


def svg(state: Snapshot, before: Snapshot | None = None) -> str:
    """Return the pool as SVG in the colours of the page it stands on; with ``before``, changed slots are underlined."""
    parts, widest = [], 0
    for block in range(state.num_blocks):
        symbols, label = slots(state, block)
        earlier = slots(before, block)[0] if before else symbols
        y = block * ROW + 2
        parts.append(f'<text x="22" y="{y + 15}" text-anchor="end">{block}</text>')
        for i, symbol in enumerate(symbols):
            parts.append(cell(LEFT + i * SIDE, y, symbol, moved=symbol != earlier[i]))
        parts.append(f'<text x="{LEFT + 6 + state.block_size * SIDE}" y="{y + 15}">{html.escape(label)}</text>')
        widest = max(widest, state.block_size * SIDE + room(label))
    rows = state.num_blocks
    for name, count in homeless(state).items():
        shown, label = min(count, 8), homeless_label(name, count)
        parts.append(f'<text x="22" y="{rows * ROW + 17}" text-anchor="end">∅</text>')
        parts += [cell(LEFT + i * SIDE, rows * ROW + 2, name, RED) for i in range(shown)]
        parts.append(f'<text x="{LEFT + 6 + shown * SIDE}" y="{rows * ROW + 17}">{html.escape(label)}</text>')
        widest = max(widest, shown * SIDE + room(label))
        rows += 1
    width = max(widest + LEFT + 14, 120)
    return (
        f'<svg role="img" aria-label="{html.escape(described(state))}" viewBox="0 0 {width} {rows * ROW + 4}" '
        f'width="{width}" style="max-width:100%;height:auto" font-family="monospace" font-size="13" '
        f'fill="currentColor">{"".join(parts)}</svg>'
    )


def described(state: Snapshot) -> str:
    """Return the state in one line, for those who listen to it."""
    size = say(
        f"{state.num_blocks} blocks of {state.block_size}", f"{state.num_blocks} 块，每块 {state.block_size} 个槽位"
    )
    return "; ".join([size, *legend(state), *(homeless_label(name, n) for name, n in homeless(state).items())])


def rows(state: Snapshot) -> list[str]:
    """Return the picture as lines of plain text."""
    drawn = [(b, *slots(state, b)) for b in range(state.num_blocks)]
    lines = [f"{block:4} |{' '.join(symbols)}| {label}" for block, symbols, label in drawn]
    lines += [f"   ∅ |{' '.join(name * min(n, 8))}| {homeless_label(name, n)}" for name, n in homeless(state).items()]
    return lines + [f"     {line}" for line in legend(state)]


def frame(caption: str, state: Snapshot, before: Snapshot | None = None) -> Figure:
    """Return one captioned picture of the pool."""
    lines = "<br>".join(html.escape(line) for line in legend(state))
    markup = (
        f'<figure style="margin:0;max-width:100%"><figcaption><b>{html.escape(caption)}</b></figcaption>'
        f"{svg(state, before)}<div>{lines}</div></figure>"
    )
    return Figure("\n".join([caption, *rows(state)]), markup)


def side_by_side(figures: list[Figure]) -> Figure:
    """Return the figures in a row, or below one another where there is no room."""
    boxes = "".join(figure.markup for figure in figures)
    text = "\n\n".join(figure.text for figure in figures)
    return Figure(text, f'<div style="display:flex;flex-wrap:wrap;gap:16px 28px">{boxes}</div>')

# -------------------- diagram --------------------
# The diagram of the block table: logical tokens, table and pool, and one token followed through ``//`` and ``%``.


ACCENT = "#c2410c"
TOP = 22


def way(state: Snapshot, name: str, token: int) -> list[str]:
    """Return the way of one token into the pool as the lines of a calculation; the last says where it ends."""
    table, seq_len = state.tables[name]
    size = state.block_size
    block, place = token // size, token % size
    if not 0 <= token < seq_len:
        return [say(f"{name} has no token {token}: its tokens are 0 to {seq_len - 1}.",
                    f"{name} 没有 token {token}：它的 token 从 0 到 {seq_len - 1}。")]  # fmt: skip
    lines = [
        say(f"token {token} of {name}, blocks of {size}", f"{name} 的 token {token}，每块 {size} 个槽位"),
        say(f"{token} // {size} = {block}: logical block", f"{token} // {size} = {block}：逻辑块"),
        say(f"{token} % {size} = {place}: place inside the block", f"{token} % {size} = {place}：块内位置"),
    ]
    if block >= len(table):
        return [*lines, say(f"block_table[{block}] does not exist: this token has no slot.",
                            f"block_table[{block}] 不存在：这个 token 没有槽位。")]  # fmt: skip
    row = table[block] * size + place
    return [
        *lines,
        say(f"block_table[{block}] = {table[block]}: physical block", f"block_table[{block}] = {table[block]}：物理块"),
        say(f"{table[block]} * {size} + {place} = {row}: row of the pool",
            f"{table[block]} * {size} + {place} = {row}：池的第 {row} 行"),
    ]  # fmt: skip


def diagram(state: Snapshot, name: str, token: int | None = None) -> Figure:
    """Return logical tokens, block table and pool of one request, with arrows; ``token`` is followed all the way."""
    table, seq_len = state.tables[name]
    size = state.block_size
    logical = max(-(-seq_len // size), len(table))
    told = [] if token is None else way(state, name, token)
    followed = -1 if token is None or not 0 <= token < seq_len else token // size
    width_of_block = max(size, 3) * SIDE
    table_x = width_of_block + 44
    pool_x = table_x + 92
    parts = _headings(name, table_x, pool_x)
    for i in range(logical):
        y = TOP + i * ROW
        parts += _logical_block(state, name, i, y, token)
        if i < len(table):
            chosen = i == followed
            parts += _entry(table_x, y, i, table[i], chosen)
            if 0 <= table[i] < state.num_blocks:
                end = TOP + table[i] * ROW
                parts.append(_arrow(table_x + 40, y + 12, pool_x - 24, end + 12, chosen))
            parts.append(_arrow(width_of_block + 2, y + 12, table_x - 18, y + 12, chosen))
    widest = 0
    for block in range(state.num_blocks):
        y = TOP + block * ROW
        symbols, label = slots(state, block)
        widest = max(widest, room(label))
        parts.append(f'<text x="{pool_x - 4}" y="{y + 17}" text-anchor="end">{block}</text>')
        for place, symbol in enumerate(symbols):
            parts.append(cell(pool_x + 4 + place * SIDE, y + 2, symbol))
        parts.append(f'<text x="{pool_x + 10 + size * SIDE}" y="{y + 17}">{html.escape(label)}</text>')
    if 0 <= followed < len(table) and token is not None:
        parts.append(_ring(pool_x + 4 + token % size * SIDE, TOP + table[followed] * ROW + 2))
    width, height = pool_x + size * SIDE + 10 + max(widest, 60), TOP + max(logical, state.num_blocks) * ROW + 6
    title = say(f"{name}: block table {list(table)}", f"{name}：块表 {list(table)}")
    drawing = (
        f'<svg role="img" aria-label="{html.escape("; ".join([title, *told]))}" viewBox="0 0 {width} {height}" '
        f'width="{width}" style="max-width:100%;height:auto" font-family="monospace" font-size="13" '
        f'fill="currentColor">{"".join(parts)}</svg>'
    )
    steps = "".join(f"<div><code>{html.escape(line)}</code></div>" for line in told)
    return Figure(_text(state, name, told), f'<figure style="margin:0;max-width:100%">{drawing}{steps}</figure>')


def _headings(name: str, table_x: int, pool_x: int) -> list[str]:
    titles = [
        (0, say(f"tokens of {name}", f"{name} 的 token")),
        (table_x - 16, say("block table", "块表")),
        (pool_x + 4, say("pool", "池")),
    ]
    return [f'<text x="{x}" y="14">{html.escape(title)}</text>' for x, title in titles]


def _logical_block(state: Snapshot, name: str, i: int, y: int, token: int | None) -> list[str]:
    table, seq_len = state.tables[name]
    parts = []
    for place in range(state.block_size):
        number = i * state.block_size + place
        if number >= seq_len:
            parts.append(cell(place * SIDE, y + 2, "."))
            continue
        look = RED if i >= len(table) else f'fill="hsl({ord(name) * 67 % 360} 65% 80%)"'
        ink = "#fff" if look == RED else "#111"
        parts.append(cell(place * SIDE, y + 2, " ", look))
        parts.append(
            f'<text x="{place * SIDE + 9}" y="{y + 16}" text-anchor="middle" font-size="11" fill="{ink}">{number}</text>'
        )
        if number == token:
            parts.append(_ring(place * SIDE, y + 2))
    return parts


def _entry(x: int, y: int, i: int, block: int, chosen: bool) -> list[str]:
    width = ' stroke-width="3"' if chosen else ""
    colour = ACCENT if chosen else "currentColor"
    return [
        f'<text x="{x - 4}" y="{y + 17}" text-anchor="end" font-size="11">{i}</text>',
        f'<rect x="{x}" y="{y + 2}" width="36" height="{SIDE}" fill="none" stroke="{colour}"{width}/>',
        f'<text x="{x + 18}" y="{y + 17}" text-anchor="middle">{block}</text>',
    ]


def _arrow(x1: int, y1: int, x2: int, y2: int, chosen: bool) -> str:
    colour, width = (ACCENT, 2.5) if chosen else ("currentColor", 1)
    bend = (x2 - x1) // 2
    return (
        f'<path d="M{x1} {y1} C{x1 + bend} {y1} {x2 - bend} {y2} {x2 - 5} {y2}" fill="none" stroke="{colour}" '
        f'stroke-width="{width}"/><path d="M{x2} {y2} l-7 -4 v8 z" fill="{colour}"/>'
    )


def _ring(x: int, y: int) -> str:
    return f'<rect x="{x}" y="{y}" width="{SIDE - 2}" height="{SIDE}" fill="none" stroke="{ACCENT}" stroke-width="4"/>'


def _text(state: Snapshot, name: str, told: list[str]) -> str:
    table, seq_len = state.tables[name]
    lines = []
    for i in range(max(-(-seq_len // state.block_size), len(table))):
        numbers = [i * state.block_size + place for place in range(state.block_size)]
        tokens = " ".join(f"{number:>2}" if number < seq_len else " ·" for number in numbers)
        where = f"-> {table[i]}" if i < len(table) else say("-> nowhere", "-> 没有去处")
        lines.append(f"  {tokens} | {name}[{i}] {where}")
    return "\n".join([*lines, *(f"  {line}" for line in told)])

# -------------------- stepper --------------------
# One story moved forward and back in place: radio buttons and a style sheet, so it works wherever HTML is shown.


counter = itertools.count()


def stepper(steps: list[str], frames: list[Figure]) -> Figure:
    """Return the frames one at a time, chosen from the list of steps; the last is shown first, on paper all are.

    The buttons of a group move with the arrow keys by themselves. Where styles are not shown, the frames stand in a row.
    """
    text = side_by_side(frames).text
    if len(frames) < 2:
        return side_by_side(frames)
    name = f"s{crc32(text.encode()):08x}{next(counter)}"
    last = len(frames) - 1
    rules, choices, pictures = [], [], []
    for i, (step, picture) in enumerate(zip(steps, frames, strict=True)):
        checked = " checked" if i == last else ""
        choices.append(
            f'<label style="display:block"><input type="radio" name="{name}" value="{i}"{checked}> '
            f"<code>{html.escape(step)}</code></label>"
        )
        pictures.append(f'<div class="f{i}">{picture.markup}</div>')
        rules.append(f'#{name}:has(input[value="{i}"]:checked) .f{i}{{display:block}}')
    style = (
        f"@media screen{{#{name} .frames>div{{display:none}}{''.join(rules)}}}"
        f"@media print{{#{name} .frames{{display:flex;flex-wrap:wrap;gap:16px}}}}"
        f"#{name} label:has(:checked){{font-weight:bold}}"
    )
    hint = say("Step by step: click, or use the arrow keys ↑ ↓.", "逐步查看：点选某一步，或用方向键 ↑ ↓。")
    markup = (
        f'<div id="{name}" style="display:flex;flex-wrap:wrap;gap:8px 28px"><style>{style}</style>'
        f'<fieldset style="border:0;margin:0;padding:0;min-width:0"><legend style="padding:0;font-size:90%">{hint}</legend>'
        f'{"".join(choices)}</fieldset><div class="frames" style="min-width:0;max-width:100%">{"".join(pictures)}</div></div>'
    )
    return Figure(text, markup)

# -------------------- play --------------------
# ``play``: a story of the student's own, drawn step by step, with what their code made of it.


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

# -------------------- why_open --------------------
# Why a TODO counts as open: not run, not Python, not part of the class, or its raise line is still there.


def why_undefined(question: str) -> str:
    """Say why a function does not exist: its cell was not run, or does not compile."""
    name = FUNCTIONS[question]
    broken = syntax_error(name)
    if broken:
        return say(f"the cell of TODO {question[1:]} is not Python yet. {broken}",
                   f"TODO {question[1:]} 的单元格还不是合法的 Python。{broken}")  # fmt: skip
    if undecorated(name):
        return say(f"{name} is not part of the class: the line @add_to_class(KVCacheManager) above it is missing.",
                   f"{name} 还不在类里：它上面少了 @add_to_class(KVCacheManager) 这一行。")  # fmt: skip
    return say(f"{name} is not defined. Run its cell (again), after the one with the classes; its name has to stay.",
               f"{name} 还没有定义。请在运行定义类的单元格之后，（重新）运行它的单元格；函数名不能改。")  # fmt: skip


def undecorated(name: str) -> bool:
    """Whether the function is there without the line that makes it a method."""
    try:
        return not inspect.getsource(notebook.names[name]).startswith("@")
    except (KeyError, OSError, TypeError):
        return False


def syntax_error(name: str) -> str:
    """Return where the last cell that tried to define the function is no Python, or ""."""
    tried = [source for source in notebook.names.get("In", []) if f"def {name}(" in source]
    try:
        compile(tried[-1] if tried else "", "<cell>", "exec")
    except SyntaxError as error:
        return say(f"Line {error.lineno}: {(error.text or '').strip()} ({error.msg})",
                   f"第 {error.lineno} 行：{(error.text or '').strip()}（{error.msg}）")  # fmt: skip
    return ""


def why_open(question: str) -> str:
    """Say why a TODO counts as open: its raise line is there, or was there when the cell last ran."""
    broken = syntax_error(FUNCTIONS[question])
    if broken:
        return why_undefined(question)
    if not_what_is_saved(question):
        return say(f"not attempted. The cell of TODO {question[1:]} has been changed: run it again.",
                   f"尚未作答。TODO {question[1:]} 的单元格改过了：请重新运行它。")  # fmt: skip
    return say(f"not attempted. TODO {question[1:]} still has its raise line; delete it once the rest is filled in, "
               "and run the cell again.",
               f"尚未作答。TODO {question[1:]} 里还留着 raise 那一行；填好其余部分后请把它删掉，再运行一次这个单元格。")  # fmt: skip


def not_what_is_saved(question: str) -> bool:
    """Whether the notebook's file is there and does not hold the function as it was run."""
    saved = notebook.saved_code()
    return bool(saved) and saved_otherwise(saved, question) in ("gone", "changed")


def saved_otherwise(saved: str, question: str) -> str:
    """Compare the saved code with the function as it was run: "gone", "changed", "below" where a lower cell wins, or ""."""
    own = f"\ndef {FUNCTIONS[question]}("  # not indented: a stretch class has methods of the same name
    try:
        run = inspect.getsource(function_of(question) or len).strip()
    except (OSError, TypeError):
        return ""
    _, found, after = saved.rpartition(run)
    if found:
        return "below" if own in after else ""
    return "changed" if own in f"\n{saved}" else "gone"

# -------------------- check --------------------
# The public checks: passed, failed with rule, story, line and picture, not attempted, or waiting.


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

# -------------------- device_watch --------------------
# What a read on a GPU must not do, noticed on PyTorch's ``meta`` device in the words of the graded report.


_WAITS = ("_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero", "_unique", "_unique2")
_INDEXING = ("index", "index_put", "index_put_", "_index_put_impl_")
_MASKS = (torch.bool, torch.uint8)


class LeavesDeviceError(Exception):
    """An operation that costs points on a GPU; ``kind`` is the one that the report names."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class DeviceWatch(TorchDispatchMode):  # type: ignore[misc]
    """While active, stop at the first operation that would not stay on the pool's device."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kind = kind_of_event(function._schema.name.removeprefix("aten::"), args, kwargs or {})
        if kind:
            raise LeavesDeviceError(kind)
        return function(*args, **(kwargs or {}))


class PrintWatch(TorchFunctionMode):  # type: ignore[misc]
    """While active, stop where a tensor is printed: a GPU copies it to the host for that, ``meta`` does not."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(function, "__name__", "") in ("__repr__", "__format__") and _on_meta(args[0]):
            raise LeavesDeviceError("copy")
        return function(*args, **(kwargs or {}))


def kind_of_event(name: str, args: Any, kwargs: dict[str, Any]) -> str:
    """Return which fault an operation of torch would be on a GPU, "" for none."""
    tensors = [value for value in _flat(args) if isinstance(value, torch.Tensor)]
    if name == "_to_copy":
        leaves = _on_meta(tensors[0]) and torch.device(kwargs.get("device") or "meta").type == "cpu"
        return "copy" if leaves else ""
    if name == "copy_":
        return "elsewhere" if _on_meta(tensors[1]) and not _on_meta(tensors[0]) else ""
    if not any(map(_on_meta, tensors)):
        return ""
    indices = tensors[1:] if name in _INDEXING and _on_meta(tensors[0]) else []
    hosted = [tensor for tensor in tensors if not _on_meta(tensor) and tensor.dim() > 0]
    if hosted:
        return "index" if indices else "mixed"
    waits = name in _WAITS or any(index.dtype in _MASKS for index in indices)
    return "sync" if waits else ""


def _on_meta(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == "meta"


def _flat(value: Any) -> list[Any]:
    return [part for item in value for part in _flat(item)] if isinstance(value, (list, tuple)) else [value]


def kind_of_refusal(error: Exception) -> str:
    """Return which fault it is that torch reports by refusing it, "" for another kind of error."""
    if isinstance(error, LeavesDeviceError):
        return error.kind
    if "to numpy" in str(error):
        return "copy"
    if "Tensor.item() cannot be called on meta" in str(error):
        return "sync"
    return "mixed" if "same device" in str(error) or "is not on the expected device" in str(error) else ""


def device_fault(kind: str) -> tuple[str, str]:
    """Return the sentence and the advice of the graded report for a fault."""
    return {
        "copy": (
            say("Data was copied from the device to the host.", "有数据从设备拷回了主机。"),
            say("Look for .cpu(), .numpy(), .tolist(), .item(), print() of a tensor, and tensors used in an if.",
                "找找 .cpu()、.numpy()、.tolist()、.item()、打印张量，以及用在 if 里的张量。"),
        ),
        "sync": (
            say("The call made the host wait for the device.", "这次调用让主机停下来等设备。"),
            say("Everything that looks at a tensor's value waits: .item(), bool(tensor), print().",
                "凡是要看张量数值的操作都会等待：.item()、bool(张量)、print()。"),
        ),
        "elsewhere": (
            say("The result does not lie on the pool's device.", "结果不在池所在的设备上。"),
            say("Look for tensors made without device=, and for .cpu().",
                "找找新建时没有写 device= 的张量，还有 .cpu()。"),
        ),
        "index": (
            say("A tensor on the device was indexed with a tensor on the host, which makes the device wait for a "
                "hidden copy.", "用主机上的张量去索引设备上的张量，会暗中拷贝一次，让设备等待。"),
            say("Create the index with device=self.physical_kv_cache.device, or use the block table itself.",
                "新建下标张量时写上 device=self.physical_kv_cache.device，或者直接用块表做下标。"),
        ),
        "mixed": (
            say("Tensors on different devices met in one operation.", "不同设备上的张量出现在同一个运算里。"),
            say("Give a new tensor the pool's device, or index with plain Python integers.",
                "新建张量时使用池的 device，或者用普通的 Python 整数做下标。"),
        ),
        "dtype": (
            say("The result does not have the pool's dtype.", "结果的 dtype 与池不同。"),
            say("Look for .float(), .half() and for new tensors that are made without dtype=.",
                "找找 .float()、.half()，以及新建时没有写 dtype= 的张量。"),
        ),
    }[kind]  # fmt: skip

# -------------------- examples --------------------
# Stories with the outcome that a student expects, tried on right and wrong allocators before any code is written.
#
# Stories are plain data, so the grader judges them with this very module, and runs no student's code for it.


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

# -------------------- waste --------------------
# Two ways to reserve memory, compared: max_len slots for every request, or just the blocks its tokens lie in.


def reservations(lengths: list[int], max_len: int, block_size: int) -> tuple[list[int], list[int]]:
    """Return the slots that each request reserves: in one piece, and in blocks."""
    paged = [len({token // block_size for token in range(length)}) * block_size for length in lengths]
    return [max_len] * len(lengths), paged


def shares(lengths: list[int], max_len: int, block_size: int) -> tuple[float, float]:
    """Return the share of the reserved memory that is used: in one piece, and in blocks."""
    one_piece, paged = reservations(lengths, max_len, block_size)
    return sum(lengths) / sum(one_piece), sum(lengths) / sum(paged)


def waste(lengths: list[int], max_len: int, block_size: int) -> None:
    """Draw both plans: a bar per request, its frame is what is reserved and its filling what is used."""
    listed = isinstance(lengths, (list, tuple)) and len(lengths) > 0
    if not (listed and whole(block_size) > 0 and all(0 < whole(length) <= whole(max_len) for length in lengths)):
        emit(say("waste takes a list of lengths, each from 1 to max_len, and a block_size of at least 1: "
                 "waste(lengths=[37, 512], max_len=2048, block_size=16).",
                 "waste 要一个长度列表（每个从 1 到 max_len）和不小于 1 的 block_size："
                 "waste(lengths=[37, 512], max_len=2048, block_size=16)。"))  # fmt: skip
        return
    texts, figures = [], []
    plans = (say("contiguous", "连续预留"), say(f"blocks of {block_size}", f"每块 {block_size} 个"))
    for plan, reserved in zip(plans, reservations(lengths, max_len, block_size), strict=True):
        share = sum(lengths) / sum(reserved)
        title = say(
            f"{plan}: {sum(reserved)} slots reserved, {sum(lengths)} used ({share:.0%})",
            f"{plan}：预留 {sum(reserved)} 个槽位，用了 {sum(lengths)} 个（{share:.0%}）",
        )
        texts.append(title)
        bars = []
        for row, (length, room) in enumerate(zip(lengths, reserved, strict=True)):
            used, held, y = length * 44 // max_len, room * 44 // max_len, row * 20
            box = f'<rect x="52" y="{y + 1}" height="14"'
            texts.append(f"{length:6} {'#' * used}{'.' * (held - used)}")
            bars.append(
                f'<text x="44" y="{y + 13}" text-anchor="end">{length}</text>'
                f'{box} width="{room * 300 / max_len}" fill="none" stroke="currentColor"/>'
                f'{box} width="{length * 300 / max_len}" fill="currentColor" opacity=".65"/>'
            )
        label = html.escape(title)
        figures.append(
            f'<figure style="margin:0;max-width:100%"><figcaption>{label}</figcaption><svg role="img" aria-label="{label}" '
            f'viewBox="0 0 360 {20 * len(lengths)}" width="360" style="max-width:100%;height:auto" font-size="12" '
            f'fill="currentColor">{"".join(bars)}</svg></figure>'
        )
    boxes = "".join(figures)
    emit(Figure("\n".join(texts), f'<div style="display:flex;flex-wrap:wrap;gap:16px 28px">{boxes}</div>'))

# -------------------- guess --------------------
# Predictions: typed into the notebook, answered by the student's own code once it is right, never graded.


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

# -------------------- ready --------------------
# Whether TODO 4 would work on a GPU, found out without one.


def readiness() -> Outcome:
    """Read from a pool on PyTorch's ``meta`` device, and say what the graded report would say of a GPU."""
    try:
        manager = new_manager(4, 2, 3, dtype=torch.bfloat16, device="meta")
        req = notebook.names["Request"](0, 3)
        req.block_table = [3, 1]
    except (StoryError, TypeError) as error:
        return Outcome("GPU", "not attempted", say(f"cannot be tried yet: {error}", f"还不能试：{error}"))
    if not hasattr(manager, "get_physical_cache"):
        return Outcome("GPU", "waiting", say("waiting for TODO 4.", "要等 TODO 4 完成。"))
    try:
        with DeviceWatch(), PrintWatch():
            cache = manager.get_physical_cache(req)
    except Exception as error:
        if is_open_todo(error):
            return Outcome("GPU", "waiting", say(f"waiting for {error}.", f"要等 {error} 完成。"))
        return _not_ready(kind_of_refusal(error), guilty_line(error), error)
    if not isinstance(cache, torch.Tensor):
        got = type(cache).__name__
        return Outcome("GPU", "failed", say(f"not ready: the read returns {got}, no tensor.",
                                            f"还不行：读出的是 {got}，不是张量。"))  # fmt: skip
    if cache.device != manager.physical_kv_cache.device:
        return _not_ready("elsewhere")
    if cache.dtype != torch.bfloat16:
        return _not_ready("dtype")
    if list(cache.shape) != [3, 3]:
        return Outcome("GPU", "failed", say(f"not ready: the shape is {list(cache.shape)}, should be [3, 3].",
                                            f"还不行：形状是 {list(cache.shape)}，应为 [3, 3]。"))  # fmt: skip
    return Outcome("GPU", "passed", say("Ready for a GPU.", "可以上 GPU。"))


def _not_ready(kind: str, line: str = "", error: Any = None) -> Outcome:
    sentence, advice = device_fault(kind) if kind else (f"{type(error).__name__}: {error}", "")
    told = [say("not ready: ", "还不行：") + sentence]
    told += [say("In ", "出错在") + line] if line else []
    return Outcome("GPU", "failed", "\n".join([*told, *([advice] if advice else [])]))

# -------------------- grader --------------------
# Otter's grader with words and pictures: check one, check all, export.


sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # grammars that take seconds, for no check here
otter: Any = importlib.import_module("otter")


class Grader(otter.Notebook):  # type: ignore[misc]
    """Otter's grader; the public tests travel with the lesson, and results come in words and pictures."""

    def __init__(self) -> None:
        self._tests = tempfile.TemporaryDirectory(prefix="public_tests_")  # goes away with the kernel
        for question in QUESTIONS:
            test = (
                "from otter.test_files import test_case\n\n"
                f"OK_FORMAT = False\nname = {question!r}\npoints = 1\n\n\n"
                "@test_case()\ndef test_public_cases(public_check):\n"
                f"    outcome = public_check({question!r})\n"
                "    assert outcome.status == 'passed', outcome\n"
            )
            Path(self._tests.name, f"{question}.py").write_text(test, "utf-8")
        super().__init__(tests_dir=self._tests.name)

    def begin(self, names: dict[str, Any], language: str) -> None:
        """Say whose definitions are checked, and in which language ("en" or "zh") the lesson speaks."""
        notebook.names, notebook.language = names, language

    def check(self, question: str, global_env: dict[str, Any] | None = None) -> None:
        """Run the public tests of one question and show the result."""
        outcome = self._outcome(question)
        emit(outcome)
        if outcome.status != "passed":
            return
        if question == "q4" and (device := readiness()).status == "failed":
            emit(device)
        if compared := answers(question):
            emit(compared)

    def check_all(self) -> None:
        """Run all public tests: a line of progress, then what is not right yet."""
        started = time.perf_counter()
        outcomes = [*map(self._outcome, QUESTIONS), readiness()]
        took = time.perf_counter() - started
        emit(progress(outcomes) + say(f" ({took:.1f} s)", f"（用时 {took:.1f} 秒）"))
        emit(Figure("\n\n".join(o.text for o in outcomes), "".join(o.markup for o in outcomes)))

    def ready(self) -> None:
        """Say whether TODO 4 is ready for a GPU."""
        emit(readiness())

    def export(self) -> None:
        """Write the zip to submit, look inside whether it holds what you ran, and say what is not right yet."""
        path = notebook.path()
        if path is None:
            emit(say("The notebook's file is not here (Colab, or several notebooks in this folder?): choose "
                     "File > Download > .ipynb and submit that file.",
                     "这里找不到 notebook 文件（是在 Colab，还是这个文件夹里有好几个 notebook？）："
                     "请用 文件 > 下载 > .ipynb，并提交该文件。"))  # fmt: skip
        elif path.suffix == ".py":
            emit(say(f"Submit {path.name} itself.", f"请直接提交 {path.name}。"))
        else:
            try:
                if self._packed(path):
                    emit(link(path.stem))
            except (OSError, ValueError) as error:
                emit(say(f"The zip cannot be written ({error}): save (Ctrl+S) and run this cell again, or submit "
                         f"{path.name} itself.",
                         f"写不出 zip（{error}）：请保存（Ctrl+S）后重新运行这个单元格，或者直接提交 {path.name}。"))  # fmt: skip
        self._remind()

    def _outcome(self, question: str) -> Outcome:
        latest: list[Outcome] = []

        def record(name: str) -> Outcome:
            latest.append(public_check(name))
            return latest[-1]

        if question in QUESTIONS:
            super().check(question, {"public_check": record})
        return latest[-1] if latest else public_check(question)

    def _packed(self, path: Path) -> bool:
        target = f"{path.stem}.zip"
        with contextlib.chdir(path.parent):
            super().export(nb_path=path.name, export_path=target, pdf=False, ignore_log=True, display_link=False)
            with zipfile.ZipFile(target) as archive:
                saved = code_of(archive.read(path.name))
        missing = "class KVCacheManager" not in saved or "class Request" not in saved
        if missing:
            emit(say("The classes of Step 4 are not in the saved file; grading needs them. Put their cell back as it was "
                     "handed out, save (Ctrl+S) and export again.",
                     "保存的文件里没有 Step 4 的两个类，评分要用到它们。请把那个单元格按下发时的样子放回去，保存（Ctrl+S）后重新导出。"))  # fmt: skip
        found: dict[str, list[str]] = {}
        for question in FUNCTIONS:
            found.setdefault(saved_otherwise(saved, question), []).append(f"TODO {question[1:]}")
        told = [
            advice(say(", ", "、").join(todos))
            for kind, advice in SAVED_OTHERWISE.items()
            if (todos := found.get(kind))
        ]
        for sentence in told:
            emit(sentence)
        return not missing and not told

    def _remind(self) -> None:
        """Name what would lose points: failing checks (broken on purpose?), open TODOs, a read that is not ready."""
        outcomes = [*map(public_check, QUESTIONS), readiness()]
        lines = [progress(outcomes)]
        for outcome in outcomes:
            what = f"TODO {outcome.question[1:]}" if outcome.question in FUNCTIONS else outcome.question
            if outcome.status == "failed":
                lines.append(say(f"✗ {what} fails its public check; still broken on purpose?",
                                 f"✗ {what} 没有通过公开检查；是故意弄坏之后忘了改回来吗？"))  # fmt: skip
            elif outcome.question in FUNCTIONS and function_of(outcome.question) is None:
                lines.append(f"○ {what}: {outcome.words}")
            elif outcome.status == "not attempted" and outcome.question in FUNCTIONS:
                lines.append(say(f"○ {what} is still open.", f"○ {what} 还没有完成。"))
        emit("\n".join(lines))


SAVED_OTHERWISE: dict[str, Callable[[str], str]] = {  # what to do where the saved file is not what was run
    "changed": lambda todos: say(
        f"{todos} in the saved file is not what you ran: save (Ctrl+S) and export again.",
        f"保存的文件里，{todos} 和你运行的不一样：请保存（Ctrl+S）后重新导出。",
    ),
    "gone": lambda todos: say(
        f"{todos} is not in the saved file: write its function into a cell again, save (Ctrl+S) and export again.",
        f"保存的文件里没有 {todos}：请把它的函数重新写进一个单元格，保存（Ctrl+S）后重新导出。",
    ),
    "below": lambda todos: say(
        f"{todos} stands in the notebook twice, and the lower cell, which counts, is not what you ran last: delete the "
        "one you do not mean, save (Ctrl+S) and export again.",
        f"{todos} 在 notebook 里有两份，算数的是靠下的那一份，而你最后运行的不是它：请删掉不要的那份，保存（Ctrl+S）后重新导出。",
    ),
}


def progress(outcomes: list[Outcome]) -> str:
    """Return how many of the five checks pass, in one line."""
    passed = sum(outcome.status == "passed" for outcome in outcomes if outcome.question in QUESTIONS)
    bar = "█" * passed + "░" * (len(QUESTIONS) - passed)
    return say(f"{bar} {passed} of {len(QUESTIONS)} public checks pass",
               f"{bar} {len(QUESTIONS)} 项公开检查通过了 {passed} 项")  # fmt: skip


def link(stem: str) -> Figure:
    """Return the sentence that names the zip to submit, with a link to download it."""
    done = say(f"Submit {stem}.zip.", f"请提交 {stem}.zip。")
    return Figure(done, f'<a href="{html.escape(stem)}.zip" download>{html.escape(done)}</a>')


grader = Grader()

# -------------------- life --------------------
# The life of three requests, typed in by hand: what Steps 2 and 3 look at before any code is written.


_LIFE: list[tuple[str, tuple[int, ...], Tables]] = [  # event, free blocks, what each request holds
    ("A prefill 6", (2, 3, 4), {"A": ((0, 1), 6)}),
    ("B prefill 4", (3, 4), {"A": ((0, 1), 6), "B": ((2,), 4)}),
    ("A decode 3", (4,), {"A": ((0, 1, 3), 9), "B": ((2,), 4)}),
    ("B release", (2, 4), {"A": ((0, 1, 3), 9), "B": ((), 4)}),
    ("C prefill 7", (), {"A": ((0, 1, 3), 9), "B": ((), 4), "C": ((2, 4), 7)}),
]


def moments() -> list[tuple[str, Snapshot]]:
    """Return the five moments with their events: a pool of five blocks with four slots each."""
    return [
        (event, Snapshot(5, 4, free, tables, frozenset(name for name in tables if tables[name][0])))
        for event, free, tables in _LIFE
    ]


def life() -> None:
    """Show the life, one moment after the other."""
    states = [Snapshot(5, 4, (0, 1, 2, 3, 4), {}), *(state for _, state in moments())]
    frames = [frame(event, state, before) for (event, state), before in zip(moments(), states, strict=False)]
    emit(stepper([event for event, *_ in _LIFE], frames))


def follow(name: str, token: int) -> None:
    """Draw the way of one token at the end of that life: logical block, entry of the block table, slot of the pool."""
    state = moments()[-1][1]
    if name in state.live and type(token) is int:
        emit(diagram(state, name, token))
    else:
        there = say(" or ", " 或 ").join(sorted(state.live))
        emit(
            say(f'At the end there is {there}: follow("A", token=8).', f'这时还在的是 {there}：follow("A", token=8)。')
        )

# -------------------- serving --------------------
# A small server over the student's own allocator: what the size of a block does to a day of requests.


SLOTS, MAX_LEN, TICKS = 2048, 256, 200


class Day(NamedTuple):
    """What one run of the server came to, on average over its ticks."""

    block_size: int
    admitted: float
    utilization: float
    preempted: int
    longest_table: int


def serve(block_sizes: tuple[int, ...] = (1, 4, 16, 64, 256)) -> None:
    """Serve the same requests with blocks of each size out of the same memory, and plot what came of it.

    A block of ``max_len`` (256) tokens is one reservation in a row: what servers did before.
    """
    listed = isinstance(block_sizes, (list, tuple)) and len(block_sizes) > 0
    if not (listed and all(1 <= whole(size) <= MAX_LEN for size in block_sizes)):
        emit(say(f"block_sizes is a list of sizes, each from 1 to {MAX_LEN}: serve(block_sizes=(4, 16)).",
                 f"block_sizes 是一列块大小，每个从 1 到 {MAX_LEN}：serve(block_sizes=(4, 16))。"))  # fmt: skip
        return
    days = [day(size) for size in block_sizes]
    emit(Figure(table(days), plot(days)))


def day(block_size: int) -> Day:
    """Run the server for a while: each tick admits whom it can, and gives every running request one token more."""
    manager = new_manager(SLOTS // block_size, block_size, 1)
    arrivals = random.Random(7)
    running: list[tuple[Any, int]] = []  # a request and the length at which it is finished
    waiting: list[tuple[int, int]] = []  # prompt and final length of those that were preempted
    admitted, shares, preempted, longest, number = 0, 0.0, 0, 0, 0
    for _ in range(TICKS):
        while True:
            prompt, end = waiting.pop() if waiting else drawn(arrivals)
            req = notebook.names["Request"](number, prompt)
            if not granted(manager.allocate_for_prefill, req):
                waiting.append((prompt, end))
                break
            running.append((req, end))
            number += 1
        for req, end in list(running):
            if (req, end) not in running:
                continue
            while not granted(manager.allocate_for_decode, req):
                newest, its_end = running.pop()  # the newest goes back to the queue; what it had is computed again
                manager.release_request(newest)
                waiting.append((newest.seq_len, its_end))
                preempted += 1
                if newest is req:
                    break
            if req.block_table and req.seq_len >= end:
                running.remove((req, end))
                manager.release_request(req)
        reports = [manager.allocation_report(req) for req, _ in running]
        admitted += len(running)
        shares += sum(r["logical_tokens"] for r in reports) / max(1, sum(r["allocated_tokens"] for r in reports))
        longest = max([longest, *(len(req.block_table) for req, _ in running)])
    return Day(block_size, admitted / TICKS, shares / TICKS, preempted, longest)


def drawn(arrivals: random.Random) -> tuple[int, int]:
    """Return the prompt and the final length of the next request: many short ones, few long ones."""
    prompt = arrivals.choice((8, 15, 24, 40, 90))
    return prompt, min(MAX_LEN, prompt + 1 + int(arrivals.expovariate(1 / 40)))


def granted(call: Any, req: Any) -> bool:
    """Whether the call gave the request what it needs; an OOM is a no."""
    try:
        call(req)
    except RuntimeError as error:
        if "OOM" in str(error):
            return False
        raise
    return True


def table(days: list[Day]) -> str:
    """Return the figures as lines of text."""
    lines = [
        say(
            f"blocks of {d.block_size:3}: {d.admitted:5.1f} requests at once, {d.utilization:4.0%} of the held slots used, "
            f"{d.preempted:3} preemptions, tables of up to {d.longest_table} entries",
            f"每块 {d.block_size:3} 个：平均同时服务 {d.admitted:5.1f} 个请求，占用的槽位用上了 {d.utilization:4.0%}，"
            f"抢占 {d.preempted:3} 次，块表最长 {d.longest_table} 项",
        )
        for d in days
    ]
    return "\n".join(lines)


def plot(days: list[Day]) -> str:
    """Return two small charts over the block size, as SVG; the figures as text where matplotlib is missing."""
    words = Figure(table(days)).markup
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return words + say("<p>For the charts: pip install matplotlib</p>", "<p>想看图：pip install matplotlib</p>")
    used = say("used slots, in % of those held", "占用的槽位用上了多少（%）")
    charts = [
        chart(days, say("requests at once", "同时服务的请求数"), [d.admitted for d in days], "#2563eb"),
        chart(days, used, [100 * d.utilization for d in days], "#c2410c"),
    ]
    return f'<div style="display:flex;flex-wrap:wrap;gap:16px 28px">{"".join(charts)}</div>{words}'


def chart(days: list[Day], title: str, heights: list[float], colour: str) -> str:
    """Return one bar chart over the block size as SVG; its words stand in the page, which has fonts for them."""
    import matplotlib
    import matplotlib.figure

    drawing = matplotlib.figure.Figure(figsize=(4, 2.4), layout="constrained")
    axes = drawing.subplots()
    axes.bar([str(d.block_size) for d in days], heights, color=colour)
    axes.set_xlabel("block_size")
    axes.spines[["top", "right"]].set_visible(False)
    image = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "lesson"}):
        drawing.savefig(image, format="svg", metadata={"Date": None})
    svg = image.getvalue()
    named = f'<svg role="img" aria-label="{title}" style="max-width:100%;height:auto"'
    svg = svg[svg.index("<svg") :].replace("<svg", named, 1)
    return f'<figure style="margin:0;max-width:100%"><figcaption><b>{title}</b></figcaption>{svg}</figure>'

# -------------------- stretch --------------------
# Checks of the two stretch exercises: ungraded, and as strict about leaving no trace.


class Wrong(Exception):
    """What a stretch exercise got wrong, in one sentence."""


def stretch() -> None:
    """Check both stretch exercises and say how each went."""
    for name, check in (("Stretch 1", _preempting), ("Stretch 2", _sharing)):
        emit(_outcome(name, check))


def _outcome(name: str, check: Callable[[], None]) -> Outcome:
    try:
        check()
    except Wrong as wrong:
        return Outcome(name, "failed", str(wrong))
    except KeyError as missing:
        return Outcome(
            name, "not attempted", say(f"run the cell of {missing} first.", f"请先运行 {missing} 的单元格。")
        )
    except Exception as error:
        if is_open_todo(error):
            return Outcome(name, "not attempted", say(f"waiting for {error}.", f"要等 {error} 完成。"))
        return Outcome(name, "failed", said(as_outcome(error)))
    return Outcome(name, "passed", say("all cases hold.", "全部用例通过。"))


def _expect(right: bool, en: str, zh: str) -> None:
    if not right:
        raise Wrong(say(en, zh))


def _refused(call: Callable[[], object]) -> bool:
    """Whether the call ends in an OOM."""
    try:
        call()
    except Exception as error:
        if is_open_todo(error):
            raise
        outcome = as_outcome(error)
        return isinstance(outcome, Raised) and outcome.kind == "OOM"
    return False


def _preempting() -> None:
    make_room, request = notebook.names["make_room"], notebook.names["Request"]
    manager = new_manager(6, 2, 1)
    running = [request(number, prompt) for number, prompt in enumerate((3, 4, 2))]
    for req in running:
        manager.allocate_for_prefill(req)
    oldest, middle, newest = running
    _expect(make_room(manager, running, 1) == [] and len(running) == 3,
            "One block was free already, and yet somebody was released.", "本来就空着一块，却还是释放了别人。")  # fmt: skip
    _expect(_refused(lambda: make_room(manager, running, 7)) and running == [oldest, middle, newest]
            and len(manager.free_blocks) == 1,
            "7 blocks can never be free in a pool of 6: OOM, and nobody released.",
            "池里只有 6 块，永远腾不出 7 块：应当 OOM，而且谁也不释放。")  # fmt: skip
    victims = make_room(manager, running, 3)
    _expect(victims == [newest, middle], "For 3 free blocks the two newest have to go, the newest first.",
            "要腾出 3 块，应当释放最新的两个请求，先释放最新的。")  # fmt: skip
    _expect(running == [oldest], "Who was released is not running any more.", "被释放的请求不应再算作运行中。")
    _expect(not newest.block_table and len(manager.free_blocks) == 4, "Their blocks have to be free again.",
            "它们的块应当回到空闲列表。")  # fmt: skip
    _expect(
        newest.seq_len == 2, "The length stays: this much has to be computed again.", "长度不变：要重算的就是这么多。"
    )


def _sharing() -> None:
    manager, request = notebook.names["SharingManager"](4, 4, 1), notebook.names["Request"]
    parent = request(0, 6)
    manager.allocate_for_prefill(parent)
    pool = manager.physical_kv_cache
    for place, block in enumerate(parent.block_table):
        pool[block] = 10 + place
    child = manager.fork(parent, 1)
    full, tail = parent.block_table
    _expect(child.seq_len == 6, "The child has its parent's 6 tokens.", "子请求应有和父请求一样的 6 个 token。")
    _expect(len(child.block_table) == 2, "6 tokens in blocks of 4 are two blocks: one shared, one the child's own.",
            "每块 4 个，6 个 token 是两块：一块共用，一块自己的。")  # fmt: skip
    _expect(child.block_table[0] == full, "The full block is shared, not copied.", "装满的块应当共用，不用复制。")
    _expect(child.block_table[1] not in parent.block_table, "The started block has to be the child's own: both go on "
            "writing there.", "没装满的块要各有一份：双方都还要往里写。")  # fmt: skip
    _expect(bool((pool[child.block_table[1]] == pool[tail]).all()), "The started block's tokens have to be copied.",
            "没装满的块里的 token 要复制过去。")  # fmt: skip
    _expect(len(manager.free_blocks) == 1, "Three blocks are in use by the two.", "两个请求一共用了三块。")
    manager.fork(parent, 2)
    free = list(manager.free_blocks)
    _expect(_refused(lambda: manager.fork(parent, 3)) and list(manager.free_blocks) == free
            and manager.users[full] == 3,
            "With no block free a fork is an OOM, and nothing changes, no count either.",
            "没有空闲块时 fork 应当 OOM，什么都不变，计数也不变。")  # fmt: skip
    manager.release_request(parent)
    _expect(full not in manager.free_blocks, "The shared block was freed while two still use it.",
            "还有两个请求在用，共用的块就被释放了。")  # fmt: skip
    _expect(tail in manager.free_blocks, "The parent's own block has to be free.", "父请求自己的块应当空出来。")
    manager.release_request(child)
    _expect(len(manager.free_blocks) == len(set(manager.free_blocks)) == 2, "Two blocks are free now, none twice.",
            "这时应有两块空闲，不能重复。")  # fmt: skip
