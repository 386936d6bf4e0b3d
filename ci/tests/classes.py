"""Classes of students for tests: many submissions made from a few sources."""

from collections.abc import Iterable
from pathlib import Path

from autograder.intake.script import script_cells

ROOT = Path(__file__).resolve().parents[2]
MASTER = ROOT / "solutions" / "paged_attention.py"

DEFINITIONS = ("def estimate_kv_cache_bytes", "class KVCacheManager", "@add_to_class(KVCacheManager)")
IMPORTS = "from collections.abc import Callable\nfrom typing import Any\n\nimport torch"
CEILING = "needed_blocks = (req.seq_len + self.block_size - 1) // self.block_size"
NEEDS_BLOCK = "is_new_block_needed = req.seq_len == len(req.block_table) * self.block_size"


def solution(*replacements: tuple[str, str]) -> str:
    """Return the master's solution as one plain module, with each (old, new) pair replaced once."""
    source = module_of(script_cells(MASTER.read_text(encoding="utf-8")))
    for old, new in replacements:
        assert source.count(old) == 1, f"{old!r} stands {source.count(old)} times"
        source = source.replace(old, new)
    return source


def module_of(cells: Iterable[str]) -> str:
    """Return a notebook's definitions as one plain module."""
    return "\n\n\n".join([IMPORTS, *(cell for cell in cells if any(name in cell for name in DEFINITIONS))])


def make_class(folder: Path, size: int) -> Path:
    """Write ``size`` submissions: right ones, two kinds of wrong ones, and a file that cannot be graded."""
    folder.mkdir(parents=True)
    kinds = [
        solution(),
        solution((CEILING, "needed_blocks = req.seq_len // self.block_size")),
        solution((NEEDS_BLOCK, "is_new_block_needed = new_seq_len % self.block_size == 1")),
        "not python at all, and no notebook either {",
    ]
    for number in range(size):
        (folder / f"student-{number:03}.py").write_text(kinds[number % len(kinds)], encoding="utf-8")
    return folder
