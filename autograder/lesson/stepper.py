"""One story moved forward and back in place: radio buttons and a style sheet, so it works wherever HTML is shown."""

import html
import itertools
from zlib import crc32

from autograder.lesson.pool import side_by_side
from autograder.lesson.speech import Figure, say

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
