"""Asking a submission for every case of a part: all in one go first, then alone whatever did not pass."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

from autograder.contract.compare import Deviation, first_deviation, judged_start
from autograder.contract.observations import open_todo
from autograder.contract.questions import Case, question_of, questions
from autograder.contract.quiet import spoken_aloud
from autograder.contract.scenario import Scenario, set_up_by_calls
from autograder.contract.scenarios import scenarios
from autograder.contract.seed import PUBLIC, Seed
from autograder.findings import Finding
from autograder.grading.one.loaded_submission import LoadedSubmission
from autograder.grading.one.verdict import PASSED, UNREACHABLE, Outcome
from autograder.sandbox.client import Died, Reply, Request, Trace, request_for

RECORD_ERRORS = ("KeyError", "AttributeError")
COSTLY = ("run.cpu", "run.idle", "run.wall", "run.memory")
HURRY, DEVICE_HURRY = 0.08, 0.25
"""After a costly end each case gets this part of the usual time, many times what it needs; a device starts slowly."""
NOT_ASKED = Outcome("not attempted")
"""Of a case that comes after one that could not be judged."""

Compare = Callable[[Scenario, Trace], Deviation | None]


class Asking:
    """One submission's answers; cases share a child until one of them spoils it."""

    def __init__(self, submission: LoadedSubmission, device: str, seed: Seed = PUBLIC) -> None:
        self.cases, self._compare = part(device, seed)
        self._seed = seed
        self._submission = submission
        self._table = questions()
        self._costly = False
        self._hurry = HURRY if device == "cpu" else DEVICE_HURRY
        self._fetched: dict[str, Outcome] = {}
        self._outcomes: dict[str, Outcome] = {}
        # on a device every case is asked for by itself: it has the whole time, and the device's state is its own
        self._unasked = list(dict.fromkeys(s.question for s in self.cases.values())) if device == "cpu" else []

    def outcomes(self) -> Mapping[str, Outcome]:
        """Return what every case showed by itself, in the order of the table."""
        for id, scenario in self.cases.items():
            if not self._outcomes.get(id):
                self._outcomes[id] = self._outcome(scenario) if self._reachable(self._table.cases[id]) else NOT_ASKED
        return self._outcomes

    def _reachable(self, case: Case) -> bool:
        """Tell whether the cases that this one comes after leave something to judge."""
        for other in case.after:
            status = self._outcomes[other].status
            own = question_of(other) == case.question
            if status in UNREACHABLE if own else status == "not attempted":
                return False
        return True

    def _outcome(self, scenario: Scenario) -> Outcome:
        """Return the outcome of a case, asked again alone where it did not pass in company."""
        if scenario.question in self._unasked:
            self._ask_for_all(scenario.question)
        outcome, alone = self._fetched.pop(scenario.id, None), False
        if outcome is None:
            alone = self._submission.next_is_alone
            outcome = self._attempt(scenario, alone)
        if outcome.status in ("failed", "could not run"):
            outcome = self._again(scenario, outcome, alone)
        start = judged_start(scenario) if outcome.status == "could not run" else None
        if start and self._attempt(start, alone=True) == PASSED:
            return PASSED  # the fault costs points where it belongs
        if self._needs_its_own_records(scenario, outcome):
            outcome = self._attempt(set_up_by_calls(scenario), alone=True)
        return outcome

    def _again(self, scenario: Scenario, outcome: Outcome, alone: bool) -> Outcome:
        """Return the outcome alone in a fresh child; quiet calls are spoken aloud there, to see which was wrong."""
        aloud = replace(scenario, operations=spoken_aloud(scenario.operations))
        if len(aloud.operations) > len(scenario.operations):
            seen = self._attempt(aloud, alone=True)
            if seen.status == "failed":
                return replace(seen, in_company=outcome)
        return outcome if alone else replace(self._attempt(scenario, alone=True), in_company=outcome)

    def _ask_for_all(self, question: str) -> None:
        """Ask for the cases of this question and of all others at once; where a child dies, its question's go alone."""
        self._unasked.sort(key=lambda other: other != question)
        requests = [_request(q, self._seed) for q in self._unasked]
        replies = self._submission.answers(requests, patience=self._patience)
        try:
            for request, reply in zip(requests, replies, strict=True):
                self._take(self._unasked.pop(0), request, reply)
        except Died as died:
            self._costly |= died.finding.code in COSTLY
            del self._unasked[:1]

    def _take(self, question: str, request: Request, reply: Reply) -> None:
        """Compare a reply, all of whose cases pass where the same bytes passed before."""
        cases = [s for s in self.cases.values() if s.question == question]
        traces = reply.traces
        outcomes = [PASSED] * len(cases) if traces is None else [*map(self._compared, cases, traces)]
        self._fetched.update(zip((s.id for s in cases), outcomes, strict=True))
        if all(outcome is PASSED for outcome in outcomes):
            request.found_right(reply)

    def _attempt(self, scenario: Scenario, alone: bool) -> Outcome:
        try:
            trace = self._submission.run(scenario.operations, alone, self._patience)
        except Died as died:
            self._costly |= died.finding.code in COSTLY
            return Outcome("could not run", died.finding)
        return self._compared(scenario, trace)

    def _compared(self, scenario: Scenario, trace: Trace) -> Outcome:
        """Return what a trace shows by itself, whatever became of other cases."""
        if self._tells_whether_attempted(scenario) and (found := self._open(scenario, trace)):
            return Outcome("not attempted", found)
        deviation = self._compare(scenario, trace)
        return Outcome("failed", deviation.finding, deviation.owner) if deviation else PASSED

    def _tells_whether_attempted(self, scenario: Scenario) -> bool:
        return not self._table.cases[scenario.id].after

    def _open(self, scenario: Scenario, trace: Trace) -> Finding | None:
        """Say that the question's TODO is open: its own call ended as the starter's does, or a name is missing."""
        question = self._table.judged_as(scenario.question)
        assert question.todo is not None
        for operation, observation in zip(scenario.operations, trace, strict=False):
            found = open_todo(observation, question.blanks)
            if found and (operation.name == question.call or found.code == "open.missing"):
                return Finding(found.code, {**found.details, "todo": question.todo})
        return None

    def _needs_its_own_records(self, scenario: Scenario, outcome: Outcome) -> bool:
        """Tell whether a call may fail only because a table set by hand bypassed what prefill writes down."""
        decode, prefill = (self._table.owner[call] for call in ("decode", "prefill"))
        return scenario.question == decode and _misses_records(outcome) and not self._lost(prefill)

    @property
    def _patience(self) -> float:
        return self._hurry if self._costly else 1.0

    def _lost(self, question: str) -> bool:
        return any(self._outcomes[case.id].status != "passed" for case in self._table[question].cases)


def part(device: str, seed: Seed = PUBLIC) -> tuple[Mapping[str, Scenario], Compare]:
    """Return the cases of the CPU part or of the GPU part, and how their traces are judged."""
    if device == "cpu":
        return scenarios(seed), lambda s, trace: first_deviation(s.question, s.operations, trace, s.focus)
    from autograder.contract.device_compare import device_deviation
    from autograder.contract.device_scenarios import device_scenarios

    return device_scenarios(device), device_deviation


@cache
def _request(question: str, seed: Seed) -> Request:
    """Return the one request for all cases of a question of the CPU part."""
    return request_for([s.operations for s in scenarios(seed).values() if s.question == question])


def _misses_records(outcome: Outcome) -> bool:
    finding = outcome.finding
    return finding is not None and finding.code == "call.raised" and finding.details["got"] in RECORD_ERRORS
