"""An example's operations as the line that plays them in the student's notebook."""

from collections.abc import Sequence
from typing import Any

VERBS = ("prefill", "decode", "release", "read")
LARGEST = 64


def play_line(operations: Sequence[Sequence[Any]]) -> str:
    """Return ``play(...)`` for these operations; "" where the notebook's stories have no word for one of them."""
    pools = [operation for operation in operations if operation[0] == "new"]
    if len(pools) != 1 or not all(0 < size <= LARGEST for size in pools[0][2:4]):
        return ""
    num_blocks, block_size = pools[0][2:4]
    letters: dict[str, str] = {}
    prompts: dict[str, int] = {}
    begun: set[str] = set()
    steps: list[str] = []
    for name, *arguments in operations:
        if name in ("new", "fill"):
            continue
        if name == "request":
            label, _, prompts[label] = arguments
            letters[label] = chr(ord("A") + len(letters))
            continue
        label = arguments[0] if name == "place" else arguments[1] if len(arguments) > 1 else ""
        if label not in letters or len(letters) > 26:
            return ""
        if name == "place" or (name == "seize" and label not in begun):
            ids, tokens = arguments[-2:] if name == "place" else (arguments[2], prompts[label])
            if label in begun or not _fits(ids, tokens, num_blocks, block_size):
                return ""
            steps.append(" ".join(map(str, (letters[label], "hold", tokens, *ids))))
        elif name == "prefill" and label not in begun:
            steps.append(f"{letters[label]} prefill {prompts[label]}")
        elif name in VERBS and label in begun:
            steps.append(f"{letters[label]} {name}")
        else:
            return ""
        begun.add(label)
    told = ", ".join(f'"{step}"' for step in steps)
    return f"play({num_blocks}, {block_size}, {told})" if steps else ""


def _fits(ids: Sequence[int], tokens: int, num_blocks: int, block_size: int) -> bool:
    """Whether a story may put the tokens into these blocks by hand: different ones that exist, and just enough."""
    exist = len(set(ids)) == len(ids) and all(0 <= id_ < num_blocks for id_ in ids)
    return exist and tokens > 0 and 0 <= len(ids) * block_size - tokens < block_size
