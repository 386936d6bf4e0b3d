"""The picture of the pool: one row per block, one cell per slot, as text and as SVG."""

import html
import unicodedata

from autograder.lesson.speech import Figure, plural, say
from autograder.lesson.state import Snapshot, homeless, slots

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
