"""A submission behind its sandbox: the object that hidden tests call ``submission``."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from autograder.contract.compare import Deviation, first_deviation, judged_start
from autograder.contract.finding import Finding
from autograder.contract.observations import open_todo
from autograder.contract.scenario import BLANKS, TODO_OF, Scenario, set_up_by_calls
from autograder.contract.scenarios import scenarios
from autograder.grading.one.loaded_submission import LoadedSubmission
from autograder.grading.one.verdict import PASSED, CaseNotPassed, Verdict
from autograder.sandbox.client import Died, Reply, Request, Server, Trace, request_for

OWN_OPERATION = {"q1": "ledger", "q2": "prefill", "q3": "decode", "q4": "read"}
RECORD_ERRORS = ("KeyError", "AttributeError")
UNREACHABLE = ("not attempted", "could not run")  # of a basic case: the rest of its question is not run
COSTLY = ("run.cpu", "run.idle", "run.wall", "run.memory")
HURRY, DEVICE_HURRY = 0.08, 0.25
"""After a costly end each case gets this part of the usual time, many times what it needs; a device starts slowly."""
CPU_QUESTION = {"g1": "q1", "g2": "q2", "g3": "q3", "g4": "q4"}

Outcome = Verdict | Deviation


class SubmissionHandle:
    """Judges the cases of one submission, each once; cases share a child until one of them spoils it."""

    def __init__(
        self,
        server: Server,
        cells: Sequence[str],
        say: Callable[[Finding], str],
        helpers: Mapping[str, str] | None = None,
    ) -> None:
        self.submission = LoadedSubmission(server, cells, helpers)
        self.cases, self._compare = _part(server.device)
        self.verdicts: dict[str, Verdict] = {}
        self._say = say
        self._closed: dict[str, Verdict] = {}
        self._costly = False
        self._hurry = HURRY if server.device == "cpu" else DEVICE_HURRY
        self._outcomes: dict[str, Outcome] = {}
        # on a device every case is asked for by itself: it has the whole time, and the device's state is its own
        self._unasked = list(dict.fromkeys(s.question for s in self.cases.values())) if server.device == "cpu" else []

    @property
    def notes(self) -> tuple[Finding, ...]:
        """What happened while the cells were loaded."""
        return self.submission.notes

    def check(self, case: str) -> None:
        """Raise :class:`CaseNotPassed` unless the submission passes ``case``."""
        verdict = self.verdict(case)
        if verdict.status != "passed":
            assert verdict.finding is not None
            raise CaseNotPassed(self._say(verdict.finding))

    def verdict(self, case: str) -> Verdict:
        """Return the verdict on ``case``, judging it first where that has not been done."""
        if case not in self.verdicts:
            self.verdicts[case] = self._decide(self.cases[case])
        return self.verdicts[case]

    def close(self) -> None:
        """End the child."""
        self.submission.close()

    def _decide(self, scenario: Scenario) -> Verdict:
        question = scenario.question
        if question == "q5":
            waiting = [q for q in TODO_OF if self._basic(q).status == "not attempted"]
            if waiting:
                return _waiting(waiting)
        elif scenario.id != self._basic_case(question):
            self._basic(question)
        if question in self._closed:
            return self._closed[question]
        if question in self._unasked:
            self._ask(question)
        verdict = self._judge(scenario)
        if question != "q5" and scenario.id == self._basic_case(question) and verdict.status in UNREACHABLE:
            self._closed[question] = verdict
        return verdict

    def _basic(self, question: str) -> Verdict:
        return self.verdict(self._basic_case(question))

    def _basic_case(self, question: str) -> str:
        """Return the case that is judged first and tells whether the question was attempted at all."""
        return next(s.id for s in self.cases.values() if s.question == question)

    def _cases_of(self, question: str) -> list[Scenario]:
        return [s for s in self.cases.values() if s.question == question]

    def _ask(self, question: str) -> None:
        """Ask for the cases of this question and of all others at once; where a child dies, its question's go alone."""
        self._unasked.sort(key=lambda other: other != question)
        requests = [_request(q) for q in self._unasked]
        replies = self.submission.answers(requests, patience=self._patience)
        try:
            for request, reply in zip(requests, replies, strict=True):
                self._take(self._unasked.pop(0), request, reply)
        except Died as died:
            self._costly |= died.code in COSTLY
            del self._unasked[:1]

    def _take(self, question: str, request: Request, reply: Reply) -> None:
        """Judge a reply, all of whose cases pass where the same bytes passed before."""
        cases, traces = self._cases_of(question), reply.traces
        outcomes = [PASSED] * len(cases) if traces is None else map(self._outcome, cases, traces)
        found = dict(zip((s.id for s in cases), outcomes, strict=True))
        self._outcomes.update(found)
        if all(outcome is PASSED for outcome in found.values()):
            request.found_right(reply)

    def _judge(self, scenario: Scenario) -> Verdict:
        verdict, alone = self._fetched(scenario), False
        if verdict is None:
            alone = self.submission.next_is_alone
            verdict = self._attempt(scenario, alone)
        if verdict.status in ("failed", "could not run") and not alone:
            verdict = self._attempt(scenario, alone=True)
        start = judged_start(scenario) if verdict.status == "could not run" else None
        if start and self._attempt(start, alone=True) is PASSED:
            return PASSED  # the fault costs points where it belongs
        if scenario.question == "q3" and _misses_its_own_records(verdict) and not self._lost("q2"):
            verdict = self._attempt(set_up_by_calls(scenario), alone=True)
        return verdict

    @property
    def _patience(self) -> float:
        return self._hurry if self._costly else 1.0

    def _fetched(self, scenario: Scenario) -> Verdict | None:
        outcome = self._outcomes.pop(scenario.id, None)
        return None if outcome is None else self._verdict_on(scenario, outcome)

    def _attempt(self, scenario: Scenario, alone: bool) -> Verdict:
        try:
            trace = self.submission.run(scenario.operations, alone, self._patience)
        except Died as died:
            self._costly |= died.code in COSTLY
            return self._unless_explained(scenario, Verdict("could not run", Finding(died.code, died.details)))
        return self._verdict_on(scenario, self._outcome(scenario, trace))

    def _outcome(self, scenario: Scenario, trace: Trace) -> Outcome:
        """Return what a trace shows by itself, whatever became of other cases."""
        if scenario.question != "q5" and scenario.id == self._basic_case(scenario.question):
            found = _open(CPU_QUESTION.get(scenario.question, scenario.question), scenario, trace)
            if found:
                return Verdict("not attempted", found)
        return self._compare(scenario, trace) or PASSED

    def _verdict_on(self, scenario: Scenario, outcome: Outcome) -> Verdict:
        if isinstance(outcome, Verdict):
            return outcome
        return self._unless_explained(scenario, Verdict("failed", outcome.finding, outcome.step), outcome.owner)

    def _unless_explained(self, scenario: Scenario, verdict: Verdict, owner: str = "") -> Verdict:
        """Return the verdict, or that q5 waits where its fault has cost points in a TODO's own question already."""
        if scenario.question != "q5":
            return verdict
        guilty = [q for q in TODO_OF if any(q == owner or _alike(lost, verdict) for lost in self._lost(q))]
        return _waiting(guilty) if guilty else verdict

    def _lost(self, question: str) -> list[Verdict]:
        verdicts = [self.verdict(s.id) for s in self._cases_of(question)]
        return [verdict for verdict in verdicts if verdict.status != "passed"]


