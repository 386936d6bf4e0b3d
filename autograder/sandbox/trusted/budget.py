"""What one submission may use in all, whatever it does: its children's time, this process's own, and bytes to read."""

import time

from autograder.sandbox.limits import Limits


class Budget:
    """What is left to one submission; charged by its children as they are watched, so that none has to be believed."""

    def __init__(self, limits: Limits) -> None:
        self._seconds, self._bytes = limits.submission_s, limits.submission_bytes
        self._wall_end = time.monotonic() + limits.submission_wall_s
        self._own_start = time.thread_time()

    def charge(self, seconds: float = 0.0, size: int = 0) -> None:
        """Take off seconds of a child's work or sleep, and bytes that it sent."""
        self._seconds -= seconds
        self._bytes -= size

    @property
    def is_used_up(self) -> bool:
        """Whether the rest of the submission has to go ungraded; the work of this thread since the start counts."""
        own = time.thread_time() - self._own_start
        return self._bytes < 0 or own > self._seconds or time.monotonic() > self._wall_end
