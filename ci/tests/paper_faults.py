"""Submissions on paper that are wrong in one way, and the rules that each must be found to break."""

from typing import Any

from paper import Paper, Refused
from wrong_on_paper import (
    BLOCK,
    LAYOUT,
    TOKEN,
    TOTAL,
    another,
    counts_nothing,
    decode_when,
    forgets_a_block,
    gives_back,
    grows_first,
    keeps_partial,
    ledger_with,
    oom_as,
    overwrites,
    prefill_of,
    prefills_again,
    raises,
    read_with,
    reads_anything,
    reports,
    resizes,
    shrinks_pool,
    sorts_free,
    spoils,
    without_taking,
)

LEDGERS: dict[str, tuple[Any, str, set[str]]] = {
    "token halved": (ledger_with(**{TOKEN: lambda t: t[TOKEN] // 2}), "ledger.token", {"per_token", "dtype_bytes"}),
    "block one off": (ledger_with(**{BLOCK: lambda t: t[BLOCK] + 1}), "ledger.block", {"per_block"}),
    "total one off": (ledger_with(**{TOTAL: lambda t: t[TOTAL] + 1}), "ledger.total", {"total"}),
    "token a float": (ledger_with(**{TOKEN: lambda t: {"float": float(t[TOKEN]).hex()}}), "ledger.kind", {"per_token"}),
    "token a bool": (ledger_with(**{TOKEN: lambda _: {"other": "bool"}}), "ledger.kind", {"per_token", "dtype_bytes"}),
    "total missing": (lambda s, *a: {"dict": {TOKEN: Paper().ledger(*a)["dict"][TOKEN]}}, "ledger.keys", {"total"}),
    "a list": (lambda s, *a: {"list": Paper().ledger(*a) and []}, "ledger.answer", {"per_token", "layout"}),
    "None": (lambda s, *a: Paper().ledger(*a) and None, "ledger.answer", {"per_token", "per_block", "total"}),
    "layout turned": (
        ledger_with(**{LAYOUT: lambda t: {"list": t[LAYOUT]["list"][::-1]}}),
        "ledger.layout",
        {"layout"},
    ),
    "layout a set": (ledger_with(**{LAYOUT: lambda t: {"other": "set"}}), "ledger.layout", {"layout"}),
    "not refused": (lambda s, *a: {"dict": {}} if min(a) <= 0 else Paper().ledger(*a), "ledger.refusal", set()),
    "another error": (
        lambda s, *a: (_ for _ in ()).throw(Refused("TypeError")) if min(a) <= 0 else Paper().ledger(*a),
        "ledger.refusal",
        set(),
    ),
}


FAULTS: dict[str, tuple[dict[str, Any], dict[str, set[str]]]] = {
    "prefill rounds down": ({"prefill": prefill_of(lambda n, b: n // b)}, {"q2": {"prefill.count"}}),
    "prefill takes one more": (
        {"prefill": prefill_of(lambda n, b: n // b + 1)},
        {"q2": {"prefill.count", "prefill.refused"}},
    ),
    "prefill fails": ({"prefill": raises("KeyError")}, {"q2": {"call.raised"}}),
    "prefill refuses": ({"prefill": raises("ValueError")}, {"q2": {"prefill.refused"}}),
    "prefill again": ({"prefill": prefills_again}, {"q2": {"prefill.again"}}),
    "prefill changes the length": (
        spoils("prefill", lambda s, m, r: r.update(seq_len=r["seq_len"] + 1)),
        {"q2": {"prefill.length"}},
    ),
    "prefill touches others": (spoils("prefill", another), {"q2": {"changed.other"}}),
    "prefill overwrites tokens": (spoils("prefill", overwrites), {"q2": {"changed.pool"}}),
    "prefill shortens the pool": (spoils("prefill", shrinks_pool), {"q2": {"changed.pool"}}),
    "prefill resizes": (spoils("prefill", resizes), {"q2": {"changed.other"}}),
    "blocks stay free": ({"take": without_taking}, {"q2": {"blocks.shared"}, "q3": {"blocks.shared"}}),
    "a block is lost": ({"take": forgets_a_block}, {"q2": {"blocks.lost"}, "q3": {"blocks.lost"}}),
    "one block twice": ({"take": lambda s, m, n: Paper.take(s, m, n)[:1] * n}, {"q2": {"blocks.twice"}}),
    "a block that is none": (
        {"take": lambda s, m, n: [b + 1000 for b in Paper.take(s, m, n)]},
        {"q2": {"blocks.invalid"}, "q3": {"blocks.invalid"}},
    ),
    "a negative block": (
        {"take": lambda s, m, n: [-1 for b in Paper.take(s, m, n)]},
        {"q2": {"blocks.invalid"}, "q3": {"blocks.invalid"}},
    ),
    "a refusal takes a block": ({"take": keeps_partial}, {"q2": {"refusal.changed"}}),
    "OOM without a word": ({"take": oom_as("RuntimeError", oom=False)}, {"q2": {"oom.text"}, "q3": {"oom.text"}}),
    "OOM as MemoryError": ({"take": oom_as("MemoryError", oom=True)}, {"q2": {"prefill.oom"}, "q3": {"decode.oom"}}),
    "OOM not implemented": (
        {"take": oom_as("NotImplementedError", "RuntimeError", oom=True)},
        {"q2": {"prefill.oom"}, "q3": {"decode.oom"}},
    ),
    "OOM as an endless recursion": (
        {"take": oom_as("RecursionError", "RuntimeError", oom=False)},
        {"q2": {"prefill.oom"}, "q3": {"decode.oom"}},
    ),
    "decode too late": ({"decode": decode_when(lambda n, t, b: n > t * b)}, {"q3": {"decode.late", "decode.oom"}}),
    "decode too early": (
        {"decode": decode_when(lambda n, t, b: n + 1 >= t * b)},
        {"q3": {"decode.early", "decode.refused"}},
    ),
    "decode always": ({"decode": decode_when(lambda n, t, b: True)}, {"q3": {"decode.early", "decode.refused"}}),
    "decode never": ({"decode": decode_when(lambda n, t, b: False)}, {"q3": {"decode.late", "decode.oom"}}),
    "decode inserts in front": ({"decode": decode_when(lambda n, t, b: n == t * b, 0)}, {"q3": {"decode.order"}}),
    "decode forgets the token": ({"decode": counts_nothing}, {"q3": {"decode.length"}}),
    "decode counts first": ({"decode": grows_first}, {"q3": {"refusal.changed"}}),
    "decode fails": ({"decode": raises("IndexError")}, {"q3": {"call.raised", "decode.oom"}}),
    "decode touches others": (spoils("decode", another), {"q3": {"changed.other"}}),
    "decode overwrites tokens": (spoils("decode", overwrites), {"q3": {"changed.pool"}}),
    "read sorts": (
        {"read": lambda s, m, r: Paper.read(s, m, {**r, "table": sorted(r["table"])})},
        {"q4": {"read.order"}},
    ),
    "read keeps the tail": (
        {"read": lambda s, m, r: Paper.read(s, m, {**r, "seq_len": len(r["table"]) * m["block_size"]})},
        {"q4": {"read.uncut"}},
    ),
    "read loses a row": (
        {"read": lambda s, m, r: Paper.read(s, m, {**r, "seq_len": r["seq_len"] - 1})},
        {"q4": {"read.tail", "read.last_block"}},
    ),
    "read in another dtype": (
        {"read": read_with(lambda t, m, r: {"tensor": t | {"dtype": "int8"}})},
        {"q4": {"read.dtype"}},
    ),
    "read without a dtype": (
        {"read": read_with(lambda t, m, r: {"tensor": t | {"dtype": None}})},
        {"q4": {"read.dtype"}},
    ),
    "read flat": (
        {"read": read_with(lambda t, m, r: {"tensor": t | {"shape": [t["shape"][0] * t["shape"][1]]}})},
        {"q4": {"read.shape"}},
    ),
    "read of another width": (
        {"read": read_with(lambda t, m, r: {"tensor": t | {"shape": [t["shape"][0], t["shape"][1] + 1]}})},
        {"q4": {"read.shape"}},
    ),
    "read one cell wrong": (
        {"read": read_with(lambda t, m, r: {"tensor": t | {"bytes": t["bytes"][:-1] + b"\x01"}})},
        {"q4": {"read.values"}},
    ),
    "read gives a list": ({"read": read_with(lambda t, m, r: {"list": []})}, {"q4": {"read.kind"}}),
    "read gives nothing": ({"read": read_with(lambda t, m, r: None)}, {"q4": {"read.kind"}}),
    "read fails": ({"read": raises("RuntimeError")}, {"q4": {"call.raised", "read.refusal"}}),
    "read refuses": ({"read": raises("ValueError")}, {"q4": {"read.refused"}}),
    "read refuses nothing": ({"read": reads_anything}, {"q4": {"read.refusal"}}),
    "read writes": (spoils("read", overwrites), {"q4": {"read.changed"}}),
    "read sorts the free list": (spoils("read", sorts_free), {"q4": {"read.changed"}}),
}
"""Overrides, and what each must break: its own question at least, by these rules alone, and q5 or nothing beside."""


GIVEN: dict[str, tuple[dict[str, Any], set[str]]] = {
    "any request": ({"request": lambda s, i, n: {"seq_len": n, "table": []}}, {"request.validation"}),
    "a request one longer": (
        {"request": lambda s, i, n: {**Paper.request(s, i, n), "seq_len": n + 1}},
        {"request.initial"},
    ),
    "a request with blocks": (
        {"request": lambda s, i, n: {**Paper.request(s, i, n), "table": [0]}},
        {"request.initial"},
    ),
    "a pool one smaller": ({"new": lambda s, n, *a: {**Paper.new(s, n, *a), "num_blocks": n - 1}}, {"new.initial"}),
    "a free list without 0": (
        {"new": lambda s, n, *a: {**Paper.new(s, n, *a), "free": list(range(1, n))}},
        {"new.blocks"},
    ),
    "release keeps the table": (
        {"release": lambda s, m, r: m["free"].extend(r["table"])},
        {"release.table", "release.refusal"},
    ),
    "release loses blocks": (
        {"release": lambda s, m, r: Paper.release(s, {**m, "free": list(m["free"])}, r)},
        {"release.blocks"},
    ),
    "release refuses nothing": ({"release": gives_back}, {"release.refusal"}),
    "release fails": ({"release": raises("KeyError")}, {"call.raised"}),
    "release refuses": ({"release": raises("ValueError")}, {"release.refused"}),
    "report one more": ({"report": reports("logical_tokens", lambda v: v + 1)}, {"report.value"}),
    "report of no room": ({"report": reports("allocated_tokens", lambda v: v - 1)}, {"report.value"}),
    "report of another tail": ({"report": reports("unused_tail_tokens", lambda v: v + 1)}, {"report.value"}),
    "report a little off": (
        {"report": reports("utilization", lambda v: {"float": (float.fromhex(v["float"]) + 1e-6).hex()})},
        {"report.value"},
    ),
    "report not a number": ({"report": reports("utilization", lambda v: {"other": "float"})}, {"report.kind"}),
    "report a float": ({"report": reports("logical_tokens", lambda v: {"float": float(v).hex()})}, {"report.kind"}),
    "report a bool": ({"report": reports("allocated_tokens", lambda v: {"other": "bool"})}, {"report.kind"}),
    "report nothing": ({"report": lambda s, m, r: None}, {"report.kind"}),
    "report a list": ({"report": lambda s, m, r: {"list": []}}, {"report.kind"}),
    "report changes": (spoils("report", lambda s, m, r: r.update(seq_len=r["seq_len"] + 1)), {"changed.other"}),
    "report fails": ({"report": raises("ZeroDivisionError")}, {"call.raised"}),
}
"""Faults of given code, and the rules of which q5 has to see one."""
