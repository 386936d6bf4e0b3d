"""The one reader of zips: nothing is unpacked to disk, nothing is believed that the bytes do not keep to.

Memory is bounded before it is used: by the size of the directory, the number of members, and what may be read in all.
"""

import io
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

MAX_MEMBERS = 50_000
MAX_DIRECTORY = 16_000_000
MAX_MEMBER = 80_000_000
BOMB_RATIO = 100
_TAIL = (1 << 16) + 1024
_END, _END_64, _RECORD = b"PK\x05\x06", b"PK\x06\x06", b"PK\x01\x02"
_CHUNK = 1 << 20

Problem = Literal["", "traversal", "link", "encrypted", "method", "bomb"]


class BadZip(Exception):
    """These bytes are no zip that can be read."""


class TooMany(Exception):
    """The archive names more members than anyone packs."""


class TooBig(Exception):
    """A member is larger than the reader allows."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.size = size


@dataclass(frozen=True)
class Member:
    """One file in an archive: its name with ``/``, its size as the directory has it, and why not to read it, if so."""

    name: str
    size: int
    problem: Problem
    _archive: zipfile.ZipFile = field(repr=False)
    _info: zipfile.ZipInfo = field(repr=False)

    def read(self, limit: int = MAX_MEMBER) -> bytes:
        """Return the content; raise TooBig, or BadZip where it is not what the directory says."""
        if self.size > limit:
            raise TooBig(self.size)
        try:
            with self._archive.open(self._info) as member:
                return member.read(limit)  # never more than the size the directory gives, whatever follows
        except Exception as error:  # zlib.error, EOFError, BadZipFile, ValueError, NotImplementedError, ...
            raise BadZip from error


def members(archive: bytes | Path) -> Iterator[Member]:
    """Yield the files of an archive, folders left out; raise BadZip or TooMany before the first."""
    with io.BytesIO(archive) if isinstance(archive, bytes) else archive.open("rb") as file:
        _check_directory(file)
    try:
        opened = zipfile.ZipFile(io.BytesIO(archive) if isinstance(archive, bytes) else archive)
    except Exception as error:  # hostile bytes raise nearly anything here, from struct.error to OverflowError
        raise BadZip from error
    for info in opened.infolist():
        name = _name(info)
        if name and not name.endswith("/"):
            yield Member(name, info.file_size, _problem(info, name), opened, info)


def _check_directory(file: io.BufferedIOBase | io.BufferedReader) -> None:
    """Raise TooMany for a directory beyond the caps, without parsing it: millions of forged records are the attack."""
    count, seam = 0, b""
    while chunk := file.read(_CHUNK):
        count += (seam + chunk).count(_RECORD)
        seam = chunk[-3:]
    file.seek(max(0, file.tell() - _TAIL))
    tail = file.read(_TAIL)
    sizes = [*_numbers(tail, _END, 12, 4), *_numbers(tail, _END_64, 40, 8)]
    if count > MAX_MEMBERS or any(MAX_DIRECTORY < size != 0xFFFFFFFF for size in sizes):
        raise TooMany


def _numbers(tail: bytes, mark: bytes, offset: int, width: int) -> Iterator[int]:
    """Yield what stands ``offset`` bytes after every ``mark``: a reader may take any of them."""
    at = tail.find(mark)
    while at >= 0:
        yield int.from_bytes(tail[at + offset : at + offset + width], "little")
        at = tail.find(mark, at + 1)


def _name(info: zipfile.ZipInfo) -> str:
    """Member names without the UTF-8 flag are in the code page of the machine that packed them."""
    name = info.filename
    if not name.isascii() and not info.flag_bits & 0x800:
        for encoding in ("utf-8", "gb18030"):
            try:
                name = name.encode("cp437").decode(encoding)
                break
            except UnicodeError:
                continue
    return name.replace("\\", "/").removeprefix("./")


def _problem(info: zipfile.ZipInfo, name: str) -> Problem:
    if name.startswith("/") or name[1:2] == ":" or ".." in name.split("/"):
        return "traversal"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "link"
    if info.flag_bits & 0x1:
        return "encrypted"
    # Other methods expand without a bound on memory; no browser or file explorer uses them by itself.
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "method"
    is_bomb = info.file_size > MAX_MEMBER and info.file_size > BOMB_RATIO * info.compress_size
    return "bomb" if is_bomb else ""
