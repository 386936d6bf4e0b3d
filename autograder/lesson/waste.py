"""Two ways to reserve memory, compared: max_len slots for every request, or just the blocks its tokens lie in."""

import html

from autograder.lesson.speech import Figure, emit, say
from autograder.lesson.state import whole


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
