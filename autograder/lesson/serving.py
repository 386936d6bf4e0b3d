"""A small server over the student's own allocator: what the size of a block does to a day of requests."""

import io
import random
from typing import Any, NamedTuple

from autograder.lesson.play import new_manager
from autograder.lesson.speech import Figure, emit, notebook, say
from autograder.lesson.state import whole

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
