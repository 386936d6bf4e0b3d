"""The wire vocabulary: what the trusted side may ask of a submission, and nothing else.

An operation is a name and plain arguments. Objects of the submission are known by short labels: ``m`` stands for a
KVCacheManager, ``r`` for a Request.

==============  =========================================  ===================================================
What comes back per operation is an observation: ``{"returned": value}`` or ``{"raised": {...}}``, and the ``state`` of
every manager and request afterwards. A quiet operation's is ``{"ends": [...]}``, per call ``{"returned": None}`` or
``{"raised": {...}}``, and the ``state``. Values are tagged by exact type (see :data:`TAGS`).
"""

from dataclasses import dataclass
from typing import Any

NAMES = frozenset(
    "new request prefill decode release report read fill poison place seize vacate ledger attributes quiet".split()
)

QUIET_CALLS = frozenset("new request prefill decode release seize vacate".split())
"""What may happen quietly: thousands of calls on pools of real size, at microseconds a call."""

TAGS = frozenset({"float", "list", "tuple", "sequence", "set", "dict", "str", "tensor", "other"})
"""An int and None travel bare; everything else is ``{tag: content}``. ``set`` is a collection without an order, its
ints sorted; ``other`` names a type and equals nothing."""

DTYPE_BYTES = {"float16": 2, "bfloat16": 2, "float32": 4, "float64": 8}

METHODS = {
    "prefill": "allocate_for_prefill",
    "decode": "allocate_for_decode",
    "release": "release_request",
    "report": "allocation_report",
    "read": "get_physical_cache",
}

LEDGER_KEYS = ("kv_bytes_per_token", "kv_bytes_per_block", "total_cache_bytes", "layout_shape")


@dataclass(frozen=True)
class Operation:
    """One call on a submission; ``payload`` travels as raw bytes beside the JSON."""

    name: str
    args: tuple[Any, ...]
    payload: bytes = b""

    def to_wire(self) -> list[Any]:
        """Return the JSON half of the operation."""
        return [self.name, *self.args]
