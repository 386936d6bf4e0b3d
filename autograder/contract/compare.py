"""Comparing a trace with the reference model: the first deviation, its step, and the rule it breaks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autograder.contract import allocation, compare_read
from autograder.contract.attributes import compare_attributes
from autograder.contract.ledger import compare_ledger
from autograder.contract.model import Expected, ReferenceModel, ReferenceRequest
from autograder.contract.observations import (
    EMPTY_STATE,
    State,
    is_int,
    is_oom,
    is_raised,
    is_refusal_without_oom,
    is_removal_of_what_is_not_there,
    not_a_number,
    number_of,
    raised_name,
)
from autograder.contract.operations import Operation
from autograder.contract.questions import questions
from autograder.contract.quiet import Stretch, calls_of, compare_checkpoint
from autograder.findings import Finding

MOST_TOKENS = 1 << 63


@dataclass(frozen=True)
class Deviation:
    """The first step (from 0) at which a submission left the contract."""

    step: int
    finding: Finding
    owner: str


def first_deviation(
    question: str, operations: Sequence[Operation], trace: list[Any], focus: Sequence[str] = ()
) -> Deviation | None:
    """Return where and how a trace first breaks the contract, and whose fault that is, or None when it is right.

    The whole state is judged after every call, except where a table that was set by hand is read: there the reads
    alone, so that a wrong allocation costs nothing. ``focus`` narrows a ledger to some of its entries.
    """
    table, judge = questions(), _Judge(question, operations, focus)
    before: State = EMPTY_STATE
    for step, (operation, observation) in enumerate(zip(operations, trace, strict=True)):
        after: State = observation["state"]
        finding = judge.judge(operation, observation, before, after)
        if finding:
            guilty = "prefill" if finding.code == "prefill.grow" else (judge.guilty or operation).name
            given = (
                question if guilty == "attributes" else table.given_code
            )  # its own calls are all that could change them
            return Deviation(step, finding, table.owner.get(guilty, given))
        before = after
    return None


class _Judge:
    def __init__(self, question: str, operations: Sequence[Operation], focus: Sequence[str]) -> None:
        self.model = ReferenceModel()
        owner, used = questions().owner, {call.name for operation in operations for call in calls_of(operation)}
        self.reads_alone = question == owner["read"] and "prefill" not in used
        self.pool_matters = "read" in used
        self.holders: dict[str, dict[str, ReferenceRequest]] = {}
        self.focus = focus
        self.stretch = Stretch(self.model)
        self.guilty: Operation | None = None

    def judge(self, operation: Operation, seen: dict[str, Any], before: State, after: State) -> Finding | None:
        if operation.name == "quiet":
            return self._quiet(operation, seen.get("ends"), before, after)
        names = [a for a in operation.args if isinstance(a, str)]
        pool = self.model.pools.get(names[0]) if names else None
        request = self.model.requests.get(names[1]) if len(names) > 1 else None
        free_before = list(pool.free) if pool else []
        table_before = list(request.table) if request else []

        if operation.name in ("decode", "release"):
            stuck = _cannot_change(before["requests"].get(names[1], {}).get("table"), seen)
            if stuck:
                return stuck
        if operation.name == "fill" and not self.pool_matters and raised_name(seen):
            return None  # a pool of another shape costs points where it is read
        expected = self.model.apply(operation)
        self.stretch.note(operation, expected)
        found = self._outcome(operation, expected, seen)
        if found:
            return found
        if operation.name == "ledger":
            return compare_ledger(operation, seen.get("returned"), self.focus) if expected.outcome == "ok" else None
        if self.reads_alone and operation.name not in ("read", "fill"):
            return None
        if expected.outcome != "ok":
            return allocation.unchanged(before, after, "refusal.changed", operation.name, own=names)
        if operation.name == "read":
            assert pool is not None
            assert request is not None
            found = compare_read.compare_read(pool, request, seen.get("returned"), expected.value)
            return found or allocation.unchanged(before, after, "read.changed", "read", own=names)
        if operation.name == "report":
            return _compare_report(seen.get("returned"), expected.value) or allocation.unchanged(
                before, after, "changed.other", "report", own=names
            )
        if operation.name == "attributes":
            return compare_attributes(seen.get("returned"), expected.value)
        if operation.name == "fill":
            assert pool is not None
            shape = allocation.pool_shape(pool, after["managers"].get(names[0], {})) if self.pool_matters else None
            return shape or allocation.unchanged(before, after, "changed.other", "fill", own=names, except_for=names)
        if operation.name in ("place", "poison"):
            return None
        return self._state(operation, names, before, after, free_before, table_before)

    def _quiet(self, operation: Operation, ends: Any, before: State, after: State) -> Finding | None:
        """Judge a stretch of quiet calls: how each ended, and the state at the end."""
        calls = calls_of(operation)
        expected = self.stretch.run(calls)
        if not isinstance(ends, list) or len(ends) != len(calls):
            return Finding("call.raised", {"operation": operation.name, "got": "-"})
        for call, how, seen in zip(calls, expected, ends, strict=True):
            if found := self._outcome(call, how, seen):
                self.guilty = call
                return found
        found = compare_checkpoint(self.stretch, before, after)
        self.guilty = calls[-1] if found else None
        self.holders.clear()
        for r, request in self.model.requests.items():
            if request.table:
                held = self.holders.setdefault(self.stretch.managers.get(r, ""), {})
                held[r] = ReferenceRequest(request.seq_len, list(request.table))
        return found

    def _outcome(self, operation: Operation, expected: Expected, seen: dict[str, Any]) -> Finding | None:
        name, got = operation.name, raised_name(seen)
        if expected.outcome == "ok":
            if not got:
                return None
            if name == "fill":
                return Finding("pool.shape")
            if name == "prefill" and is_removal_of_what_is_not_there(seen):
                return Finding("prefill.removed")
            if is_oom(seen) or is_raised(seen, "ValueError"):
                code = f"{name}.refused" if name in ("prefill", "decode", "release", "read") else "call.raised"
                return Finding(code, {"got": got, "operation": name})
            return Finding("call.raised", {"operation": name, "got": got})
        if expected.outcome == "OOM":
            if is_refusal_without_oom(seen):
                return Finding("oom.text", {"operation": name})
            return None if is_oom(seen) else Finding(f"{name}.oom", {"got": got or "-"})
        if is_raised(seen, "ValueError"):
            return None
        code = {"prefill": "prefill.again", "request": "request.validation"}.get(name, f"{name}.refusal")
        return Finding(code, {"got": got or "-"})

    def _state(
        self,
        operation: Operation,
        names: list[str],
        before: State,
        after: State,
        free_before: list[int],
        table_before: list[int],
    ) -> Finding | None:
        name = operation.name
        if name == "new":
            seen = after["managers"].get(names[0], {})
            for field, value in zip(("num_blocks", "block_size"), operation.args[1:3], strict=True):
                if not is_int(seen.get(field)) or seen[field] != value:
                    return Finding("new.initial", {"what": field})
            found = allocation.free_blocks(self.model.pools[names[0]], seen, initial=True)
            again = names[0] in before["managers"]
            if again:
                self.holders.clear()
            others = {m: s for m, s in before["managers"].items() if m != names[0]}
            rest: State = {"managers": others, "requests": {} if again else before["requests"]}
            return found or allocation.others_unchanged(rest, after, name, (names[0],))
        if name == "request":
            return self._fresh_request(names[0], after) or allocation.others_unchanged(before, after, name, (names[0],))
        m, r = names[0], names[1]
        pool, old, new = self.model.pools[m], before["managers"].get(m, {}), after["managers"].get(m, {})
        change = allocation.TableChange(self.model, m, r, free_before, table_before)
        found = (
            change.check(name, after["requests"].get(r, {}))
            or allocation.free_blocks(pool, new, operation=name)
            or allocation.others_unchanged(before, after, name, (m, r))
        )
        holders = self.holders.setdefault(m, {})
        if name in ("release", "vacate"):
            holders.pop(r, None)
        found = found or allocation.tokens_unchanged(pool, holders.values(), old.get("pool"), new.get("pool"), name)
        if name not in ("release", "vacate"):
            holder = self.model.requests[r]
            holders[r] = ReferenceRequest(holder.seq_len, list(holder.table))
        return found

    def _fresh_request(self, r: str, after: State) -> Finding | None:
        seen, request = after["requests"].get(r, {}), self.model.requests[r]
        if not is_int(seen.get("seq_len")):
            return not_a_number("seq_len", seen.get("seq_len"))
        table = seen.get("table")
        empty = isinstance(table, dict) and next(iter(table.values()), None) == []
        return None if empty and seen["seq_len"] == request.seq_len else Finding("request.initial")


def _cannot_change(table: Any, seen: dict[str, Any]) -> Finding | None:
    """Blame prefill for a call that fails on the kind of table that prefill left, and for nothing else."""
    no_list = isinstance(table, dict) and "list" not in table
    failed = is_raised(seen, "AttributeError") or is_raised(seen, "TypeError")
    return Finding("prefill.grow") if no_list and failed else None


def _compare_report(returned: Any, expected: dict[str, float]) -> Finding | None:
    report = returned.get("dict") if isinstance(returned, dict) else None
    if not isinstance(report, dict):
        return Finding("report.kind", {"name": "allocation_report"})
    for key, value in expected.items():
        if key == "unused_tail_tokens" and value < 0:
            continue  # nothing is allocated yet, so there is no tail to rule on
        number = number_of(report.get(key))
        if number is None or (isinstance(value, int) and not is_int(report[key])):
            return Finding("report.kind", {"name": key})
        if abs(number) > MOST_TOKENS or abs(number - value) > 1e-9:  # a float holds no larger integer
            return Finding("report.value", {"name": key})
    return None
