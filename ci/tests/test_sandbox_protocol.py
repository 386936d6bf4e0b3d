"""Whatever bytes come back, the trusted side ends with a frame or a ProtocolError."""

import contextlib
import copy
import json
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.sandbox.protocol import HEADER, MAGIC, MAX_NODES, MAX_VALUES, Decoder, Flood, Frame, ProtocolError, pack
from autograder.sandbox.trusted.validate_reply import notes_of, traces_of

LIMIT = 1 << 16

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("\ud800")
words = st.sampled_from("trace state returned raised managers requests list tensor blob dict other float".split())
trees = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words | st.text(), inner, max_size=4),
    max_leaves=20,
)


def framed(text: bytes, blobs: bytes = b"") -> bytes:
    """Return a frame around any bytes at all."""
    return HEADER.pack(MAGIC, len(text), len(blobs)) + text + blobs


def outcome(data: bytes) -> list[Frame] | None:
    """Return the frames in the data, or None when it is refused in the one way allowed."""
    try:
        return [message.read() for message in Decoder(LIMIT).feed(data)]
    except ProtocolError:
        return None


@given(
    st.dictionaries(words, st.integers() | st.text(alphabet="aé文🙂") | st.lists(st.integers()), max_size=4),
    st.lists(st.binary()),
)
@settings(max_examples=100, deadline=None)
def test_a_packed_frame_comes_back_whole(data: dict[str, Any], blobs: list[bytes]) -> None:
    assert outcome(pack(data, blobs)) == [Frame(data, tuple(blobs))]


@pytest.mark.parametrize(("value", "most"), [(b"{}", MAX_NODES), (b"[]", MAX_NODES), (b"1", MAX_VALUES)])
def test_a_reply_of_more_values_than_any_answer_needs_is_not_read(value: bytes, most: int) -> None:
    """Its own side may send more: a submission's cells, whatever is in them."""
    within, beyond = (framed(b'{"a":[' + b",".join([value] * count) + b"]}") for count in (most - 2, most + 2))
    [few], [many] = (list(Decoder(1 << 22).feed(data)) for data in (within, beyond))
    assert len(few.read().data["a"]) == most - 2
    with pytest.raises(ProtocolError):
        many.read()
    assert len(many.read(of_our_own=True).data["a"]) == most + 2


@given(st.binary(max_size=200), st.booleans())
@settings(max_examples=300, deadline=None)
def test_any_bytes_are_decoded_or_refused(noise: bytes, with_header: bool) -> None:
    outcome(framed(noise) if with_header else noise)


@given(trees, st.binary(max_size=20))
@settings(max_examples=300, deadline=None)
def test_any_json_is_a_trace_or_refused(tree: Any, blobs: bytes) -> None:
    nothing = {"managers": {}, "requests": {}}
    seen = [{"returned": tree, "state": nothing}, {"raised": tree, "state": nothing}, {"returned": 1, "state": tree}]
    for data in (tree, {"traces": tree}, {"loaded": tree}, *({"traces": [[observation]]} for observation in seen)):
        for frame in outcome(framed(json.dumps(data).encode(), blobs)) or []:
            for check in (lambda f: traces_of(f, [1]), lambda f: notes_of(f.data.get("loaded"), 3)):
                with contextlib.suppress(ProtocolError):
                    check(frame)


@given(st.data())
@settings(max_examples=50, deadline=None)
def test_a_frame_in_pieces_is_the_same_frame(data: st.DataObject) -> None:
    whole = pack({"cell": 3}, [b"abc", b""]) + pack({"cell": 4})
    decoder, frames, rest = Decoder(LIMIT), [], whole
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        frames += [message.read() for message in decoder.feed(rest[:size])]
        rest = rest[size:]
    assert frames == [Frame({"cell": 3}, (b"abc", b"")), Frame({"cell": 4})]


REFUSED = {
    "deep nesting": b"[" * 30_000,
    "deep objects": b'{"a":' * 10_000,
    "a huge integer": b'{"a": ' + b"9" * 20_000 + b"}",
    "NaN": b'{"a": NaN}',
    "infinity by exponent": b'{"a": 1e999}',
    "a bare float": b'{"a": 0.5}',
    "a lone surrogate": b'{"a": "\\ud800"}',
    "bytes that are not UTF-8": b'{"a": "\xff"}',
    "a list": b"[]",
    "nothing": b"",
    "blobs that do not add up": b'{"blobs": [1]}',
    "a negative blob": b'{"blobs": [-1, 1]}',
    "blobs that are not numbers": b'{"blobs": [true, false]}',
    "blobs that are not a list": b'{"blobs": {}}',
}


@pytest.mark.parametrize("kind", REFUSED)
def test_malformed_json_is_refused(kind: str) -> None:
    with pytest.raises(ProtocolError):
        [message.read() for message in Decoder(LIMIT).feed(framed(REFUSED[kind]))]


def test_a_pair_of_surrogates_and_a_repeated_key_are_harmless() -> None:
    assert outcome(framed(b'{"a": "\\ud83d\\ude42", "a": "\\ud83d\\ude42"}')) == [Frame({"a": "🙂"})]


def test_a_frame_that_promises_too_much_is_refused_before_it_arrives() -> None:
    with pytest.raises(Flood):
        next(Decoder(LIMIT).feed(struct.pack("!4sII", MAGIC, 0xFFFFFFFF, 0xFFFFFFFF)))


def test_bytes_left_over_spoil_the_next_reply() -> None:
    decoder = Decoder(LIMIT)
    assert [message.read() for message in decoder.feed(pack({"cell": 1}) + MAGIC)] == [Frame({"cell": 1})]
    with pytest.raises(ProtocolError):
        decoder.restart()


VALUES = [
    {"int": 3}, {"list": 3}, {"list": [{"list": [1.5]}]}, {"float": "nonsense"}, {"float": 3}, {"str": ["x"]}, True,
    {"tensor": {}}, {"tensor": {"dtype": "float32", "shape": [True], "device": "cpu"}},
    {"tensor": {"dtype": "float32", "shape": [1], "device": "cpu", "blob": 0}},
    {"tensor": {"dtype": "float32", "shape": [1], "device": "cpu", "blob": -1}},
    {"other": "x" * 1000}, {"list": [], "tuple": []}, {}, "bare",
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_a_value_that_is_not_of_the_vocabulary_is_refused(value: Any) -> None:
    state = {"managers": {}, "requests": {}}
    assert traces_of(Frame({"traces": [[{"returned": 1, "state": state}]]}), [1]) == [[{"returned": 1, "state": state}]]
    with pytest.raises(ProtocolError):
        traces_of(Frame({"traces": [[{"returned": copy.deepcopy(value), "state": state}]]}), [1])  # it is read in place
