"""Bytes become text, whatever editor and system wrote them."""

import codecs
import re

from autograder.findings import Finding
from autograder.intake.submission import Refusal

_WIDE = (
    ("utf-32-le", codecs.BOM_UTF32_LE, [False, True, True, True]),
    ("utf-32-be", codecs.BOM_UTF32_BE, [True, True, True, False]),
    ("utf-16-le", codecs.BOM_UTF16_LE, [False, True, False, True]),
    ("utf-16-be", codecs.BOM_UTF16_BE, [True, False, True, False]),
)
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")


def decode(raw: bytes) -> tuple[str, tuple[Finding, ...]]:
    """Return the text without its byte-order mark, and a remark when it was not UTF-8."""
    try:
        text, encoding = _decode_wide(raw) or (raw.decode("utf-8"), "UTF-8")
    except UnicodeDecodeError:
        text, encoding = _decode_narrow(raw)
    if "\0" in text:
        raise Refusal("intake.not_text")
    remarks: tuple[Finding, ...] = ()
    if encoding != "UTF-8":
        remarks = (Finding("intake.encoding", {"encoding": encoding}),)
    return text.removeprefix("\ufeff"), remarks


def without_surrogates(text: str) -> str:
    """Replace halves of Unicode pairs, which no compiler and no report can take, by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _decode_wide(raw: bytes) -> tuple[str, str] | None:
    """UTF-16 and UTF-32 show by their mark, or by the NULs beside a first ASCII character."""
    zeros = [byte == 0 for byte in raw[:4]]
    for encoding, marks, pattern in _WIDE:
        if raw.startswith(marks) or zeros == pattern:
            return raw.decode(encoding, "replace"), encoding.upper()[:6]
    return None


def _decode_narrow(raw: bytes) -> tuple[str, str]:
    runs = _HIGH_RUN.findall(raw)
    damaged = raw.decode("utf-8", "replace")
    if damaged.count("\ufffd") * 10 < sum(map(len, runs)) / 3:
        return damaged, "UTF-8 (damaged)"
    # GBK writes most characters as two high bytes, Latin-1 mostly single ones among ASCII letters.
    if sum(len(run) == 1 for run in runs) * 2 <= len(runs):
        try:
            return raw.decode("gb18030"), "GBK"
        except UnicodeDecodeError:
            pass
    return raw.decode("latin-1"), "Latin-1"
