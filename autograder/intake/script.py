"""The code cells of a notebook kept as text: Jupytext scripts and Markdown, exported scripts, plain modules."""

import re
from collections.abc import Iterator

from autograder.intake.submission import Refusal

_PERCENT = re.compile(r"#\s?%%+(?:\s|$)|# In ?\[[ \d]*\]:")
_LIGHT = re.compile(r"# [+-](?:\s|$)")
_NO_CODE = re.compile(r"\[(?:markdown|md|raw)\]")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})\s*(.*)")
_PYTHON = re.compile(r"(?:i?python3?|py)\b|\{(?:code-cell|python|code|\s*\.(?:i?python3?|py))\b", re.IGNORECASE)
_ANOTHER_PYTHON = re.compile(r"(python[23])\b")  # Jupytext writes a cell that begins with %%python3 so
_NOT_RUN = re.compile(r"\.noeval\b|\bactive=")
_LIGHT_HEADER = re.compile(r"^#\s+format_name: light\s*$", re.MULTILINE)
_COMMENTED_MAGIC = re.compile(r"^# ?(?=%time \S|[\w., ]+ = ?[!%]\w)")
_QUOTES = re.compile(r"\s*[rR]?(?:\"\"\"|\'\'\')")
_CONTINUES = re.compile(r"[ \t]|(?:else|elif|except|finally)\b|[)\]}]")
_OPEN = re.compile(r"[(\[{,\\]\s*$|^@")
_MARIMO = re.compile(r"^app = marimo\.App\(", re.MULTILINE)


def script_cells(text: str) -> list[str]:
    """Return the code cells of a script; one without cell markers is a single cell, a marimo notebook is refused."""
    if _MARIMO.search(text):
        raise Refusal("intake.marimo")
    lines = _lines(text)
    light = bool(_LIGHT_HEADER.search(text))
    marker = _LIGHT if light else _PERCENT
    if not light and not any(marker.match(line) for line in lines):
        return ["\n".join(lines)]
    cells: list[str] = []
    for head, body in _parts(lines, marker):
        code = "\n".join(_COMMENTED_MAGIC.sub("", line) for line in body).strip("\n")
        if head or not _only_comments(code):
            cells += [code] if head.startswith("# +") or not light else _paragraphs(code)
    return cells


def _parts(lines: list[str], marker: re.Pattern[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines below each marker that are code, with the marker; first those above all, with an empty one."""
    head, body = "", list[str]()
    dropped = inside_string = False
    for line in lines:
        if marker.match(line) and not inside_string:
            if not dropped:
                yield head, body
            head, body, dropped = line, [], bool(_NO_CODE.search(line))
            continue
        if not dropped or inside_string or (not any(body) and _QUOTES.match(line)):
            inside_string ^= _toggles_string(line)  # a text cell is a string where its first line says so
        body.append(line)
    if not dropped:
        yield head, body


def _paragraphs(code: str) -> list[str]:
    """Split code as Jupytext's light form does: at blank lines, unless what follows belongs to what comes before."""
    cells: list[list[str]] = [[]]
    inside_string = False
    for line in code.split("\n"):
        last = next((line for line in reversed(cells[-1]) if line), "")
        ends = cells[-1] and not cells[-1][-1] and not inside_string
        if ends and line and not _CONTINUES.match(line) and not _OPEN.search(last):
            cells.append([])
        cells[-1].append(line)
        inside_string ^= _toggles_string(line)
    return [cell for cell in ("\n".join(lines).strip("\n") for lines in cells) if not _only_comments(cell)]


def markdown_cells(text: str) -> list[str]:
    """Return the Python blocks of Markdown, in the spelling of Jupytext, MyST, R Markdown, Quarto or Pandoc."""
    lines = _lines(text)
    cells, closed = _blocks(lines, heed_strings=True)
    return cells if closed else _blocks(lines, heed_strings=False)[0]


def _blocks(lines: list[str], heed_strings: bool) -> tuple[list[str], bool]:
    """Return the blocks, and whether the last one was closed; a fence within a string is part of the string."""
    cells: list[str] = []
    block: list[str] = []
    fence, is_python, inside_string = "", False, False
    for line in lines:
        match = _FENCE.match(line)
        if not fence:
            if match:
                fence, info, inside_string = match[1], match[2], False
                is_python = bool(_PYTHON.match(info)) and not _NOT_RUN.search(info)
                another = _ANOTHER_PYTHON.match(info)
                block = [f"%%{another[1]}"] if another else []
        elif match and match[1].startswith(fence) and not match[2] and not inside_string:
            cells += ["\n".join(_without_options(block))] if is_python else []
            fence = ""
        else:
            block.append(line)
            inside_string ^= heed_strings and is_python and _toggles_string(line)
    return cells, not fence


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
