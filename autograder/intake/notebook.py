"""The code cells of a Jupyter notebook, read from its JSON as leniently as is safe."""

import itertools
import json
import re
from typing import Any

from autograder.findings import Finding
from autograder.intake.source import MEGABYTE
from autograder.intake.submission import Refusal
from autograder.intake.text import decode

MAX_WITHOUT_OUTPUTS = 10 * MEGABYTE
LARGE = 4 * MEGABYTE
MAX_TOKENS = 10_000_000
MAX_VALUES = 500_000
MAX_CUTS = 200_000

# Inside a JSON string every quote has a backslash before it, so these are keys and nothing else.
_HEAVY = re.compile(rb'(?<!\\)"(?:outputs|attachments)"\s*:\s*(?=[\[{])')
# A string that never ends matches up to the end, and nothing is tried twice: hostile bytes cost no more than others.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_VALUE = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[\[{]|-?[0-9]++', re.DOTALL)
_CONFLICT = re.compile(r"^(?:<<<<<<< |=======$|>>>>>>> )", re.MULTILINE)


def notebook_cells(raw: bytes) -> tuple[list[str], tuple[Finding, ...]]:
    """Return the code cells of a notebook and remarks; raise :class:`Refusal` when it is none."""
    if len(raw) > LARGE:
        raw = without_outputs(raw)
    if len(raw) > MAX_WITHOUT_OUTPUTS:
        raise Refusal("intake.too_big", megabytes=len(raw) // MEGABYTE, limit=MAX_WITHOUT_OUTPUTS // MEGABYTE)
    _refuse_too_many_values(raw)
    text, remarks = decode(raw)
    if not text.strip():
        raise Refusal("intake.empty")
    return [_source(cell) for cell in _cells(_parse(text)) if cell.get("cell_type") == "code"], remarks


def without_outputs(raw: bytes) -> bytes:
    """Cut every output and attachment out of a notebook's JSON without building a single value of it."""
    kept: list[bytes] = []
    position = tokens = 0
    while key := _HEAVY.search(raw, position):
        kept += (raw[position : key.end()], b"null")
        if len(kept) > MAX_CUTS:
            raise Refusal("intake.too_big", megabytes=len(raw) // MEGABYTE, limit=MAX_WITHOUT_OUTPUTS // MEGABYTE)
        depth, position = 0, len(raw)
        for token in _TOKEN.finditer(raw, key.end()):
            tokens += 1
            mark = raw[token.start()]
            depth += (mark in b"[{") - (mark in b"]}")
            if depth == 0:
                position = token.end()
                break
            if tokens > MAX_TOKENS:
                raise Refusal("intake.too_big", megabytes=len(raw) // MEGABYTE, limit=MAX_WITHOUT_OUTPUTS // MEGABYTE)
    rest = len(raw) - position + sum(map(len, kept))
    if rest > MAX_WITHOUT_OUTPUTS:
        raise Refusal("intake.too_big", megabytes=rest // MEGABYTE, limit=MAX_WITHOUT_OUTPUTS // MEGABYTE)
    kept.append(raw[position:])
    return b"".join(kept)


def _refuse_too_many_values(raw: bytes) -> None:
    """Refuse a notebook of so many values that reading them would take hundreds of megabytes."""
    if raw.count(b"[") + raw.count(b"{") + raw.count(b",") <= MAX_VALUES:
        return
    outside_strings = sum(1 for _ in itertools.islice(_VALUE.finditer(raw), MAX_VALUES + 1))
    if outside_strings > MAX_VALUES:
        raise Refusal("intake.too_big", megabytes=len(raw) // MEGABYTE, limit=MAX_WITHOUT_OUTPUTS // MEGABYTE)


def _parse(text: str) -> object:
    try:
        # Not strict: a raw tab or line break within a string is a fault, but a harmless one.
        return json.loads(text, strict=False, parse_int=_integer)
    except RecursionError as error:
        raise Refusal("intake.deep") from error
    except ValueError as error:
        raise _fault(text, error) from error


def _integer(digits: str) -> int:
    """Python refuses integers of more than some thousand digits; nothing in a notebook that matters is one."""
    return int(digits) if len(digits) < 1000 else 0


def _fault(text: str, error: ValueError) -> Refusal:
    if not text.lstrip().startswith("{"):
        return Refusal("intake.not_a_notebook")
    if {match[0][0] for match in _CONFLICT.finditer(text)} >= {"<", ">"}:
        return Refusal("intake.conflict")
    at_end = isinstance(error, json.JSONDecodeError) and error.pos >= len(text.rstrip())
    if at_end or "Unterminated string" in str(error):
        return Refusal("intake.truncated")
    return Refusal("intake.broken_json", line=error.lineno if isinstance(error, json.JSONDecodeError) else 1)


def _cells(notebook: object) -> list[dict[str, Any]]:
    if not isinstance(notebook, dict):
        raise Refusal("intake.not_a_notebook")
    cells = notebook.get("cells")
    if cells is None:  # nbformat 3 and older keep their cells in worksheets
        worksheets = notebook.get("worksheets")
        sheets = worksheets if isinstance(worksheets, list) else []
        lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
        cells = [cell for found in lists if isinstance(found, list) for cell in found] if lists else None
    if not isinstance(cells, list):
        raise Refusal("intake.not_a_notebook")
    return [cell for cell in cells if isinstance(cell, dict)]


def _source(cell: dict[str, Any]) -> str:
    source = cell.get("source", cell.get("input", ""))
    if isinstance(source, list):
        return "".join(line for line in source if isinstance(line, str))
    return source if isinstance(source, str) else ""
