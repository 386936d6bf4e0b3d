"""A submission behind its sandbox: the object that hidden tests call ``submission``."""

from collections.abc import Callable, Mapping, Sequence

from autograder.contract.questions import question_of, questions
from autograder.contract.scenario import Scenario
from autograder.contract.seed import PUBLIC, Seed
from autograder.findings import Finding
from autograder.grading.one.asking import Asking
from autograder.grading.one.attribution import attribute
from autograder.grading.one.loaded_submission import LoadedSubmission
from autograder.grading.one.verdict import CaseNotPassed, Verdict
from autograder.sandbox.client import Server


class SubmissionHandle:
    """Judges all cases of one submission when the first of them is asked for."""

    def __init__(
        self,
        server: Server,
        cells: Sequence[str],
        say: Callable[[str, Finding], str],
        seed: Seed = PUBLIC,
        helpers: Mapping[str, str] | None = None,
    ) -> None:
        self.submission = LoadedSubmission(server, cells, helpers)
        self._asking = Asking(self.submission, server.device, seed)
        self._verdicts: Mapping[str, Verdict] | None = None
        self._say = say

    @property
    def cases(self) -> Mapping[str, Scenario]:
        """What is asked, by the case's id."""
        return self._asking.cases

    @property
    def notes(self) -> tuple[Finding, ...]:
        """What happened while the cells were loaded."""
        return self.submission.notes

    @property
    def verdicts(self) -> Mapping[str, Verdict]:
        """The verdict on every case."""
        if self._verdicts is None:
            self._verdicts = attribute(questions(), self._asking.outcomes())
        return self._verdicts

    def to_show(self, case: str) -> tuple[Scenario, ...]:
        """Return the forms in which a case that did not pass may be shown, the shorter one by hand first."""
        whole = self.cases[case]
        decisive = self._asking.decisive.get(case, whole)
        return (whole.form_by_hand, decisive) if whole.by_hand and decisive.by_hand else (decisive,)

    def check(self, case: str) -> None:
        """Raise :class:`CaseNotPassed` unless the submission passes ``case``."""
        verdict = self.verdicts[case]
        if verdict.status != "passed":
            assert verdict.finding is not None
            raise CaseNotPassed(self._say(question_of(case), verdict.finding))

    def close(self) -> None:
        """End the child."""
        self.submission.close()
