"""The life of three requests, typed in by hand: what Steps 2 and 3 look at before any code is written."""

from autograder.lesson.diagram import diagram
from autograder.lesson.pool import frame
from autograder.lesson.speech import emit, say
from autograder.lesson.state import Snapshot, Tables
from autograder.lesson.stepper import stepper

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
