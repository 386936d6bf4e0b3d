"""How a submission on paper goes wrong: methods to put in place of the right ones."""

from collections.abc import Callable
from typing import Any

from paper import Paper, Refused, out_of_memory, value_error


def wrong(**methods: Any) -> type[Paper]:
    """Return a submission with these methods in place of the right ones."""
    return type("Wrong", (Paper,), methods)


def ledger_with(**entries: Callable[[dict[str, Any]], Any]) -> Callable[..., Any]:
    def ledger(self: Paper, *args: int) -> Any:
        told = Paper.ledger(self, *args)["dict"]
        return {"dict": told | {name: change(told) for name, change in entries.items()}}

    return ledger


TOKEN, BLOCK, TOTAL, LAYOUT = "kv_bytes_per_token", "kv_bytes_per_block", "total_cache_bytes", "layout_shape"


def prefill_of(count: Callable[[int, int], int]) -> Callable[..., Any]:
    def prefill(self: Paper, m: dict[str, Any], r: dict[str, Any]) -> Any:
        if r["table"]:
            raise value_error()
        r["table"].extend(self.take(m, count(r["seq_len"], m["block_size"])))

    return prefill


def keeps_partial(self: Paper, m: dict[str, Any], count: int) -> list[int]:
    if count > len(m["free"]):
        del m["free"][-1:]
        raise out_of_memory()
    return [m["free"].pop() for _ in range(count)]


def grows_first(self: Paper, m: dict[str, Any], r: dict[str, Any]) -> Any:
    r["seq_len"] += 1
    if (r["seq_len"] - 1) == len(r["table"]) * m["block_size"]:
        r["table"].extend(self.take(m, 1))


def decode_when(needed: Callable[[int, int, int], bool], place: int | None = None) -> Callable[..., Any]:
    def decode(self: Paper, m: dict[str, Any], r: dict[str, Any]) -> Any:
        if needed(r["seq_len"], len(r["table"]), m["block_size"]):
            at = len(r["table"]) if place is None else place
            r["table"][at:at] = self.take(m, 1)
        r["seq_len"] += 1

    return decode


def without_taking(self: Paper, m: dict[str, Any], count: int) -> list[int]:
    if count > len(m["free"]):
        raise out_of_memory()
    return m["free"][:count]


def forgets_a_block(self: Paper, m: dict[str, Any], count: int) -> list[int]:
    taken = Paper.take(self, m, count)
    if len(m["free"]) > 1:
        m["free"].pop()
    return taken


def read_with(change: Callable[[dict[str, Any], dict[str, Any], dict[str, Any]], Any]) -> Callable[..., Any]:
    def read(self: Paper, m: dict[str, Any], r: dict[str, Any]) -> Any:
        return change(Paper.read(self, m, r)["tensor"], m, r)

    return read


def reports(name: str, value: Callable[[Any], Any]) -> Callable[..., Any]:
    def report(self: Paper, m: dict[str, Any], r: dict[str, Any]) -> Any:
        told = Paper.report(self, m, r)["dict"]
        return {"dict": told | {name: value(told[name])}}

    return report


def spoils(method: str, spoil: Callable[[Paper, dict[str, Any], dict[str, Any]], None]) -> dict[str, Any]:
    """Return an override that does the right thing and then something more."""

    def call(self: Paper, m: dict[str, Any], r: dict[str, Any]) -> Any:
        returned = getattr(Paper, method)(self, m, r)
        spoil(self, m, r)
        return returned

    return {method: call}


def another(self: Paper, m: dict[str, Any], r: dict[str, Any]) -> None:
    for other in self.requests.values():
        if other is not r:
            other["seq_len"] += 1


def overwrites(self: Paper, m: dict[str, Any], r: dict[str, Any]) -> None:
    m["pool"] = bytes(len(m["pool"]))


def shrinks_pool(self: Paper, m: dict[str, Any], r: dict[str, Any]) -> None:
    m["pool"] = m["pool"][:-1]


def resizes(self: Paper, m: dict[str, Any], r: dict[str, Any]) -> None:
    m["block_size"] += 1


def sorts_free(self: Paper, m: dict[str, Any], r: dict[str, Any]) -> None:
    m["free"].reverse()


def refuses_to_grow(self: Paper, m: dict[str, Any], r: dict[str, Any]) -> Any:
    raise Refused("AttributeError")


def gives_back(self: Paper, m: dict[str, Any], r: dict[str, Any]) -> None:
    m["free"].extend(r["table"])
    r["table"] = []


def reads_anything(self: Paper, m: dict[str, Any], r: dict[str, Any]) -> Any:
    return Paper.read(self, m, {**r, "table": [b % m["num_blocks"] for b in r["table"]] or [0]})


def prefills_again(self: Paper, m: dict[str, Any], r: dict[str, Any]) -> None:
    r["table"].extend(self.take(m, -(-r["seq_len"] // m["block_size"])))


def counts_nothing(self: Paper, m: dict[str, Any], r: dict[str, Any]) -> None:
    if r["seq_len"] == len(r["table"]) * m["block_size"]:
        r["table"].extend(self.take(m, 1))


def raises(name: str, *bases: str, oom: bool = False) -> Callable[..., Any]:
    def call(self: Paper, *_: Any) -> Any:
        raise Refused(name, *bases, oom=oom)

    return call


def oom_as(name: str, *bases: str, oom: bool) -> Callable[..., Any]:
    def take(self: Paper, m: dict[str, Any], count: int) -> list[int]:
        if count > len(m["free"]):
            raise Refused(name, *bases, oom=oom)
        return Paper.take(self, m, count)

    return take
