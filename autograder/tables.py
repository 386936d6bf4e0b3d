"""Tables that people and platforms keep as CSV: read in whatever encoding they come, written back as they were."""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.errors import GraderError

_LARGEST = 64_000_000
_ISOLATED = re.compile(rb"(?:^|[\x00-\x7f])[\x80-\xff](?:[\x00-\x7f]|$)")


class SheetError(GraderError):
    """A table that cannot be used; its text is one sentence that says what to do."""


@dataclass(frozen=True)
class Table:
    """A header and the rows below it, all as text, and how the file was written."""

    path: Path
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    encoding: str = "utf-8-sig"
    delimiter: str = ","
    newline: str = "\n"
    quoted: bool = False
    above: tuple[tuple[str, ...], ...] = ()
    """Lines that stand above the header, such as a title."""

    def records(self) -> Iterator[dict[str, str]]:
        """Yield every row as a mapping from heading to cell, without spaces around them."""
        for row in self.rows:
            yield dict(zip((h.strip() for h in self.header), (cell.strip() for cell in row), strict=False))

    def starting_at(self, line: int) -> "Table":
        """Return the table whose header is the ``line``-th one, counted from 0."""
        lines = (self.header, *self.rows)
        return replace(self, header=lines[line], rows=lines[line + 1 :], above=lines[:line])

    def with_rows(self, header: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
        """Return the file with other content, in the same encoding and dialect."""
        text = io.StringIO()
        writer = csv.writer(
            text,
            delimiter=self.delimiter,
            lineterminator=self.newline,
            quoting=csv.QUOTE_ALL if self.quoted else csv.QUOTE_MINIMAL,
        )
        writer.writerows([*self.above, header, *rows])
        return text.getvalue().encode(self.encoding, errors="replace")


def read_table(path: Path) -> Table:
    """Read a CSV or TSV in UTF-8, UTF-16, GBK or Windows' Latin; raise :class:`SheetError` where it is no table."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise SheetError(f"{path} cannot be read ({error.strerror}); give the CSV that was exported.") from error
    if len(content) > _LARGEST:
        raise SheetError(f"{path} is larger than any class list; give the CSV that was exported.")
    encoding = _encoding(content)
    text = content.decode(encoding, errors="replace")
    if "\0" in text or not text.strip():
        raise SheetError(f"{path} is no table; save it as CSV (not XLSX) and give that.")
    first = next((line for line in text.splitlines() if any(mark in line for mark in ",;\t")), "")
    delimiter = max(",;\t", key=first.count)
    try:
        rows = [tuple(row) for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if any(row)]
    except csv.Error as error:
        raise SheetError(f"{path} is no table ({error}); save it as CSV and give that.") from error
    quoted = first[:1] == first[-1:] == '"'
    newline = "\r\n" if "\r\n" in text else "\n"
    return Table(path, rows[0], tuple(rows[1:]), encoding, delimiter, newline, quoted)


def _encoding(content: bytes) -> str:
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if content.startswith(mark):
            return encoding
    for encoding in ("utf-8", "gb2312"):
        try:
            content.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    # A letter with an accent stands alone among ASCII; a Chinese character takes two bytes.
    return "cp1252" if _ISOLATED.search(content) and not re.search(rb"[\x80-\xff]{4}", content) else "gb18030"


@dataclass(frozen=True)
class Columns:
    """Which columns a table of the course's own must and may have."""

    needed: tuple[str, ...]
    allowed: tuple[str, ...] = field(default=())


def read_records(path: Path, columns: Columns) -> list[Mapping[str, str]]:
    """Read a table that the course keeps itself; every row gets all columns, a heading too few or too many is named."""
    table = read_table(path)
    header = [heading.strip().lower() for heading in table.header]
    if missing := [name for name in columns.needed if name not in header]:
        known = ",".join((*columns.needed, *columns.allowed))
        raise SheetError(f"{path} has no column '{missing[0]}'; its first line should be {known}.")
    if unknown := [name for name in header if name and name not in (*columns.needed, *columns.allowed)]:
        raise SheetError(f"{path} has a column '{unknown[0]}' that means nothing here; take it away.")
    empty = dict.fromkeys((*columns.needed, *columns.allowed), "")
    return [empty | dict(zip(header, map(str.strip, row), strict=False)) for row in table.rows]
