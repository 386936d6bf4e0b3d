"""One confined child: conversing with it under limits, and saying how it ended."""

import os
import select
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from autograder.contract.operations import Operation
from autograder.findings import Finding, Found
from autograder.sandbox.limits import EXIT_DEVICE, EXIT_MACHINE, MIB, Limits
from autograder.sandbox.protocol import Decoder, Flood, Message, ProtocolError, pack
from autograder.sandbox.trusted.budget import Budget
from autograder.sandbox.trusted.request import Reply, Request, only_trace, request_for
from autograder.sandbox.trusted.validate_reply import Trace, notes_of
from autograder.sandbox.trusted.watchdog import Watchdog, cpu_clock, host_pid

Answer = TypeVar("Answer")

OUT_OF_MEMORY = 86
"""The worker's exit status when memory is gone and it can't go on."""

_TICK_MS = 5
_CHUNK = 1 << 16
_NEAR = 0.75  # of the memory limit: a crash there is taken for want of memory
_ABORTS = (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS)
_CRASHES = {int(s): s.name for s in (*_ABORTS, signal.SIGFPE, signal.SIGILL, signal.SIGSYS)}
"""The signals that a report names: a submission can send itself any."""


class Died(Found):
    """A child came to its end; the finding says how."""


@dataclass(frozen=True)
class Exit:
    """How a child ended, in the kernel's words."""

    code: int
    """Exit status, or minus the number of a signal."""
    cpu_s: float
    memory_bytes: int
    """Resident at its highest, on top of the fork-server's own."""


