"""What Gradescope and the student see: Otter's own dictionary of results, under a text that is shown at once."""

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from autograder.config import Config
from autograder.findings import Finding
from autograder.grading.one.verdict import CaseNotPassed, Verdict
from autograder.reporting.words import Words

if TYPE_CHECKING:
    from otter.test_files import GradingResults

# Every hidden case is hidden, so Otter's summary of the public ones would say "all passed" to everybody.
OTTER_SETTINGS = {"show_hidden": True, "force_public_test_summary": False}


class NotGradable:
    """Stands in for a submission that could not be graded: every case ends in the same sentence."""

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence

    def check(self, case: str) -> None:
        """Raise :class:`CaseNotPassed`, whatever the case."""
        raise CaseNotPassed(self._sentence)


def gradescope(results: "GradingResults", text: str) -> dict[str, Any]:
    """Return results.json for Gradescope: points and messages once grades are published, ``text`` at once."""
    results.set_output(text)
    return dict(results.to_gradescope_dict(_otter_config()))


@cache
def _otter_config() -> Any:
    from otter.run.run_autograder.autograder_config import AutograderConfig

    return AutograderConfig(OTTER_SETTINGS)


def rejection(finding: Finding, words: Words) -> str:
    """Return why a file was not graded and what to do."""
    return _joined([words.text("gradescope.rejected.text"), *_lines([finding], words)])


def receipt(notes: Iterable[Finding], verdicts: Iterable[Verdict], config: Config, words: Words) -> str:
    """Return what a student may know before grades are published: what was noticed, what is open, what is pending."""
    findings = [*notes, *(v.finding for v in verdicts if v.finding and v.status == "not attempted")]
    pending = [words.text("page.pending_why")] if config.gpu == "required" else []
    return _joined([words.text("gradescope.graded.text"), *_lines(findings, words), *pending])


def _lines(findings: Iterable[Finding], words: Words) -> list[str]:
    return [f"{words.sentence(finding)} {words.advice(finding)}".strip() for finding in findings]


def _joined(lines: Iterable[str]) -> str:
    """Join the lines, each said once, in characters that any encoding of the results can hold."""
    return "\n".join(dict.fromkeys(lines)).encode("utf-8", "replace").decode()
