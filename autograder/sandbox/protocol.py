"""The wire between the trusted side and a child: frames of JSON and raw bytes, never pickle.

A frame is a header (magic, length of the JSON, length of the blobs), one JSON object, and the blobs. The object's
``blobs`` entry lists their lengths. Numbers on the wire are integers; floats travel as ``{"float": hex}``.
"""

import json
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import msgspec

MAGIC = b"PA01"
HEADER = struct.Struct("!4sII")
MAX_NODES, MAX_VALUES = 50_000, 500_000
"""Lists and objects, and values, in one frame: far more than any answer needs, and little memory to read."""
_SURROGATE_ESCAPE = re.compile(rb"\\u[dD][89a-fA-F]")


class ProtocolError(Exception):
    """The bytes are not a frame of this protocol."""


class Flood(ProtocolError):
    """The bytes are more than the reader allows."""


@dataclass(frozen=True)
class Frame:
    """One decoded message."""

    data: dict[str, Any]
    blobs: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Message:
    """The bytes of one frame, complete but not yet read."""

    text: bytes
    rest: bytes

    def read(self, of_our_own: bool = False) -> Frame:
        """Return the frame; raise ProtocolError where it is none, or of more values than any answer needs.

        ``of_our_own``: it comes from the trusted side, and what it carries may be a cell full of commas.
        """
        if not of_our_own and _has_too_many_values(self.text):
            raise ProtocolError("too many values")
        data = _parse(self.text)
        return Frame(data, _split(self.rest, data.pop("blobs", [])))


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"number {text[:20]} has no place on the wire")


# Built once: json.dumps and json.loads make a new coder per call when given options.
_to_json = json.JSONEncoder(ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")).encode
_to_json_quickly = msgspec.json.Encoder().encode  # the same bytes in a tenth of the time
_from_json = json.JSONDecoder(parse_float=_refuse, parse_constant=_refuse).decode


def pack(data: dict[str, Any], blobs: Sequence[bytes] = ()) -> bytes:
    """Return the bytes of one frame; lone surrogates in strings become question marks."""
    if blobs:
        data = {**data, "blobs": [len(blob) for blob in blobs]}
    try:
        text = _to_json_quickly(data)
    except UnicodeEncodeError:  # half of a surrogate pair
        text = _to_json(data).encode("utf-8", "replace")
    return b"".join((HEADER.pack(MAGIC, len(text), sum(map(len, blobs))), text, *blobs))


class Decoder:
    """Cuts any bytes into messages or raises :class:`ProtocolError`, holding at most ``limit`` bytes."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._seen = 0
        self._buffer = bytearray()

    def restart(self) -> None:
        """Grant the next message the full limit; bytes left over from the last one are an error."""
        if self._buffer:
            raise ProtocolError("bytes after the reply")
        self.grant()

    def grant(self) -> None:
        """Grant the next message the full limit; its first bytes may be here already."""
        self._seen = len(self._buffer)

    def feed(self, chunk: bytes) -> Iterator[Message]:
        """Yield the messages that ``chunk`` completes, those before a fault too."""
        self._seen += len(chunk)
        if self._seen > self._limit:
            raise Flood(f"more than {self._limit} bytes")
        self._buffer += chunk
        while (message := self._next()) is not None:
            yield message

    def _next(self) -> Message | None:
        buffer = self._buffer
        if buffer[: len(MAGIC)] != MAGIC[: len(buffer)]:
            raise ProtocolError("no frame begins here")
        if len(buffer) < HEADER.size:
            return None
        _, text_size, blob_size = HEADER.unpack_from(buffer)
        end = HEADER.size + text_size + blob_size
        if end > self._limit:
            raise Flood(f"a frame of {end} bytes")
        if len(buffer) < end:
            return None
        text = bytes(buffer[HEADER.size : HEADER.size + text_size])
        rest = bytes(buffer[HEADER.size + text_size : end])
        del buffer[:end]
        return Message(text, rest)


def _has_too_many_values(text: bytes) -> bool:
    return text.count(b"[") + text.count(b"{") > MAX_NODES or text.count(b",") > MAX_VALUES


def _parse(text: bytes) -> dict[str, Any]:
    try:
        data = _from_json(text.decode("utf-8"))
        if _SURROGATE_ESCAPE.search(text):
            _to_json(data).encode("utf-8")  # raises when a surrogate stands alone
    except (ValueError, RecursionError, MemoryError) as error:
        raise ProtocolError(f"not our JSON: {type(error).__name__}") from None
    if type(data) is not dict:
        raise ProtocolError("the JSON is not an object")
    return data


def _split(rest: bytes, lengths: object) -> tuple[bytes, ...]:
    if type(lengths) is not list or any(type(n) is not int or n < 0 for n in lengths):
        raise ProtocolError("the lengths of the blobs are not a list of sizes")
    if sum(lengths) != len(rest):
        raise ProtocolError("the blobs do not add up")
    blobs, start = [], 0
    for n in lengths:
        blobs.append(rest[start : start + n])
        start += n
    return tuple(blobs)