class Child:
    """A submission's process; made by ``ForkServer.spawn``."""

    tasks_added: int | None = None
    """How many threads more than at its start it had at most, where they are counted."""

    def __init__(self, pidfd: int, requests: int, replies: int, limits: Limits, reap: Callable[[], Exit]) -> None:
        self._pidfd, self._requests, self._replies = pidfd, requests, replies
        self._limits = limits
        self._reap = reap
        self._exit: Exit | None = None
        self._pid = host_pid(pidfd)
        self._decoder = Decoder(limits.reply_bytes)
        self._cells, self._cell = 0, 0
        self.charge_to(Budget(limits))
        os.set_blocking(requests, False)
        self._poll = select.poll()
        self._poll.register(replies, select.POLLIN)

    def charge_to(self, budget: Budget) -> None:
        """Charge what this child uses from now on to ``budget``, where more of its submission's children are."""
        self._budget = budget
        self._watch = Watchdog(self._pid, budget)

    def load(
        self,
        cells: Sequence[str],
        skip: Iterable[int] = (),
        helpers: Mapping[str, str] | None = None,
        room: float = 1,
        lean: Iterable[int] = (),
    ) -> list[dict[str, Any]]:
        """Run the cells but those to skip (numbers from 1) and return what was noted; raise Died.

        Of the ``lean`` ones only the definitions are run. ``helpers`` are texts of modules by path, for the cells to
        import; ``room`` multiplies the usual time.
        """
        numbers = {"skip": sorted(skip), "lean": sorted(lean)}
        request = pack({"cells": list(cells), **numbers, "helpers": dict(helpers or {})})
        self._cells = len(cells)
        try:
            [notes] = self._converse(request, [self._loaded], self._limits.load_cpu_s, room)
            return notes
        finally:
            self._cell = 0

    def run(self, operations: Sequence[Operation], patience: float = 1.0) -> Trace:
        """Carry out one case on fresh objects and return what was observed; raise Died.

        ``patience`` is the part of the usual time that it may take.
        """
        return only_trace(self.answers([request_for([operations])], patience))

    def answers(self, requests: Sequence[Request], patience: float = 1.0) -> Iterator[Reply]:
        """Send the requests at once and yield the reply to each, which has the whole time of a case; raise Died."""
        wire = b"".join(request.wire for request in requests)
        return self._converse(wire, [request.reply for request in requests], self._limits.case_cpu_s, patience)

    @property
    def pid(self) -> int:
        """Return its process id as this process sees it."""
        return self._pid

    @property
    def cpu_s(self) -> float:
        """CPU seconds used so far, confinement included."""
        return self._exit.cpu_s if self._exit else cpu_clock(self._pid) or 0.0

    def kill(self) -> None:
        """End the child, leaving nothing of it; may be called again."""
        if self._exit:
            return
        self._exit = Exit(-signal.SIGKILL, cpu_clock(self._pid) or 0.0, 0)  # stands if the fork-server is gone
        for fd in (self._pidfd, self._requests, self._replies):
            os.close(fd)
        self._exit = self._reap()
        self._watch.note(self._exit.cpu_s)

    def __enter__(self) -> "Child":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def _converse(
        self, request: bytes, readings: Sequence[Callable[[Message], Answer | None]], cpu_s: float, patience: float
    ) -> Iterator[Answer]:
        """Send a request and yield what each reading in turn makes of a message; None means that it was not for it."""
        if self._exit:
            raise RuntimeError("this child has ended")
        limits = self._limits
        seconds = tuple(patience * limit for limit in (cpu_s, limits.idle_s, limits.wall_s))
        rest, awaited = memoryview(request), deque(readings)
        self._watch.begin(*seconds)
        if self._budget.is_used_up:
            raise self._died(Finding("run.budget"))
        self._poll.modify(self._replies, select.POLLIN)
        try:
            self._decoder.restart()
            while awaited:
                unsent, rest = rest, self._write(rest)
                for message in self._read(blocked=bool(rest)):
                    if not awaited:
                        raise ProtocolError("more than one reply")
                    if (answer := awaited[0](message)) is None:
                        continue
                    awaited.popleft()
                    self._decoder.grant()
                    yield answer
                    self._watch.begin(*seconds)
                # one that hangs leaves its pipe full: only what could be written just now was waited for
                waits_for_us = len(rest) < len(unsent) or bool(self._poll.poll(0))
                reached = self._watch.limit_reached(waits_for_us)
                if awaited and reached and (not waits_for_us or reached.code == "run.budget"):
                    raise self._died(reached)
        except EOFError:
            raise self._died(self._ending()) from None
        except Flood:
            raise self._died(Finding("run.flood", {"mib": self._limits.reply_bytes // MIB})) from None
        except ProtocolError:
            raise self._died(Finding("run.forged")) from None

    def _loaded(self, message: Message) -> list[dict[str, Any]] | None:
        """Return what was noted while cells were loaded, or take note of the cell that begins."""
        frame = message.read()
        if frame.data.keys() != {"cell"}:
            return notes_of(frame.data.get("loaded"), self._cells)
        number = frame.data["cell"]
        if type(number) is not int or not self._cell < number <= self._cells:
            raise ProtocolError("not the number of a cell that comes next")
        self._watch.wake()
        self._cell = number
        return None

    def _write(self, rest: memoryview) -> memoryview:
        if not rest:
            return rest
        try:
            return rest[os.write(self._requests, rest) :]
        except BlockingIOError:
            return rest
        except BrokenPipeError:
            raise EOFError from None

    def _read(self, blocked: bool) -> Iterator[Message]:
        """Yield the messages that have become complete, after a short wait at most."""
        if not self._poll.poll(1 if blocked else _TICK_MS):
            return
        chunk = os.read(self._replies, _CHUNK)
        if not chunk:
            raise EOFError
        self._budget.charge(size=len(chunk))
        yield from self._decoder.feed(chunk)

    def _died(self, end: Finding) -> Died:
        cell = {"cell": self._cell} if self._cell else {}
        self.kill()
        return Died(end.code, {**end.details, **cell})

    def _ending(self) -> Finding:
        """Say how a child ended that closed its end of the conversation by itself."""
        ended = select.poll()
        ended.register(self._pidfd, select.POLLIN)
        if not ended.poll(100):
            return Finding("run.forged")  # it lives, and only closed the pipe
        self.kill()
        assert self._exit
        return _cause(self._exit, self._limits)


def _cause(ended: Exit, limits: Limits) -> Finding:
    if ended.code in (EXIT_MACHINE, EXIT_DEVICE):
        return Finding("run.machine" if ended.code == EXIT_MACHINE else "device.fault")
    if ended.code >= 0 and ended.code != OUT_OF_MEMORY:
        return Finding("run.exited")
    short_of_memory = -ended.code in _ABORTS and ended.memory_bytes >= _NEAR * limits.memory_bytes
    if ended.code == OUT_OF_MEMORY or short_of_memory:
        return Finding("run.memory", {"mib": limits.memory_bytes // MIB})
    if ended.code == -signal.SIGXCPU or ended.cpu_s >= limits.total_cpu_s:
        return Finding("run.cpu", {"seconds": str(limits.total_cpu_s)})
    if ended.code == -signal.SIGKILL:  # nobody but the kernel does this, when the machine's memory runs out
        return Finding("run.memory", {"mib": limits.memory_bytes // MIB})
    return Finding("run.crashed", {"signal": _CRASHES.get(-ended.code, "other")})
