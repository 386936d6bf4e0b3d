"""Who pays: from the outcomes of all cases to the verdict on each. Nothing is asked and nothing is run here."""

from collections.abc import Iterable, Mapping

from autograder.contract.questions import Case, Questions
from autograder.findings import Finding
from autograder.grading.one.verdict import UNREACHABLE, Outcome, Verdict

WAITS_FOR_GIVEN_CODE = Verdict("not attempted", Finding("waiting.given"))
"""Of a case about a TODO that a fault in given code stopped, where that fault costs points in its own question."""


def attribute(table: Questions, outcomes: Mapping[str, Outcome]) -> dict[str, Verdict]:
    """Return the verdict on every case in ``outcomes``, which stand in the order of the table.

    A case that comes after one of another question waits until that one passes; one that comes after a case of its own
    question that could not be judged shares that case's verdict. A fault that lies in another TODO, or has cost points
    in a TODO's own question already, is not charged: the case waits. What looks at given guards counts once something
    of the question's own has passed.
    """
    verdicts: dict[str, Verdict] = {}
    for id in outcomes:
        case = table.cases[id]
        verdicts[id] = held_up(table, case, verdicts) or _verdict(table, case, outcomes, verdicts)
    passed = [table.cases[id] for id, verdict in verdicts.items() if verdict.status == "passed"]
    earned = {case.question for case in passed if not case.given}
    guards = [case for case in passed if case.given and case.question not in earned]
    verdicts |= {case.id: _waiting(table, [table.judged_as(case.question).id]) for case in guards}
    if any(v.status == "failed" for id, v in verdicts.items() if table.cases[id].question == table.given_code):
        verdicts |= {
            id: WAITS_FOR_GIVEN_CODE for id in verdicts if _lies_in_given_code(table, table.cases[id], outcomes[id])
        }
    return verdicts


def _lies_in_given_code(table: Questions, case: Case, outcome: Outcome) -> bool:
    return case.question != table.given_code and outcome.status == "failed" and outcome.owner == table.given_code


def held_up(table: Questions, case: Case, verdicts: Mapping[str, Verdict]) -> Verdict | None:
    """Return the verdict on a case that cannot be judged because of those it comes after, or None."""
    open_questions = []
    for other in case.after:
        if table.cases[other].question == case.question:
            if verdicts[other].status in UNREACHABLE:
                return verdicts[other]
        elif verdicts[other].status != "passed":
            open_questions.append(table.cases[other].question)
    return _waiting(table, open_questions) if open_questions else None


def _verdict(table: Questions, case: Case, outcomes: Mapping[str, Outcome], verdicts: Mapping[str, Verdict]) -> Verdict:
    outcome = outcomes[case.id]
    if case.question == table.given_code:
        for seen in (outcome.in_company, outcome):
            if seen and seen.status != "passed" and (guilty := _guilty(table, seen, outcomes, verdicts)):
                return _waiting(table, guilty)
    elif outcome.owner in table.with_todo and outcome.owner != table.judged_as(case.question).id:
        return _waiting(table, [outcome.owner])
    return Verdict(outcome.status, outcome.finding)


def _guilty(
    table: Questions, seen: Outcome, outcomes: Mapping[str, Outcome], verdicts: Mapping[str, Verdict]
) -> list[str]:
    """Return the questions with a TODO that have lost points of their own by the fault seen in given code."""
    lost_by: dict[str, list[Verdict]] = {}
    for id, verdict in verdicts.items():
        case = table.cases[id]
        if verdict.status != "passed" and not _lies_in_given_code(table, case, outcomes[id]):
            lost_by.setdefault(case.question, []).append(verdict)
    guilty = []
    for question in table.with_todo:
        lost = lost_by.get(question)
        if lost and (question == seen.owner or any(_alike(verdict, seen) for verdict in lost)):
            guilty.append(question)
    return guilty


def _alike(one: Verdict, other: Outcome) -> bool:
    """Tell whether two cases met the same fault; an end is the same however much time there was until it."""
    if one.status == other.status == "could not run":
        return one.finding is not None and other.finding is not None and one.finding.code == other.finding.code
    return one.finding == other.finding


def _waiting(table: Questions, open_questions: Iterable[str]) -> Verdict:
    todos = ", ".join(str(table[question].todo) for question in open_questions)
    return Verdict("not attempted", Finding("waiting", {"todos": todos}))
