"""The event loop behind a cell's ``await``: it has no sockets, and its clock leaps to the next thing to be done."""

import asyncio


class EventLoop(asyncio.BaseEventLoop):
    """Runs callbacks and timers in order; nobody outside the process can wake it, so it never waits."""

    def __init__(self) -> None:
        super().__init__()
        self._selector = self
        self._now = 0.0

    def time(self) -> float:
        """Return the seconds that would have passed."""
        return self._now

    def select(self, timeout: float | None) -> tuple[()]:
        """Let the time until the next timer pass."""
        if timeout is None:
            raise RuntimeError("the cell awaits what never comes")
        self._now += timeout
        return ()

    def _process_events(self, _: object) -> None:
        return None

    def _write_to_self(self) -> None:
        return None


def install() -> None:
    """Make it the loop of ``asyncio.run`` and of ``asyncio.new_event_loop``."""
    setattr(asyncio.DefaultEventLoopPolicy, "_loop_factory", EventLoop)  # noqa: B010
