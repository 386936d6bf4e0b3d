"""What late work costs: a course's rule, a student's own due date, and what follows for one submission."""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

from autograder.config import ConfigError, Late

UNIT = {"day": timedelta(days=1), "hour": timedelta(hours=1)}


@dataclass(frozen=True, slots=True)
class Extension:
    """A student's own terms: due date, free days, and the time of receipt where the download has none."""

    due: str = ""
    free_days: str = ""
    received: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Lateness:
    """How late a submission is, and what that costs: ``penalty`` points, never below the floor of ``least`` points."""

    begun: int
    free: int
    interval: str
    penalty: float
    least: float
    refused: bool


def lateness(received: str, late: Late, own: Extension, possible: float) -> Lateness | None:
    """Return what a time of receipt costs, None where it is in time or not known."""
    handed_in = instant(own.received or received, late.due)
    if handed_in is None:
        return None
    due = instant(own.due, late.due) if own.due else late.due
    assert due is not None
    over = handed_in - due - timedelta(minutes=late.grace_minutes)
    if over <= timedelta(0):
        return None
    # Begun ones count, from the due date itself: the grace only decides whether work is late at all.
    begun = math.ceil((handed_in - due) / UNIT[late.interval])
    free_days = int(own.free_days) if own.free_days else late.free_days
    free = min(begun, free_days * (24 if late.interval == "hour" else 1))
    penalty = possible * late.percent / 100 * (begun - free)
    refused = late.cutoff_days is not None and handed_in - due > timedelta(days=late.cutoff_days)
    return Lateness(begun, free, late.interval, penalty, possible * late.floor_percent / 100, refused)


def after(points: float, late: Lateness | None) -> float:
    """Return what is left of ``points``: the floor keeps what was earned up to it."""
    if late is None:
        return points
    if late.refused:
        return 0
    return max(points - late.penalty, min(points, late.least), 0)


def instant(text: str, zone_of: datetime) -> datetime | None:
    """Read an ISO time; one without a zone is meant in the due date's."""
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise ConfigError(f"'{text}' is no time; write it as 2026-11-01T23:59:00-05:00.") from error
    return time if time.tzinfo else time.replace(tzinfo=zone_of.tzinfo)
