"""Two runs side by side: who changed, in which case, up or down, and why."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from autograder.findings import Finding
from autograder.reporting.results import SubmissionResult, TestResult
from autograder.reporting.standing import Standing, number

Cause = Literal["submission", "tests", "override", "again"]


@dataclass(frozen=True)
class Change:
    """What became of one student: points before and after, the cases that differ, and what else differs."""

    student: str
    before: float
    after: float
    cases: tuple[tuple[str, TestResult | None, TestResult | None], ...]
    causes: tuple[Cause, ...]

    def lines(self) -> list[str]:
        """Return the change in words, for whoever runs the grader."""
        way = "up" if self.after > self.before else "down" if self.after < self.before else "same total"
        why = ", ".join(self.causes)
        lines = [f"{self.student}: {number(self.before)} -> {number(self.after)} ({way}); differs: {why}"]
        return lines + [f"    {name}: {_state(old)} -> {_state(new)}" for name, old, new in self.cases]


Side = Mapping[str, tuple[SubmissionResult, Standing]]


def compare(old: Side, new: Side) -> tuple[list[Change], list[str], list[str]]:
    """Return the changes of everyone in both runs, and who is in only one of them, first the old."""
    left = {result.who.key or student: (result, standing) for student, (result, standing) in old.items()}
    right = {result.who.key or student: (result, standing) for student, (result, standing) in new.items()}
    changes = [change for key in right if key in left and (change := _change(left[key], right[key]))]
    gone = sorted(left[key][0].student for key in left.keys() - right.keys())
    come = sorted(right[key][0].student for key in right.keys() - left.keys())
    return changes, gone, come


def _change(old: tuple[SubmissionResult, Standing], new: tuple[SubmissionResult, Standing]) -> Change | None:
    (before, stood), (after, stands) = old, new
    sides = [{test.id: test for test in result.tests} for result in (before, after)]
    cases = tuple(
        (name, sides[0].get(name), sides[1].get(name))
        for name in dict.fromkeys((*sides[0], *sides[1]))
        if _outcome(sides[0].get(name)) != _outcome(sides[1].get(name))
    )
    settled = (stood.overrides, stood.late) != (stands.overrides, stands.late)
    if not cases and not settled and stood.final == stands.final and before.status == after.status:
        return None
    causes: list[Cause] = []
    if before.handed_in != after.handed_in:
        causes.append("submission")
    if before.versions.get("tests") != after.versions.get("tests"):
        causes.append("tests")
    if settled:
        causes.append("override")
    return Change(after.student, stood.final, stands.final, cases, tuple(causes) or ("again",))


def never_lower(old: Side, new: Side, changes: list[Change]) -> list[SubmissionResult]:
    """Return what to put in place of results that fell for one and the same submission: the old, with a note."""
    before = {result.who.key or student: result for student, (result, _) in old.items()}
    kept = []
    for change in changes:
        result = new[change.student][0]
        earlier = before[result.who.key or change.student]
        if result.handed_in == earlier.handed_in and result.points < earlier.points:
            note = Finding("compare.kept", {"before": earlier.points, "after": result.points})
            kept.append(replace(earlier, student=result.student, notes=(*earlier.notes, note)))
    return kept


def _outcome(test: TestResult | None) -> tuple[str, int] | None:
    return (test.status, test.points) if test else None


def _state(test: TestResult | None) -> str:
    if test is None:
        return "no such case"
    rule = f", {test.finding.code}" if test.finding else ""
    return f"{test.status} {test.points}/{test.max_points}{rule}"
