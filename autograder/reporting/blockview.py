"""The picture of the blocks: who holds which slots of the pool, as text and as inline SVG.

A state is ``{"num_blocks", "block_size", "free": [ids], "requests": {label: {"seq_len", "table": [ids]}}}``, as
observed from a submission; so it may hold anything, and whatever it holds, the picture stays small and harmless.

The picture follows the one that students draw in their notebook, one row per block and one symbol per slot::

    0 |A A A A| A[1]          all slots used by request A; this is entry 1 of A's block table
    1 |A A . .| A[2]          two slots used, two of tail waste
    2 |       | free
    3 |! ! ! !| A[0] free     claimed twice
    4 |? ? ? ?| lost          neither held nor free
    ∅ |A A| 2 tokens of A     more tokens than its blocks have slots
    A: 10 tokens, block table [3, 0, 1]
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from autograder.reporting.words import Words

MOST_BLOCKS = 32
MOST_SLOTS = 16
MOST_REQUESTS = 16
MOST_IDS_READ = 4096
MOST_IDS_SHOWN = 16
LARGEST = 10**9
SIDE, ROW, LEFT, GAP, TINTS = 20, 24, 28, 8, 4
NARROW, WIDE = 8, 14
LOOKS = {".": "tail", " ": "free", "!": "twice", "?": "lost"}


@dataclass(frozen=True)
class Holder:
    """A request as far as it can be drawn; an id that is no small integer is None."""

    label: str
    seq_len: int
    table: tuple[int | None, ...]


@dataclass(frozen=True)
class Block:
    """One row of the picture: a symbol per drawn slot, and the claims on the block in words."""

    number: int
    symbols: tuple[str, ...]
    claims: str


@dataclass(frozen=True)
class Picture:
    """What is drawn, and how much more there would be."""

    blocks: tuple[Block, ...]
    lines: tuple[str, ...]
    labels: tuple[str, ...]
    homeless: tuple[tuple[str, int], ...] = ()


def holder_of(state: object, label: str) -> tuple[Holder | None, int, int]:
    """Return one request of ``state`` as far as it can be drawn, with the number of blocks and their size."""
    data: Mapping[Any, Any] = state if isinstance(state, dict) else {}
    found = next((request for request in _requests(data.get("requests")) if request.label == label), None)
    return found, _count(data.get("num_blocks")), _count(data.get("block_size"))


def picture(state: object, words: Words) -> Picture:
    """Return what can be drawn of ``state``: no blocks at all when it makes no sense."""
    data: Mapping[Any, Any] = state if isinstance(state, dict) else {}
    num_blocks, block_size = _count(data.get("num_blocks")), _count(data.get("block_size"))
    if not num_blocks or not block_size:
        return Picture((), (words.text("picture.nothing"),), ())
    requests, free = _requests(data.get("requests")), _ids(data.get("free"))
    shown = range(min(num_blocks, MOST_BLOCKS))
    blocks = tuple(_block(number, block_size, free, requests, words) for number in shown)
    lines = [_table(request, words) for request in requests]
    if num_blocks > MOST_BLOCKS:
        lines.insert(0, words.text("picture.more", count=num_blocks - MOST_BLOCKS))
    homeless = [(r.label, r.seq_len - len(r.table) * block_size) for r in requests if r.table]
    labels = tuple(request.label for request in requests)
    return Picture(blocks, tuple(lines), labels, tuple((label, count) for label, count in homeless if count > 0))


def _block(
    number: int, block_size: int, free: tuple[int | None, ...], requests: tuple[Holder, ...], words: Words
) -> Block:
    slots, more = min(block_size, MOST_SLOTS), "… " if block_size > MOST_SLOTS else ""
    places = [(request, i) for request in requests for i, id_ in enumerate(request.table) if id_ == number]
    claims = [f"{request.label}[{i}]" for request, i in places]
    claims += [words.text("picture.free")] * free.count(number)
    if not claims:
        return Block(number, ("?",) * slots, more + words.text("picture.lost"))
    label = more + " ".join(claims[:3]) + (" …" if len(claims) > 3 else "")
    if len(claims) > 1:
        return Block(number, ("!",) * slots, label)
    if not places:
        return Block(number, (" ",) * slots, label)
    request, place = places[0]
    used = request.seq_len - place * block_size
    return Block(number, tuple(request.label if slot < used else "." for slot in range(slots)), label)


def _requests(data: object) -> tuple[Holder, ...]:
    if not isinstance(data, dict):
        return ()
    return tuple(
        Holder(_label(label), _count(r.get("seq_len")), _ids(r.get("table")))
        for label, r in list(data.items())[:MOST_REQUESTS]
        if isinstance(r, dict)
    )


def _label(label: object) -> str:
    return "".join(c if c.isprintable() else "?" for c in str(label)[:3])


def _ids(data: object) -> tuple[int | None, ...]:
    if not isinstance(data, (list, tuple)):
        return ()
    return tuple(x if type(x) is int and abs(x) <= LARGEST else None for x in data[:MOST_IDS_READ])


def _count(value: object) -> int:
    return max(0, min(LARGEST, value)) if type(value) is int else 0


def _table(request: Holder, words: Words) -> str:
    ids = ["?" if id_ is None else str(id_) for id_ in request.table[:MOST_IDS_SHOWN]]
    more = ["…"] if len(request.table) > MOST_IDS_SHOWN else []
    return words.text("picture.table", label=request.label, ids=", ".join(ids + more), tokens=request.seq_len)


def text(state: object, words: Words) -> str:
    """Return the picture as lines of plain text, readable without colour."""
    drawn = picture(state, words)
    width = max((len(label) for label in drawn.labels), default=1)
    rows = [f"{b.number:4} |{' '.join(s.ljust(width) for s in b.symbols)}| {b.claims}" for b in drawn.blocks]
    rows += [f"   ∅ |{' '.join([label] * min(count, MOST_SLOTS))}| {_without_slot(label, count, words)}"
             for label, count in drawn.homeless]  # fmt: skip
    return "\n".join([*rows, *(f"     {line}" for line in drawn.lines)])


def svg(state: object, title: str, words: Words, before: object = None) -> Markup:
    """Return the picture as an inline SVG element; the page's style sheet gives it its colours.

    With the state ``before``, slots that have changed since are underlined.
    """
    drawn = picture(state, words)
    earlier = {block.number: block.symbols for block in picture(before, words).blocks} if before else {}
    rows = [row(drawn, block) + _moved(block, earlier) for block in drawn.blocks]
    lost = [
        Block(len(rows) + i, (label,) * min(count, MOST_SLOTS), _without_slot(label, count, words))
        for i, (label, count) in enumerate(drawn.homeless)
    ]
    rows += [row(drawn, block, "twice") for block in lost]
    lines = [_svg_text(0, len(rows) + i, line) for i, line in enumerate(drawn.lines)]
    widths = [_end(block) + _width(block.claims) for block in (*drawn.blocks, *lost)]
    widths += [_width(line) for line in drawn.lines]
    width, height = max(widths), (len(rows) + len(lines)) * ROW
    return Markup(
        f'<svg class="blocks" role="img" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
        f"<title>{escape(title)}</title><desc>{escape(text(state, words))}</desc>{''.join(rows + lines)}</svg>"
    )


def _without_slot(label: str, count: int, words: Words) -> str:
    return words.text("picture.homeless", label=label, count=count)


def row(drawn: Picture, block: Block, look: str = "") -> str:
    """Return one block as SVG: its number, its slots, its claims."""
    line = block.number
    cells = [_cell(drawn, LEFT + i * SIDE, line * ROW, symbol, look) for i, symbol in enumerate(block.symbols)]
    return _svg_text(0, line, "∅" if look else str(line)) + "".join(cells) + _svg_text(_end(block), line, block.claims)


def _moved(block: Block, earlier: Mapping[int, tuple[str, ...]]) -> str:
    changed = (new != old for new, old in zip(block.symbols, earlier.get(block.number, block.symbols), strict=False))
    y = block.number * ROW + SIDE - 2
    return "".join(
        f'<rect class="moved" x="{LEFT + i * SIDE + 3}" y="{y}" width="{SIDE - 6}" height="3"/>'
        for i, moved in enumerate(changed)
        if moved
    )


def _cell(drawn: Picture, x: int, y: int, symbol: str, look: str = "") -> str:
    look = look or LOOKS.get(symbol) or f"used tint{drawn.labels.index(symbol) % TINTS}"
    box = f'<rect class="{look}" x="{x + 1}" y="{y + 2}" width="{SIDE - 2}" height="{SIDE}"/>'
    mark = "·" if symbol == "." else symbol.strip()
    return box + (f'<text class="{look}" x="{x + SIDE // 2}" y="{y + 17}">{escape(mark)}</text>' if mark else "")


def _svg_text(x: int, number: int, line: str) -> str:
    return f'<text x="{x}" y="{number * ROW + 17}">{escape(line)}</text>'


def _end(block: Block) -> int:
    return LEFT + len(block.symbols) * SIDE + GAP


def _width(line: str) -> int:
    return sum(NARROW if c.isascii() else WIDE for c in line) + GAP
