"""Whether a line that this Python cannot read is one that a newer Python can."""

import re
import sys

_WRITTEN_FOR = (
    ((3, 12), re.compile(r"^\s*type\s+\w+\s*(?:\[.*\])?\s*=")),
    ((3, 12), re.compile(r"^\s*(?:async\s+def|def|class)\s+\w+\s*\[")),
    ((3, 12), re.compile(r"""\b[rR]?[fF][rR]?(["']).*\{[^}]*(?:\1[^}]*\1|\\)[^}]*\}""")),
    ((3, 14), re.compile(r"^\s*except\*?\s+[\w.]+\s*,\s*[\w.]+(?:\s*,\s*[\w.]+)*\s*:")),
    ((3, 14), re.compile(r"""(?<![\w"'])[rR]?[tT][rR]?["']""")),
    ((3, 15), re.compile(r"^\s*lazy\s+(?:import|from)\s")),
)
"""New syntax by the version that brought it: aliases, type parameters, quotes within f-strings, and so on."""


def newer_python(source: str, line: int) -> str:
    """Return the version that the syntax at ``line`` of a broken cell was made for, or "" when it is none of these."""
    lines = source.split("\n")
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    for version, pattern in _WRITTEN_FOR:
        if version > sys.version_info[:2] and pattern.search(text):
            return ".".join(map(str, version))
    return ""
