"""The diagram of the block table: logical tokens, table and pool with arrows, and one token followed through both.

It follows the diagram of the students' notebook. Drawn are small states only; of any other there is no diagram.
"""

from markupsafe import Markup, escape

from autograder.reporting import blockview
from autograder.reporting.blockview import LEFT, ROW, SIDE, Holder
from autograder.reporting.words import Words

MOST_BLOCKS, MOST_SLOTS = 12, 8
TOP, ENTRY = ROW, 36


def way(state: object, label: str, words: Words) -> list[str]:
    """Return the way of a request's last token into the pool, as the lines of a calculation; [] where there is none."""
    request, _, size = _drawable(state, label)
    if request is None:
        return []
    token = request.seq_len - 1
    block, place = token // size, token % size
    lines = [words.text("way.token", label=label, token=token, size=size, block=block, place=place)]
    if block >= len(request.table):
        return [*lines, words.text("way.none", block=block)]
    id_ = request.table[block]
    row = "?" if id_ is None else id_ * size + place
    return [*lines, words.text("way.row", block=block, id="?" if id_ is None else id_, size=size, place=place, row=row)]


def svg(state: object, label: str, words: Words) -> Markup:
    """Return the diagram of one request as an inline SVG element; nothing where it cannot be drawn."""
    request, num_blocks, size = _drawable(state, label)
    if request is None:
        return Markup()
    logical = max(-(-request.seq_len // size), len(request.table))
    table_x = max(size, 4) * SIDE + 44
    pool_x = table_x + ENTRY + 52
    followed = (request.seq_len - 1) // size
    parts = [
        _text(0, 0, words.text("way.tokens", label=label)),
        _text(table_x - 16, 0, words.text("way.table")),
        _text(pool_x + LEFT, 0, words.text("way.pool")),
    ]
    for i in range(logical):
        y, chosen = TOP + i * ROW, i == followed
        parts.append(_logical(request, i, size, y))
        if i < len(request.table):
            id_ = request.table[i]
            parts.append(_arrow(max(size, 4) * SIDE + 2, y, table_x - 18, y, chosen))
            parts.append(_entry(table_x, y, i, "?" if id_ is None else str(id_), chosen))
            if id_ is not None and 0 <= id_ < num_blocks:
                parts.append(_arrow(table_x + ENTRY + 2, y, pool_x - 4, TOP + id_ * ROW, chosen))
    drawn = blockview.picture(state, words)
    rows = [str(blockview.row(drawn, block)) for block in drawn.blocks]
    width = pool_x + LEFT + size * SIDE + 70
    height = TOP + max(logical, num_blocks) * ROW
    told = "; ".join(way(state, label, words))
    return Markup(
        f'<svg class="blocks" role="img" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        f"<title>{escape(words.text('way.title', label=label))}</title><desc>{escape(told)}</desc>{''.join(parts)}"
        f'<g transform="translate({pool_x} {TOP})">{"".join(rows)}</g></svg>'
    )


def _drawable(state: object, label: str) -> tuple[Holder | None, int, int]:
    request, num_blocks, size = blockview.holder_of(state, label)
    small = 0 < num_blocks <= MOST_BLOCKS and 0 < size <= MOST_SLOTS
    fits = request is not None and 0 < request.seq_len <= MOST_BLOCKS * size and 0 < len(request.table) <= MOST_BLOCKS
    return (request if small and fits else None), num_blocks, size


def _logical(request: Holder, i: int, size: int, y: int) -> str:
    cells = []
    for place in range(size):
        token, x = i * size + place, place * SIDE
        used = token < request.seq_len
        look = ("twice" if i >= len(request.table) else "used tint0") if used else "tail"
        cells.append(f'<rect class="{look}" x="{x + 1}" y="{y + 2}" width="{SIDE - 2}" height="{SIDE}"/>')
        if used:
            cells.append(f'<text class="{look} small" x="{x + SIDE // 2}" y="{y + 16}">{token}</text>')
        if token == request.seq_len - 1:
            cells.append(f'<rect class="chosen" x="{x + 1}" y="{y + 2}" width="{SIDE - 2}" height="{SIDE}"/>')
    return "".join(cells)


def _entry(x: int, y: int, i: int, id_: str, chosen: bool) -> str:
    look = ' class="chosen"' if chosen else ""
    return (
        f'{_text(x - 14, y, str(i))}<rect{look} x="{x}" y="{y + 2}" width="{ENTRY}" height="{SIDE}"/>'
        f'<text class="entry" x="{x + ENTRY // 2}" y="{y + 17}">{escape(id_)}</text>'
    )


def _arrow(x1: int, y1: int, x2: int, y2: int, chosen: bool) -> str:
    start, end, bend = y1 + ROW // 2, y2 + ROW // 2, (x2 - x1) // 2
    look = "arrow chosen" if chosen else "arrow"
    return (
        f'<path class="{look}" d="M{x1} {start} C{x1 + bend} {start} {x2 - bend} {end} {x2 - 5} {end}"/>'
        f'<path class="{look} head" d="M{x2} {end} l-7 -4 v8 z"/>'
    )


def _text(x: int, y: int, line: str) -> str:
    return f'<text x="{x}" y="{y + 15}">{escape(line)}</text>'