def _part(device: str) -> tuple[Mapping[str, Scenario], Callable[[Scenario, Trace], Deviation | None]]:
    """Return the cases of the CPU part or of the GPU part, and how their traces are judged."""
    if device == "cpu":
        return scenarios(), lambda s, trace: first_deviation(s.question, s.operations, trace, s.focus)
    from autograder.contract.device_compare import device_deviation
    from autograder.contract.device_scenarios import device_scenarios

    return device_scenarios(device), device_deviation


@cache
def _request(question: str) -> Request:
    """Return the one request for all cases of a question of the CPU part."""
    return request_for([s.operations for s in scenarios().values() if s.question == question])


def _open(question: str, scenario: Scenario, trace: Trace) -> Finding | None:
    """Say that the TODO of ``question`` is open: its own call ended as the starter's does, or a name is missing."""
    for operation, observation in zip(scenario.operations, trace, strict=False):
        found = open_todo(observation, BLANKS[question]) if isinstance(observation, dict) else None
        if found and (operation.name == OWN_OPERATION[question] or found.code == "open.missing"):
            return Finding(found.code, {**found.details, "todo": TODO_OF[question]})
    return None


def _alike(one: Verdict, other: Verdict) -> bool:
    """Tell whether two cases met the same fault; an end is the same however much time there was until it."""
    if one.status == other.status == "could not run":
        return one.finding is not None and other.finding is not None and one.finding.code == other.finding.code
    return one.finding == other.finding


def _misses_its_own_records(verdict: Verdict) -> bool:
    """Tell whether a call may have failed because a table set by hand bypassed records that its prefill keeps."""
    finding = verdict.finding
    return finding is not None and finding.code == "call.raised" and finding.details["got"] in RECORD_ERRORS


def _waiting(questions: Sequence[str]) -> Verdict:
    todos = ", ".join(str(TODO_OF[q]) for q in questions)
    return Verdict("not attempted", Finding("waiting", {"todos": todos}))
