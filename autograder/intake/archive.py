"""Reading zips without unpacking them: only the members needed, and never more than the caps allow."""

import io
import stat
import zipfile
from functools import partial
from pathlib import Path

from autograder.intake.source import MAX_FILE, MEGABYTE, Source, ignored
from autograder.intake.submission import Refusal

MAX_MEMBERS = 50_000
BOMB_RATIO = 100
_MEMBER_SIGNATURE = b"PK\x01\x02"
_CHUNK = 1 << 20


def members(archive: bytes | Path) -> list[Source]:
    """List the files in an archive, given as bytes or as a path; raise :class:`Refusal` when it is not a usable zip."""
    try:
        opened = zipfile.ZipFile(io.BytesIO(archive) if isinstance(archive, bytes) else archive)
    except Exception as error:  # hostile bytes raise nearly anything here, from struct.error to OverflowError
        raise Refusal("intake.bad_zip") from error
    sources = {}
    for info in opened.infolist():
        name = _name(info)
        if not info.is_dir() and not any(ignored(part) for part in name.split("/") if part.strip(".")):
            sources[name] = Source(name, partial(_load, opened, info), _problem(info, name))
    return list(sources.values())


def refuse_too_many(archive: bytes | Path) -> None:
    """Raise :class:`Refusal` for an archive with more than ``MAX_MEMBERS`` files, without parsing its directory.

    Parsing millions of forged records would be the attack, so their signatures are counted before.
    """
    count, tail = 0, b""
    with io.BytesIO(archive) if isinstance(archive, bytes) else archive.open("rb") as file:
        while chunk := file.read(_CHUNK):
            count += (tail + chunk).count(_MEMBER_SIGNATURE)
            tail = chunk[-3:]
    if count > MAX_MEMBERS:
        raise Refusal("intake.too_many", limit=MAX_MEMBERS)


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


def _problem(info: zipfile.ZipInfo, name: str) -> str:
    if name.startswith("/") or name[1:2] == ":" or ".." in name.split("/"):
        return "intake.traversal"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "intake.link"
    if info.flag_bits & 0x1:
        return "intake.encrypted"
    # Other methods expand without a bound on memory; no browser or file explorer uses them by itself.
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "intake.zip_method"
    is_bomb = info.file_size > MAX_FILE and info.file_size > BOMB_RATIO * info.compress_size
    return "intake.bomb" if is_bomb else ""


def _load(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    if info.file_size > MAX_FILE:
        raise Refusal("intake.too_big", megabytes=info.file_size // MEGABYTE, limit=MAX_FILE // MEGABYTE)
    try:
        with opened.open(info) as member:
            return member.read(MAX_FILE)  # never more than the size the directory gives, whatever follows
    except Exception as error:  # as above: zlib.error, EOFError, BadZipFile, ValueError, ...
        raise Refusal("intake.bad_zip") from error
