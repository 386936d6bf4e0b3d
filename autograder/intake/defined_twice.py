"""A remark where one of the assignment's functions is defined more than once, not alike."""

import re
from collections.abc import Sequence

from autograder.findings import Finding

TODO_FUNCTIONS = (
    "estimate_kv_cache_bytes",
    "allocate_for_prefill",
    "allocate_for_decode",
    "get_physical_cache",
)
CLASS = "KVCacheManager"


def defined_twice(cells: Sequence[str]) -> tuple[Finding, ...]:
    """Return a remark per function of a TODO that different cells define with different bodies."""
    remarks: tuple[Finding, ...] = ()
    for name in TODO_FUNCTIONS:
        found = [(number, body) for number, cell in enumerate(cells, start=1) for body in _bodies(cell, name)]
        if len({body for _, body in found}) > 1:
            numbers = ", ".join(dict.fromkeys(str(number) for number, _ in found))
            remarks += (Finding("intake.twice", {"name": name, "cells": numbers[:60]}),)
    return remarks


def _bodies(cell: str, name: str) -> list[str]:
    """Return the text of each definition up to the first line that is not indented deeper, blanks squeezed."""
    if f"def {name}" not in cell:
        return []
    lines = cell.splitlines()
    starts = [number for number, line in enumerate(lines) if re.match(rf"\s*(?:async )?def {name}\b", line)]
    return [_body(lines, start) for start in starts if _class_around(lines, start) in ("", CLASS)]


def _class_around(lines: Sequence[str], start: int) -> str:
    """Return the class that a definition stands in, "" for none: methods of a subclass are not graded."""
    indent = len(lines[start]) - len(lines[start].lstrip())
    outer = (line for line in reversed(lines[:start]) if line.strip() and len(line) - len(line.lstrip()) < indent)
    found = re.match(r"\s*class (\w+)", next(outer, ""))
    return found[1] if found else ""


def _body(lines: Sequence[str], start: int) -> str:
    indent = len(lines[start]) - len(lines[start].lstrip())
    body = [lines[start].strip()]
    for line in lines[start + 1 :]:
        if line.strip() and len(line) - len(line.lstrip()) <= indent and line.strip()[0] != ")":
            break
        if line.strip() and line.strip()[0] != "#":
            body.append(line.strip())
    return "\n".join(body)
