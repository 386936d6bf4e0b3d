"""The wire vocabulary: what the trusted side may ask of a submission, and nothing else.

An operation is a name and plain arguments. Objects of the submission are known by short labels: ``m`` stands for a
KVCacheManager, ``r`` for a Request.

==============  =========================================  ===========================================================
name            arguments                                  meaning
==============  =========================================  ===========================================================
``new``         m, num_blocks, block_size, head_dim,       make a manager whose pool has this dtype and device;
                dtype, device                              where ``m`` exists already, all requests are forgotten
``request``     r, request_id, prompt_len                  make a request
``prefill``     m, r                                       ``m.allocate_for_prefill(r)``
``decode``      m, r                                       ``m.allocate_for_decode(r)``
``release``     m, r                                       ``m.release_request(r)``
``report``      m, r                                       ``m.allocation_report(r)``
``read``        m, r                                       ``m.get_physical_cache(r)``
``fill``        m                                          copy ``payload`` (raw bytes of the whole pool) into the pool
``poison``      m, r                                       turn every row of the pool without a token of ``r`` into NaN
``place``       r, ids, seq_len                            set table and length by hand; the free list is left alone
``seize``       m, r, ids                                  put ids into the table in place and out of the free list
``vacate``      m, r                                       the reverse of ``seize``, by hand
``ledger``      five or six integers, or five and          ``estimate_kv_cache_bytes(...)``; what stands in the
                {"dtype_bytes": integer}                   dict is passed by keyword
``attributes``  label                                      the numbers that a manager or a request keeps
``quiet``       a list of calls, each [name, *arguments]   carry them out one after another; only how each ended is
                with a name of QUIET_CALLS                 noted, and the state is observed once, at the end
``watched``     none                                       on a device: events and bytes taken by the call before
``pool``        dtype, shape                               on a device: bytes that a plain tensor of this shape takes
``vast``        m, num_blocks, block_size, head_dim,       on a device: as ``new``, however large; ``payload`` fills
                dtype, device                              the beginning of the last block
``decoy``       copies, bytes, copies, in a thread         on a device: what surrounds the next watched call
``bait``        copies, bytes, in a thread                 on a device: a call of ours in a watched call's place
``settle``      none                                       on a device: wait for all work, look at the state again
``again``       back                                       on a device: the result of an earlier read, as it is now
``gone``        none                                       on a device: let go of all objects, return what was noted
``attend``      m, r                                       on a device: attention over what a read returns
``rates``       m, r                                       on a device: MB/s of a read and of a copy, for the report
==============  =========================================  ===========================================================

What comes back per operation is an observation: ``{"returned": value}`` or ``{"raised": {...}}``, and the ``state`` of
every manager and request afterwards. A quiet operation's is ``{"ends": [...]}``, per call ``{"returned": None}`` or
``{"raised": {...}}``, and the ``state``. Values are tagged by exact type (see :data:`TAGS`).
"""

from dataclasses import dataclass
from typing import Any

NAMES = frozenset(
    "new request prefill decode release report read fill poison place seize vacate ledger attributes quiet".split()
)

QUIET_CALLS = frozenset("new request prefill decode release read seize vacate".split())
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
