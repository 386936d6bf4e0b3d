"""A submission behind its sandbox: the object that hidden tests call ``submission``."""

from collections.abc import Callable, Sequence

from autograder.contract.compare import Deviation, first_deviation
from autograder.contract.finding import Finding
from autograder.contract.observe import open_todo
from autograder.contract.scenario import BLANKS, TODO_OF, Scenario
from autograder.contract.scenarios import scenarios
from autograder.grading.loading import LoadedSubmission
from autograder.grading.verdict import PASSED, CaseNotPassed, Verdict
from autograder.sandbox.client import Died, ForkServer

OWN_OPERATION = {"q1": "ledger", "q2": "prefill", "q3": "decode", "q4": "read"}


class SubmissionHandle:
    """Judges the cases of one submission, each once; cases share a child until one of them spoils it."""

    def __init__(self, server: ForkServer, cells: Sequence[str], say: Callable[[Finding], str]) -> None:
        self.submission = LoadedSubmission(server, cells)
        self.verdicts: dict[str, Verdict] = {}
        self._say = say
        self._closed: dict[str, Verdict] = {}

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
            self.verdicts[case] = self._decide(scenarios()[case])
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
        elif scenario.id != basic_case(question):
            self.verdict(basic_case(question))
        if question in self._closed:
            return self._closed[question]
        verdict = self._judge(scenario)
        if question in TODO_OF and scenario.id == basic_case(question) and verdict.status in ("not attempted", "could not run"):
            self._closed[question] = verdict
        return verdict

    def _basic(self, question: str) -> Verdict:
        return self.verdict(basic_case(question))

    def _judge(self, scenario: Scenario) -> Verdict:
        verdict = self._attempt(scenario, alone=False)
        if verdict.status in ("failed", "could not run"):
            verdict = self._attempt(scenario, alone=True)
        return verdict

    def _attempt(self, scenario: Scenario, alone: bool) -> Verdict:
        try:
            trace = self.submission.run(scenario.operations, alone)
        except Died as died:
            return Verdict("could not run", Finding(died.code, died.details))
        if scenario.question in OWN_OPERATION and scenario.id == basic_case(scenario.question):
            for operation, observation in zip(scenario.operations, trace, strict=False):
                if operation.name == OWN_OPERATION[scenario.question] and isinstance(observation, dict):
                    found = open_todo(observation, BLANKS[scenario.question])
                    if found:
                        return Verdict("not attempted", _with_todo(found, scenario.question))
        deviation = first_deviation(scenario.question, scenario.operations, trace, scenario.focus)
        if deviation is None:
            return PASSED
        guilty = [q for q in TODO_OF if scenario.question == "q5" and self._explains(q, deviation)]
        if guilty:
            return _waiting(guilty)
        return Verdict("failed", deviation.finding, deviation.step)

    def _explains(self, question: str, deviation: Deviation) -> bool:
        """Tell whether a fault met in q5 has cost points in ``question`` already."""
        verdicts = [self.verdict(s.id) for s in scenarios().values() if s.question == question]
        lost = [verdict for verdict in verdicts if verdict.status != "passed"]
        return bool(lost) and (deviation.owner == question or any(v.finding == deviation.finding for v in lost))


def basic_case(question: str) -> str:
    """Return the case that is judged first and tells whether the question was attempted at all."""
    return next(s.id for s in scenarios().values() if s.question == question)


def _waiting(questions: Sequence[str]) -> Verdict:
    todos = ", ".join(str(TODO_OF[q]) for q in questions)
    return Verdict("not attempted", Finding("waiting", {"todos": todos}))


def _with_todo(finding: Finding, question: str) -> Finding:
    return Finding(finding.code, {**finding.details, "todo": TODO_OF[question]})
