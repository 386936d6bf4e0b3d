"""The diagram of the block table: logical tokens, table and pool, and one token followed through ``//`` and ``%``."""

import html

from autograder.lesson.pool import RED, ROW, SIDE, cell, room
from autograder.lesson.speech import Figure, say
from autograder.lesson.state import Snapshot, slots

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
