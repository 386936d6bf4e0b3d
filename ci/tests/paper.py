"""A submission on paper: it answers operations as a child would, without one, and can be made wrong in any one way.

Its traces are what the comparison judges, so that every rule of the contract is tried in microseconds.
"""

from collections.abc import Callable, Sequence
from typing import Any

from autograder.contract.cell_bytes import poison
from autograder.contract.operations import DTYPE_BYTES, LEDGER_KEYS, Operation
from autograder.contract.quiet import calls_of

Observation = dict[str, Any]
ATTRIBUTES = ("request_id", "seq_len", "num_blocks", "block_size", "head_dim")


class Refused(Exception):
    """What a call of the submission raises: the name of the error and those of its bases."""

    def __init__(self, name: str, *bases: str, oom: bool = False) -> None:
        super().__init__(name)
        self.seen = {"name": name, "bases": [name, *bases, "Exception", "BaseException"], "oom": oom}


def value_error() -> Refused:
    return Refused("ValueError")


def out_of_memory() -> Refused:
    return Refused("RuntimeError", oom=True)


class Paper:
    """A right submission; a wrong one overrides a method. Blocks are taken from the end of the free list."""

    def __init__(self) -> None:
        self.managers: dict[str, dict[str, Any]] = {}
        self.requests: dict[str, dict[str, Any]] = {}

    # the four TODOs

    def ledger(self, num_blocks: int, block_size: int, layers: int, heads: int, head_dim: int, size: int = 2) -> Any:
        if min(num_blocks, block_size, layers, heads, head_dim, size) <= 0:
            raise value_error()
        token = 2 * layers * heads * head_dim * size
        sizes = (token, token * block_size, token * block_size * num_blocks)
        shape = {"list": [layers, 2, heads, block_size, head_dim]}
        return {"dict": dict(zip(LEDGER_KEYS, (*sizes, shape), strict=True))}

    def prefill(self, m: dict[str, Any], r: dict[str, Any]) -> Any:
        if r["table"]:
            raise value_error()
        r["table"].extend(self.take(m, -(-r["seq_len"] // m["block_size"])))

    def decode(self, m: dict[str, Any], r: dict[str, Any]) -> Any:
        if not r["table"]:
            raise value_error()
        if r["seq_len"] == len(r["table"]) * m["block_size"]:
            r["table"].extend(self.take(m, 1))
        r["seq_len"] += 1

    def read(self, m: dict[str, Any], r: dict[str, Any]) -> Any:
        if not r["table"] or any(not 0 <= b < m["num_blocks"] for b in r["table"]):
            raise value_error()
        row = m["head_dim"] * DTYPE_BYTES[m["dtype"]]
        block = row * m["block_size"]
        content = b"".join(m["pool"][b * block : (b + 1) * block] for b in r["table"])[: r["seq_len"] * row]
        return tensor(m["dtype"], [r["seq_len"], m["head_dim"]], content)

    # given code

    def new(self, num_blocks: int, block_size: int, head_dim: int, dtype: str, _device: str) -> dict[str, Any]:
        cells = num_blocks * block_size * head_dim
        return {
            "num_blocks": num_blocks,
            "block_size": block_size,
            "head_dim": head_dim,
            "dtype": dtype,
            "pool": bytes(cells * DTYPE_BYTES[dtype]),
            "free": list(range(num_blocks)),
        }

    def request(self, request_id: int, prompt_len: int) -> dict[str, Any]:
        if request_id < 0 or prompt_len <= 0:
            raise value_error()
        return {"seq_len": prompt_len, "table": []}

    def release(self, m: dict[str, Any], r: dict[str, Any]) -> Any:
        ids = r["table"]
        if not ids or len(set(ids)) < len(ids) or any(not 0 <= b < m["num_blocks"] or b in m["free"] for b in ids):
            raise value_error()
        m["free"] += ids
        r["table"] = []

    def report(self, m: dict[str, Any], r: dict[str, Any]) -> Any:
        room = len(r["table"]) * m["block_size"]
        used = (r["seq_len"] / room).hex() if room else (0.0).hex()
        names = ("logical_tokens", "allocated_tokens", "unused_tail_tokens", "utilization")
        return {"dict": dict(zip(names, (r["seq_len"], room, room - r["seq_len"], {"float": used}), strict=True))}

    def take(self, m: dict[str, Any], count: int) -> list[int]:
        if count > len(m["free"]):
            raise out_of_memory()
        return [m["free"].pop() for _ in range(count)]

    # answering

    def answer(self, operations: Sequence[Operation]) -> list[Observation]:
        """Return the trace of a scenario."""
        return [self.observe(operation) for operation in operations]

    def observe(self, operation: Operation) -> Observation:
        """Carry out one operation and return what a child would say of it."""
        if operation.name == "quiet":
            outcome = {"ends": [self._end(call, quiet=True) for call in calls_of(operation)]}
        else:
            outcome = self._end(operation)
        return outcome | {"state": self.state()}

    def _end(self, operation: Operation, quiet: bool = False) -> Observation:
        try:
            returned = self._carry_out(operation)
        except Refused as refused:
            return {"raised": refused.seen}
        return {"returned": None if quiet else returned}

    def _carry_out(self, operation: Operation) -> Any:
        name, args = operation.name, operation.args
        if name == "ledger":
            numbers = [value for a in args for value in (a.values() if isinstance(a, dict) else (a,))]
            return self.ledger(*numbers)
        if name == "new":
            if args[0] in self.managers:
                self.requests.clear()
            self.managers[args[0]] = self.new(*args[1:])
        elif name == "request":
            self.requests[args[0]] = {"request_id": args[1], **self.request(*args[1:])}
        elif name == "attributes":
            kept = {**self.managers, **self.requests}[args[0]]
            return {"dict": {name: kept[name] for name in ATTRIBUTES if name in kept}}
        elif name == "fill":
            self.managers[args[0]]["pool"] = operation.payload
        elif name == "poison":
            self._poison(self.managers[args[0]], self.requests[args[1]])
        elif name == "place":
            self.requests[args[0]] = {"seq_len": args[2], "table": list(args[1])}
        elif name == "seize":
            self.requests[args[1]]["table"] = list(args[2])
            self.managers[args[0]]["free"] = [b for b in self.managers[args[0]]["free"] if b not in args[2]]
        elif name == "vacate":
            self.managers[args[0]]["free"] += self.requests[args[1]]["table"]
            self.requests[args[1]]["table"] = []
        else:
            call: Callable[..., Any] = getattr(self, name)
            return call(self.managers[args[0]], self.requests[args[1]])
        return None

    def _poison(self, m: dict[str, Any], r: dict[str, Any]) -> None:
        size, row = m["block_size"], m["head_dim"] * DTYPE_BYTES[m["dtype"]]
        kept = [block * size + i for block in r["table"] for i in range(size)][: r["seq_len"]]
        m["pool"] = poison(m["pool"], row, m["dtype"], set(kept))

    def state(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Return every object as it is seen from outside."""
        return {
            "managers": {name: self.seen_manager(m) for name, m in self.managers.items()},
            "requests": {name: self.seen_request(r) for name, r in self.requests.items()},
        }

    def seen_manager(self, m: dict[str, Any]) -> dict[str, Any]:
        shape = [m["num_blocks"], m["block_size"], m["head_dim"]]
        sizes = {name: m[name] for name in ("num_blocks", "block_size")}
        return {**sizes, "pool": tensor(m["dtype"], shape, m["pool"]), "free": {"list": list(m["free"])}}

    def seen_request(self, r: dict[str, Any]) -> dict[str, Any]:
        return {"seq_len": r["seq_len"], "table": {"list": list(r["table"])}}


def tensor(dtype: str, shape: list[int], content: bytes) -> Any:
    """Return a tensor as a child describes it."""
    return {"tensor": {"dtype": dtype, "shape": shape, "device": "cpu", "bytes": content}}
