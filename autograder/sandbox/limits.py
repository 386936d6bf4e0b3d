"""What one submission may use."""

from dataclasses import asdict, dataclass

MIB = 1 << 20
PACKAGES = ("torch", "numpy", "einops", "pandas")
"""What a submission can import and use, besides Python's own modules; the first two are there before it starts."""
INERT_PACKAGES = tuple(
    "IPython ipywidgets matplotlib nest_asyncio otter paged_lesson plotly requests seaborn tqdm".split()
)
"""What can be imported everywhere and does nothing: plots, widgets, progress bars (tqdm still goes over its items)."""
MOST_NOTES = 40
"""Of a notebook's faults so many are told; a thousand cells that fail alike need no thousand sentences."""
EXIT_MACHINE, EXIT_DEVICE = 88, 89
"""Exit statuses of a child: the machine lacks what grading needs; the device is unusable after a call's error."""


@dataclass(frozen=True)
class Limits:
    """Resources of one child; times are seconds, ``memory_bytes`` comes on top of what torch itself occupies.

    ``wall_s`` counts work, sleep and waits for a disk. The last ones are the budget of a whole submission:
    ``submission_s`` counts work and sleep of all its children and the grader's own work for it. Neither counts what a
    busy machine makes it wait; ``submission_wall_s`` counts everything, for what nobody has thought of, and lasts where
    the grader gets a thirtieth of a processor.
    """

    load_cpu_s: float = 1.5
    case_cpu_s: float = 2.0
    total_cpu_s: int = 60
    idle_s: float = 0.4
    wall_s: float = 10.0
    memory_bytes: int = 256 * MIB
    reply_bytes: int = 1 * MIB
    open_files: int = 64
    threads: int = 64
    file_bytes: int = 0
    locked_bytes: int = 0
    submission_s: float = 18.0
    submission_wall_s: float = 600.0
    submission_bytes: int = 32 * MIB

    def to_json(self) -> dict[str, float | int]:
        """Return the limits as plain JSON data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, float | int]) -> "Limits":
        """Rebuild the limits from what :meth:`to_json` returned."""
        return cls(**data)  # type: ignore[arg-type]
