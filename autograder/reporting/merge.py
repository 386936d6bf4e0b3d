"""Merging the results of two runs, CPU and GPU, into one per submission.

Merging is commutative and idempotent: in the other order, or once more, it gives the same bytes.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from autograder.contract.questions import questions
from autograder.findings import Finding, Found
from autograder.reporting.results import (
    WORST_FIRST,
    SubmissionResult,
    TestResult,
)
from autograder.reporting.schema import row

SAME_VERSIONS = ("autograder", "tests")
COMMON = (*SAME_VERSIONS, "seed")
"""What is the same on every device; only the CPU part has a seed."""
MACHINE_FAULTS = frozenset({"run.machine", "device.missing", "device.fault", "device.watch"})


class MergeError(Found):
    """Two results that do not belong together; ``finding`` says why."""


def merge_all(
    one: Iterable[SubmissionResult], other: Iterable[SubmissionResult]
) -> tuple[list[SubmissionResult], list[Finding]]:
    """Merge two runs student by student; return the results and what could not be merged.

    A student is known by the platform's id where there is one. One missing on one side stays as on the other. Where two
    results do not belong together the CPU's is kept.
    """
    sides = [{result.who.key or result.student: result for result in run} for run in (one, other)]
    merged, problems = [], []
    for student in sorted(sides[0].keys() | sides[1].keys()):
        pair = [side[student] for side in sides if student in side]
        try:
            merged.append(merge(*pair) if len(pair) == 2 else pair[0])
        except MergeError as error:
            problems.append(error.finding)
            merged.append(min(pair, key=_cpu_first))
    return sorted(merged, key=lambda result: result.student), problems


def merge(one: SubmissionResult, other: SubmissionResult) -> SubmissionResult:
    """Return what two runs know about the same submission; raise MergeError when it is not the same."""
    first, second = sorted((one, other), key=_cpu_first)
    _check(first, second)
    tests, found = _merge_tests(first, second)
    devices = sorted({*first.device.split("+"), *second.device.split("+")})
    total = max(side.max_points + side.pending_points for side in (first, second))
    rejections = [side.rejected for side in (first, second) if side.rejected]
    notes = [*first.notes, *second.notes, *found, *(rejections if len(rejections) == 1 else ())]
    merged = replace(
        first,
        device="+".join(devices),
        tests=tests,
        rejected=rejections[0] if len(rejections) == 2 else None,
        notes=_distinct(notes),
        confinement=_by_device(first, second, "confinement", len(devices)),
        versions=_by_device(first, second, "versions", len(devices)),
        gradescope=_merge_gradescope(first, second),
    )
    return replace(merged, pending_points=max(0, total - merged.max_points))


def _check(first: SubmissionResult, second: SubmissionResult) -> None:
    if first.handed_in != second.handed_in and {*first.device.split("+")} & {*second.device.split("+")}:
        raise MergeError("merge.attempts", {"student": first.student})
    if first.handed_in != second.handed_in:
        raise MergeError("merge.submission", {"student": first.student})
    for name in SAME_VERSIONS:
        versions = [side.versions.get(name, "?") for side in (first, second)]
        if versions[0] != versions[1]:
            details = {"student": first.student, "name": name, "first": versions[0], "second": versions[1]}
            raise MergeError("merge.version", details)


def _merge_tests(first: SubmissionResult, second: SubmissionResult) -> tuple[tuple[TestResult, ...], list[Finding]]:
    """Return every counted test once, the worse of two, and what there is to say about it."""
    kept: dict[str, TestResult] = {}
    found = []
    for test in (*first.tests, *second.tests):
        known = kept.get(test.id)
        if test.finding and test.finding.code in MACHINE_FAULTS:
            found.append(test.finding)
        elif known is None or known.max_points < test.max_points:  # readiness gives way to what counts
            kept[test.id] = test
        elif known != test and known.max_points == test.max_points:
            kept[test.id] = min(known, test, key=_worst_first)
            if known.status != test.status:
                found.append(Finding("merge.contradiction", {"case": test.id}))
    order = {name: place for place, name in enumerate(questions().by_id)}
    return tuple(sorted(kept.values(), key=lambda t: order.get(t.question, len(order)))), found


def _worst_first(test: TestResult) -> tuple[int, int, str]:
    return test.points, WORST_FIRST.index(test.status), json.dumps(asdict(test), sort_keys=True, default=dict)


def _cpu_first(result: SubmissionResult) -> tuple[bool, str, str]:
    return "cpu" not in result.device.split("+"), result.device, json.dumps(row(result), sort_keys=True)


def _by_device(first: SubmissionResult, second: SubmissionResult, field: str, devices: int) -> Mapping[str, str]:
    """Return both sides' facts; what may differ between machines is marked ``device.name``."""
    facts: dict[str, str] = {}
    for side in (first, second):
        single = devices > 1 and "+" not in side.device
        for name, value in getattr(side, field).items():
            key = f"{side.device}.{name}" if single and name not in COMMON else name
            facts[key] = min(value, facts.get(key, value))
    return dict(sorted(facts.items()))


def _merge_gradescope(first: SubmissionResult, second: SubmissionResult) -> Mapping[str, Any]:
    tests: dict[str, Mapping[str, Any]] = {}
    for test in (*first.gradescope.get("tests", ()), *second.gradescope.get("tests", ())):
        known = tests.setdefault(test["name"], test)
        tests[test["name"]] = min(known, test, key=lambda t: (t.get("score", 0), json.dumps(t, sort_keys=True)))
    return {**second.gradescope, **first.gradescope, "tests": list(tests.values())}


def _distinct(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    seen = {json.dumps(finding.to_json(), sort_keys=True): finding for finding in findings}
    return tuple(seen.values())
