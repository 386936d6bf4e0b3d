"""The code cells of a notebook kept as text: Jupytext scripts and Markdown, exported scripts, plain modules."""

import re

_PERCENT = re.compile(r"#\s?%%+(?:\s|$)|# In ?\[[ \d]*\]:")
_LIGHT = re.compile(r"# [+-](?:\s|$)")
_NO_CODE = re.compile(r"\[(?:markdown|md|raw)\]")
_FENCE = re.compile(r" {0,3}(`{3,})\s*(.*)")
_PYTHON = re.compile(r"i?python3?\b|py\b|\{(?:code-cell|python|code)\b", re.IGNORECASE)
_LIGHT_HEADER = re.compile(r"^#\s+format_name: light\s*$", re.MULTILINE)


def script_cells(text: str) -> list[str]:
    """Return the code cells of a script; one without cell markers is a single cell."""
    lines = _lines(text)
    marker = _LIGHT if _LIGHT_HEADER.search(text) else _PERCENT
    if not any(marker.match(line) for line in lines):
        return ["\n".join(lines)]
    cells: list[list[str]] = [[]]
    dropped = inside_string = False
    for line in lines:
        if marker.match(line) and (dropped or not inside_string):
            dropped, inside_string = bool(_NO_CODE.search(line)), False
            cells += [] if dropped else [[]]
        elif not dropped:
            cells[-1].append(line)
            inside_string ^= _toggles_string(line)
    before_first, *rest = ("\n".join(cell).strip("\n") for cell in cells)
    return rest if _only_comments(before_first) else [before_first, *rest]


def markdown_cells(text: str) -> list[str]:
    """Return the Python blocks of a Markdown notebook, in Jupytext's or MyST's spelling."""
    cells: list[str] = []
    block: list[str] = []
    fence, is_python = "", False
    for line in _lines(text):
        match = _FENCE.match(line)
        if not fence:
            if match:
                fence, is_python, block = match[1], bool(_PYTHON.match(match[2])), []
        elif match and match[1].startswith(fence) and not match[2]:
            cells += ["\n".join(_without_options(block))] if is_python else []
            fence = ""
        else:
            block.append(line)
    return cells


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _toggles_string(line: str) -> bool:
    """Whether a triple-quoted string starts or ends here, within which a marker would be text."""
    return not line.startswith("#") and (line.count('"""') + line.count("'''")) % 2 == 1


def _only_comments(code: str) -> bool:
    return all(not line.strip() or line.startswith("#") for line in code.split("\n"))


def _without_options(block: list[str]) -> list[str]:
    """Drop what MyST puts at the head of a code cell: ``:tags: [...]`` lines or a block between dashes."""
    start = 0
    if block[:1] == ["---"] and "---" in block[1:]:
        start = block.index("---", 1) + 1
    while start < len(block) and re.match(r":[\w-]+:", block[start]):
        start += 1
    return block[start:]
