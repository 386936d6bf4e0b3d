"""Comparing the numbers that a manager and a request keep under the names of the contract."""

from typing import Any

from autograder.contract.observations import is_int, not_a_number
from autograder.findings import Finding

MISSING = {"other": "missing"}


def compare_attributes(returned: Any, expected: dict[str, int]) -> Finding | None:
    """Return what is wrong with the attributes of one object, or None."""
    seen = returned.get("dict") if isinstance(returned, dict) else None
    for name, value in expected.items():
        got = seen.get(name, MISSING) if isinstance(seen, dict) else MISSING
        if not is_int(got):
            return not_a_number(name, got)
        if got != value:
            return Finding("attribute.value", {"what": name})
    return None
