"""Pools with a dtype of their own: a submission that does not take the dtype asked for is judged on the one it has."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from autograder.contract.cell_bytes import in_dtype
from autograder.contract.operations import DTYPE_BYTES, Operation
from autograder.contract.quiet import calls_of, quietly
from autograder.contract.scenario import Scenario

Dtypes = Mapping[str, tuple[str, str]]
"""Of every manager: the dtype asked for, and the one that its pool has."""


def as_pinned(scenario: Scenario, trace: Sequence[Mapping[str, Any]]) -> Scenario | None:
    """Return the case with every pool asked for in the dtype that it had in ``trace``; None where all had that before.

    Its values are then such as this dtype can hold: nothing is converted, and nothing has to be taken on trust.
    """
    operations = tuple(_in_their_dtypes(scenario.operations, trace))
    return None if operations == scenario.operations else replace(scenario, operations=operations)


def _in_their_dtypes(operations: Sequence[Operation], trace: Sequence[Mapping[str, Any]]) -> Iterator[Operation]:
    dtypes: dict[str, tuple[str, str]] = {}
    for operation, seen in zip(operations, trace, strict=True):
        for call in calls_of(operation):
            if call.name == "new":
                m, wanted = call.args[0], call.args[4]
                dtypes[m] = wanted, _dtype_of(seen["state"]["managers"].get(m, {}).get("pool")) or wanted
        yield _changed(operation, dtypes)


def _changed(operation: Operation, dtypes: Dtypes) -> Operation:
    if operation.name == "quiet":
        return quietly(_changed(call, dtypes) for call in calls_of(operation))
    if operation.name not in ("new", "fill"):
        return operation
    wanted, pinned = dtypes[operation.args[0]]
    if wanted == pinned:
        return operation
    if operation.name == "new":
        return replace(operation, args=(*operation.args[:4], pinned, *operation.args[5:]))
    return replace(operation, payload=in_dtype(operation.payload, wanted, pinned))


def _dtype_of(pool: Any) -> str | None:
    tensor = pool.get("tensor") if isinstance(pool, dict) else None
    dtype = tensor.get("dtype") if isinstance(tensor, dict) else None
    return dtype if dtype in DTYPE_BYTES else None
