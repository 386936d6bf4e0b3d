"""Asking a submission for every case of a part: all in one go first, then alone whatever did not pass.

A case of a TODO has two forms (see ``contract.scenario``). The one by the submission's own calls is asked in the first
go, and decides where the TODOs that it uses lost nothing. Where they did, the one set by hand decides. Where given code
stands in the way, it is done by hand too.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache

from autograder.contract.compare import Deviation, first_deviation
from autograder.contract.observations import open_todo
from autograder.contract.pinned import as_pinned
from autograder.contract.questions import Case, questions
from autograder.contract.quiet import calls_of, spoken_aloud
from autograder.contract.scenario import Scenario
from autograder.contract.scenarios import scenarios
from autograder.contract.seed import PUBLIC, Seed
from autograder.findings import Finding
from autograder.grading.one.loaded_submission import LoadedSubmission
from autograder.grading.one.verdict import PASSED, UNREACHABLE, Outcome
from autograder.sandbox.client import Died, Reply, Request, Trace, request_for

COSTLY = ("run.cpu", "run.idle", "run.wall", "run.memory")
HURRY, DEVICE_HURRY = 0.06, 0.25
"""After a costly end each case gets this part of the usual time, many times what it needs; a device starts slowly."""
NOT_ASKED = Outcome("not attempted")
"""Of a case that comes after one that could not be judged."""

Compare = Callable[[Scenario, Trace], Deviation | None]


class Asking:
    """One submission's answers; cases share a child until one of them spoils it."""

    def __init__(self, submission: LoadedSubmission, device: str, seed: Seed = PUBLIC) -> None:
        self.cases, self._compare = part(device, seed)
        self.decisive: dict[str, Scenario] = {}
        self._submission = submission
        self._table = questions()
        self._costly = False
        self._hurry = HURRY if device == "cpu" else DEVICE_HURRY
        self._fetched: dict[str, Outcome] = {}
        self._outcomes: dict[str, Outcome] = {}
        self._asked_by_hand: set[str] = set()
        # on a device every case is a request of its own, with the whole time; they share a child while all goes well
        self._together = device == "cpu"
        self._seed = seed

    def outcomes(self) -> Mapping[str, Outcome]:
        """Return what every case showed by itself, in the order of the table."""
        if self._together:
            self._ask_in_one_go([(question, False) for question in self._table.of("cpu")])
        for id, scenario in self.cases.items():
            self._outcomes[id] = self._outcome(scenario) if self._reachable(self._table.cases[id]) else NOT_ASKED
        return self._outcomes

    def _reachable(self, case: Case) -> bool:
        """Tell whether the cases that this one comes after leave something to judge."""
        for other in case.after:
            status = self._outcomes[other].status
            own = self._table.cases[other].question == case.question
            if status in UNREACHABLE if own else status != "passed":
                return False
        return True

    def _outcome(self, scenario: Scenario) -> Outcome:
        """Return the outcome of the form that decides."""
        first = self._fetched.pop(scenario.id, None)
        if not self._together:
            if scenario.by_hand and self._used_is_lost(scenario):
                scenario = scenario.form_by_hand
            first = self._attempt(scenario, alone=False)
        if first is PASSED:
            return first
        if scenario.by_hand and self._used_is_lost(scenario):
            return self._by_hand(scenario)
        outcome = first if first and first.status == "not attempted" else self._alone(scenario, first)
        if outcome.status not in ("failed", "could not run"):
            return outcome
        if not self._together:  # what a device saw of a call is judged with that call: no part of a case stands alone
            foreign = outcome.status == "could not run" or not self._is_own(scenario, outcome)
            return self._by_hand(scenario) if scenario.by_hand and foreign else outcome
        if self._only_what_follows_died(scenario, outcome):
            return PASSED
        if scenario.question != self._table.given_code and self._may_be_foreign(scenario, outcome):
            outcome = self._without_what_is_foreign(scenario, outcome)
        return outcome

    def _alone(self, scenario: Scenario, first: Outcome | None = None) -> Outcome:
        """Return the outcome of a form in a fresh child; quiet calls are spoken aloud first, to see which was wrong."""
        self.decisive[scenario.id] = scenario
        aloud = replace(scenario, operations=spoken_aloud(scenario.operations))
        outcome = self._attempt(aloud, alone=True)
        if outcome.status != "failed" and aloud != scenario:
            outcome = self._attempt(scenario, alone=True)
        return replace(outcome, in_company=first)

    def _by_hand(self, scenario: Scenario) -> Outcome:
        """Return the outcome of the form that is set by hand; those of a question are asked for in one go first."""
        if self._together and scenario.question not in self._asked_by_hand:
            self._asked_by_hand.add(scenario.question)
            self._ask_in_one_go([(scenario.question, True)])
        first = self._fetched.pop(_hand(scenario.id), None)
        return first if first is PASSED else self._alone(scenario.form_by_hand, first)

    def _without_what_is_foreign(self, scenario: Scenario, outcome: Outcome) -> Outcome:
        """Return the outcome without what stands in the way, where it is not the question's own and can be spared."""
        spared = scenario.sparing(self._table.judged_as(scenario.question).call)
        if spared:
            other = self._alone(spared, outcome.in_company)
            if other.status == "passed" or (other.status == "failed" and self._is_own(scenario, other)):
                return other
        if scenario.by_hand and not self._was_judged_before(outcome.owner, scenario.question):
            return self._by_hand(scenario)
        return outcome

    def _only_what_follows_died(self, scenario: Scenario, outcome: Outcome) -> bool:
        """Tell whether all of the question's own calls come right, and the rest of the case alone never came back."""
        if outcome.status != "could not run" and self._is_own(scenario, outcome):
            return False
        own = self._table.judged_as(scenario.question).call
        places = [i for i, o in enumerate(scenario.operations) if own in {call.name for call in calls_of(o)}]
        if not places or places[-1] + 1 == len(scenario.operations):
            return False
        start = replace(scenario, operations=scenario.operations[: places[-1] + 1])
        return self._attempt(start, alone=True).status == "passed"

    def _is_own(self, scenario: Scenario, outcome: Outcome) -> bool:
        """Tell whether a fault lies in the question's own calls; of a death nobody can tell, so it counts as own."""
        return outcome.owner in ("", self._table.judged_as(scenario.question).id)

    def _may_be_foreign(self, scenario: Scenario, outcome: Outcome) -> bool:
        """Tell whether something else than the own call is at fault; of a death, whether it comes without one."""
        if outcome.status != "could not run":
            return not self._is_own(scenario, outcome)
        call = self._table.judged_as(scenario.question).call
        if call == "prefill" and "decode" in self._calls_of(scenario):
            return True  # growth comes after prefill, so the form by hand has none of it
        return self._attempt(scenario.without(call), alone=True).status == "could not run"

    def _was_judged_before(self, owner: str, question: str) -> bool:
        """Tell whether a TODO's own question came first, and found nothing."""
        order = self._table.with_todo
        return owner in order and order.index(owner) < order.index(question)

    def _used_is_lost(self, scenario: Scenario) -> bool:
        """Tell whether another TODO whose calls a case uses has lost a point."""
        others = (self._table.owner[name] for name in self._calls_of(scenario) & self._table.owner.keys())
        return any(self._lost(other) for other in others if other != self._table.judged_as(scenario.question).id)

    def _calls_of(self, scenario: Scenario) -> set[str]:
        return {call.name for operation in scenario.operations for call in calls_of(operation)}

    def _ask_in_one_go(self, wanted: list[tuple[str, bool]]) -> None:
        """Ask for the cases of whole questions in one form at once; where a child dies, go on with the next."""
        while wanted:
            requests = [_request(self._seed, *which) for which in wanted]
            replies = self._submission.answers(requests, patience=self._patience)
            try:
                for request, reply in zip(requests, replies, strict=True):
                    self._take(*wanted.pop(0), request, reply)
            except Died as died:
                self._costly |= died.finding.code in COSTLY
                del wanted[:1]
                if died.finding.code == "run.budget":
                    return

    def _take(self, question: str, by_hand: bool, request: Request, reply: Reply) -> None:
        """Compare a reply, all of whose cases pass where the same bytes passed before."""
        cases = [*_forms(self._seed, question, by_hand)]
        traces = reply.traces
        outcomes = [PASSED] * len(cases) if traces is None else [*map(self._compared, cases, traces)]
        for scenario, outcome in zip(cases, outcomes, strict=True):
            self._fetched[_hand(scenario.id) if by_hand else scenario.id] = outcome
        if all(outcome is PASSED for outcome in outcomes):
            request.found_right(reply)

    def _attempt(self, scenario: Scenario, alone: bool) -> Outcome:
        try:
            trace = self._submission.run(scenario.operations, alone, self._patience)
            if pinned := as_pinned(scenario, trace):
                scenario, trace = pinned, self._submission.run(pinned.operations, False, self._patience)
        except Died as died:
            self._costly |= died.finding.code in COSTLY
            return Outcome("could not run", died.finding)
        return self._compared(scenario, trace)

    def _compared(self, scenario: Scenario, trace: Trace) -> Outcome:
        """Return what a trace shows by itself, whatever became of other cases."""
        if not self._table.cases[scenario.id].after and (found := self._open(scenario, trace)):
            return Outcome("not attempted", found)
        deviation = self._compare(scenario, trace)
        return Outcome("failed", deviation.finding, deviation.owner) if deviation else PASSED

    def _open(self, scenario: Scenario, trace: Trace) -> Finding | None:
        """Say that the question's TODO is open: its own call ended as the starter's does, or a name is missing."""
        question = self._table.judged_as(scenario.question)
        assert question.todo is not None
        for operation, observation in zip(scenario.operations, trace, strict=False):
            found = open_todo(observation, question.blanks)
            if found and found.code == "open.missing":
                return self._submission.why_missing(str(found.details["name"]), question.todo)
            if found and operation.name == question.call:
                return Finding(found.code, {**found.details, "todo": question.todo})
        return None

    @property
    def _patience(self) -> float:
        return self._hurry if self._costly else 1.0

    def _lost(self, question: str) -> bool:
        """Tell whether a question, or the one on a device that is judged as it, has lost a point."""
        lost = (self._table.cases[id] for id, outcome in self._outcomes.items() if outcome.status != "passed")
        return any(self._table.judged_as(case.question).id == question for case in lost)


def part(device: str, seed: Seed) -> tuple[Mapping[str, Scenario], Compare]:
    """Return the cases of the CPU part or of the GPU part, and how their traces are judged."""
    if device == "cpu":
        return scenarios(seed), lambda s, trace: first_deviation(s.question, s.operations, trace, s.focus)
    from autograder.contract.device_compare import device_deviation
    from autograder.contract.device_scenarios import device_scenarios

    return device_scenarios(device, seed), device_deviation


def _forms(seed: Seed, question: str, by_hand: bool) -> Iterator[Scenario]:
    """Yield the cases of a question in one of their forms; those that cannot be set by hand only in the other."""
    for scenario in scenarios(seed).values():
        if scenario.question == question and (scenario.by_hand or not by_hand):
            yield scenario.form_by_hand if by_hand else scenario


@cache
def _request(seed: Seed, question: str, by_hand: bool) -> Request:
    """Return the one request for all cases of a question in one form."""
    return request_for([scenario.operations for scenario in _forms(seed, question, by_hand)])


def _hand(id: str) -> str:
    return f"{id} by hand"
