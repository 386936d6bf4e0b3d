"""What a child is asked, packed once however many submissions answer it, and what comes back."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from autograder.contract.operations import Operation
from autograder.sandbox.protocol import Message, pack
from autograder.sandbox.trusted.validate_reply import Trace, traces_of

MOST_REMEMBERED = 1000


@dataclass(frozen=True)
class Reply:
    """The traces of all cases, or none of them where the same bytes were found right before."""

    fingerprint: bytes
    traces: Sequence[Trace] | None


@dataclass(frozen=True)
class Request:
    """Cases to carry out one after another, each on fresh objects, together within the time of one."""

    wire: bytes
    lengths: tuple[int, ...]
    _right: set[bytes] = field(default_factory=set)

    def reply(self, message: Message) -> Reply:
        """Return what a child answered; raise ProtocolError for anything but a trace per case."""
        fingerprint = _fingerprint(message)
        if fingerprint in self._right:
            return Reply(fingerprint, None)
        return Reply(fingerprint, traces_of(message.read(), self.lengths))

    def found_right(self, reply: Reply) -> None:
        """Remember that this reply passes every case: the same bytes need not be read again."""
        if len(self._right) < MOST_REMEMBERED:
            self._right.add(reply.fingerprint)


def _fingerprint(message: Message) -> bytes:
    return hashlib.sha256(len(message.text).to_bytes(8, "big") + message.text + message.rest).digest()


def only_trace(replies: Iterable[Reply]) -> Trace:
    """Return the one trace in the one reply to a request of its own, which nobody has found right before."""
    [reply] = replies
    assert reply.traces is not None
    return reply.traces[0]


def request_for(cases: Sequence[Sequence[Operation]]) -> Request:
    """Return the request to carry out ``cases``."""
    asked = [[operation.to_wire() for operation in case] for case in cases]
    payloads = [operation.payload for case in cases for operation in case if operation.payload]
    return Request(pack({"cases": asked}, payloads), tuple(len(case) for case in cases))
