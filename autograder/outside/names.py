"""One rule for names that strangers chose: what they become on disk, on any system, and what is shown of them."""

import re
import unicodedata

LONGEST_NAME = 200
"""Bytes, not characters, of the 255 a file system allows: suffixes and temporary names need room."""
LONGEST_SHOWN = 1000
_LONGEST_SUFFIX = 20
_SEPARATORS = re.compile(r"[/\\]")
_RESERVED = re.compile(r"(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9¹²³])(?=\s*(?:\.|\Z))", re.IGNORECASE)


def file_name(name: str, otherwise: str = "file") -> str:
    """Return the name fit for a file or folder on any system: readable, one line, NFC, at most 200 bytes.

    A name that is too long keeps its suffix; ``otherwise`` takes the place of one of which nothing is left.
    """
    text = _SEPARATORS.sub("_", printable(name[: 4 * LONGEST_NAME], "_"))
    if len(text.encode()) > LONGEST_NAME:
        stem, dot, suffix = text.rpartition(".")
        end = dot + suffix if stem and len(suffix.encode()) < _LONGEST_SUFFIX else ""
        text = cut(text.removesuffix(end), LONGEST_NAME - len(end.encode())) + end
    text = text.strip(" .") or otherwise
    return _RESERVED.sub(lambda reserved: f"{reserved[0]}_", text, count=1) if _RESERVED.match(text) else text


def shown(path: str) -> str:
    """Return a stranger's path as results and reports show it: in full, unless it is longer than anyone would read."""
    text = printable(path[: LONGEST_SHOWN + 1])
    return text if len(text.encode()) <= LONGEST_SHOWN else cut(text, LONGEST_SHOWN - 3) + "…"


def cut(text: str, size: int) -> str:
    """Return as much of the text as takes ``size`` bytes, whole characters only."""
    return text.encode()[:size].decode(errors="ignore")


def printable(name: str, mark: str = "?") -> str:
    """Return the name with ``mark`` for control and direction characters and for broken Unicode."""
    return "".join(mark if _unprintable(char) else char for char in unicodedata.normalize("NFC", name))


def _unprintable(char: str) -> bool:
    # The joiner holds emoji together; every other format character only serves to deceive the eye.
    return unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp") and char != "\u200d"
