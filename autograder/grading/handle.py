"""A submission behind its sandbox: the object that hidden tests call ``submission``."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograder.contract.compare import Deviation, first_deviation
from autograder.contract.finding import Finding
from autograder.contract.observe import open_todo
from autograder.contract.scenario import BLANKS, TODO_OF, Scenario, set_up_by_calls
from autograder.contract.scenarios import scenarios
from autograder.grading.loading import LoadedSubmission
from autograder.grading.verdict import PASSED, CaseNotPassed, Verdict
from autograder.sandbox.client import Died, Server

OWN_OPERATION = {"q1": "ledger", "q2": "prefill", "q3": "decode", "q4": "read"}
RECORD_ERRORS = ("KeyError", "AttributeError")
UNREACHABLE = ("not attempted", "could not run")  # of a basic case: the rest of its question is not run
TIMEOUTS = ("run.cpu", "run.idle", "run.wall")
FULL_TIMEOUTS, HURRY = 2, 0.25
"""After so many timeouts in a question its other cases get one attempt each and this part of the usual time."""
CPU_QUESTION = {"g1": "q1", "g2": "q2", "g3": "q3", "g4": "q4"}
DEVICE_QUESTIONS = tuple(CPU_QUESTION)  # asked case by case: each has the whole time, and the device's state is its own


class SubmissionHandle:
    """Judges the cases of one submission, each once; cases share a child until one of them spoils it."""

    def __init__(self, server: Server, cells: Sequence[str], say: Callable[[Finding], str]) -> None:
        self.submission = LoadedSubmission(server, cells)
        self.cases, self._compare = _part(server.device)
        self.verdicts: dict[str, Verdict] = {}
        self._say = say
        self._closed: dict[str, Verdict] = {}
        self._timeouts: Counter[str] = Counter()
        self._traces: dict[str, list[Any]] = {}
        self._fetched = set[str]() if server.device == "cpu" else set(DEVICE_QUESTIONS)

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
        if question == "q5" or scenario.id != self._basic_case(question):
            self._fetch(question)
        verdict = self._judge(scenario)
        if question != "q5" and scenario.id == self._basic_case(question) and verdict.status in UNREACHABLE:
            self._closed[question] = verdict
        return verdict

    def _basic(self, question: str) -> Verdict:
        return self.verdict(self._basic_case(question))

    def _basic_case(self, question: str) -> str:
        """Return the case that is judged first and tells whether the question was attempted at all."""
        return next(s.id for s in self.cases.values() if s.question == question)

    def _fetch(self, question: str) -> None:
        """Ask for all other cases of a question at once, which saves ways to and fro; failing that, each goes alone."""
        if question in self._fetched:
            return
        self._fetched.add(question)
        wanted = [s for s in self.cases.values() if s.question == question and s.id not in self.verdicts]
        try:
            traces = self.submission.run_all([scenario.operations for scenario in wanted])
        except Died as died:
            self._timeouts[question] += died.code in TIMEOUTS
            return
        self._traces.update(zip((scenario.id for scenario in wanted), traces, strict=True))

    def _judge(self, scenario: Scenario) -> Verdict:
        in_a_hurry = self._in_a_hurry(scenario.question)
        verdict = self._attempt(scenario, alone=in_a_hurry)
        if verdict.status in ("failed", "could not run") and not in_a_hurry:
            verdict = self._attempt(scenario, alone=True)
        if scenario.question == "q3" and _misses_its_own_records(verdict) and self._all_passed("q2"):
            verdict = self._attempt(set_up_by_calls(scenario), alone=True)
        return verdict

    def _in_a_hurry(self, question: str) -> bool:
        return self._timeouts[question] >= FULL_TIMEOUTS

    def _all_passed(self, question: str) -> bool:
        cases = [case for case, s in self.cases.items() if s.question == question]
        return all(self.verdict(case).status == "passed" for case in cases)

    def _attempt(self, scenario: Scenario, alone: bool) -> Verdict:
        patience = HURRY if self._in_a_hurry(scenario.question) else 1.0
        try:
            fetched = None if alone else self._traces.pop(scenario.id, None)
            trace = fetched or self.submission.run(scenario.operations, alone, patience)
        except Died as died:
            self._timeouts[scenario.question] += died.code in TIMEOUTS
            return Verdict("could not run", Finding(died.code, died.details))
        if scenario.question != "q5" and scenario.id == self._basic_case(scenario.question):
            found = _open(CPU_QUESTION.get(scenario.question, scenario.question), scenario, trace)
            if found:
                return Verdict("not attempted", found)
        deviation = self._compare(scenario, trace)
        if deviation is None:
            return PASSED
        guilty = [q for q in TODO_OF if scenario.question == "q5" and self._explains(q, deviation)]
        if guilty:
            return _waiting(guilty)
        return Verdict("failed", deviation.finding, deviation.step)

    def _explains(self, question: str, deviation: Deviation) -> bool:
        """Tell whether a fault met in q5 has cost points in ``question`` already."""
        verdicts = [self.verdict(s.id) for s in self.cases.values() if s.question == question]
        lost = [verdict for verdict in verdicts if verdict.status != "passed"]
        return bool(lost) and (deviation.owner == question or any(v.finding == deviation.finding for v in lost))


def _part(device: str) -> tuple[Mapping[str, Scenario], Callable[[Scenario, list[Any]], Deviation | None]]:
    """Return the cases of the CPU part or of the GPU part, and how their traces are judged."""
    if device == "cpu":
        return scenarios(), lambda s, trace: first_deviation(s.question, s.operations, trace, s.focus)
    from autograder.contract.device_compare import device_deviation
    from autograder.contract.device_scenarios import device_scenarios

    return device_scenarios(device), device_deviation


def _open(question: str, scenario: Scenario, trace: list[Any]) -> Finding | None:
    """Say that the TODO of ``question`` is open: its own call ended as the starter's does, or a name is missing."""
    for operation, observation in zip(scenario.operations, trace, strict=False):
        found = open_todo(observation, BLANKS[question]) if isinstance(observation, dict) else None
        if found and (operation.name == OWN_OPERATION[question] or found.code == "open.missing"):
            return Finding(found.code, {**found.details, "todo": TODO_OF[question]})
    return None


def _misses_its_own_records(verdict: Verdict) -> bool:
    """Tell whether a call may have failed because a table set by hand bypassed records that its prefill keeps."""
    finding = verdict.finding
    return finding is not None and finding.code == "call.raised" and finding.details["got"] in RECORD_ERRORS


def _waiting(questions: Sequence[str]) -> Verdict:
    todos = ", ".join(str(TODO_OF[q]) for q in questions)
    return Verdict("not attempted", Finding("waiting", {"todos": todos}))
