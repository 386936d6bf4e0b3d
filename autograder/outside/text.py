"""Text of strangers on its way to a person: no spreadsheet computes it, no page links it, no terminal obeys it."""

import re

_FORMULA_STARTS = tuple("=+-@|%＝＋－＠｜％")
_MARKUP = re.compile(r"([\\`*<>\[\]|&~])|(?<![^\W_])(_)|(_)(?![^\W_])")
_LINK = re.compile(r"(?<=[A-Za-z])(?=://)|(?<=[wW]{3})(?=\.)")
_MENTION = re.compile(r"(?<=@)(?=\w)")
_JOINER = "\u2060"  # has no width; GitHub and GitLab look for mentions only after the Markdown has become a page


def for_csv(cell: str) -> str:
    """Return the cell so that no spreadsheet takes it for a formula."""
    return f"'{cell}" if cell.startswith(("\t", "\r", "\n")) or cell.lstrip().startswith(_FORMULA_STARTS) else cell


def for_markdown(value: object) -> str:
    """Return text that shows as it is, on one line: no markup, no entity, no link, nobody mentioned."""
    line = " ".join(str(value).splitlines())
    escaped = _MARKUP.sub(lambda found: f"\\{found[0]}", line)
    return _MENTION.sub(_JOINER, _LINK.sub(r"\\", escaped))


def for_terminal(value: object) -> str:
    """Return text without anything that a terminal would obey."""
    return "".join(char if char.isprintable() else "?" for char in str(value))
