"""What the trusted cell calls in Otter's kernel: every case is judged here, confined, before Otter's tests ask."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.config import Config
from autograder.contract.checkable import Checkable
from autograder.contract.seed import read_seed
from autograder.grading.confined import confined_server
from autograder.grading.one.gradescope import NotGradable, receipt, rejection
from autograder.grading.one.judge import SubmissionHandle
from autograder.intake.discover import Entry, discover
from autograder.intake.read import read
from autograder.intake.submission import Rejected, Submission, UsageError
from autograder.reporting.feedback import spoken
from autograder.reporting.words import Words


def judge(received: str, settings: Mapping[str, Any]) -> Checkable:
    """Return the submission below ``received``, judged; print the text for the student as one line of JSON.

    That line comes last, so whoever finds it knows that everything before it happened.
    """
    config = Config(**settings)
    words = Words(config.language)
    handed_in = read(_entry(Path(received)))
    if isinstance(handed_in, Rejected):
        print(json.dumps({"text": rejection(handed_in.finding, words)}))
        return NotGradable(words.sentence(handed_in.finding))
    handle, text = _judged(handed_in, config, words)
    print(json.dumps({"text": text}))
    return handle


def _judged(submission: Submission, config: Config, words: Words) -> tuple[SubmissionHandle, str]:
    seed = read_seed(config.seed_file)
    with confined_server(allow_weak=False) as server:
        handle = SubmissionHandle(server, submission.cells, spoken(words, config.feedback), seed, submission.helpers)
        try:
            _ = handle.verdicts  # judged while the server is there; Otter asks later
        finally:
            handle.close()
    notes = (*submission.remarks, *handle.notes)
    return handle, receipt(notes, handle.verdicts.values(), config, words)


def _entry(received: Path) -> Entry:
    """Return everything in the folder as the work of one student."""
    try:
        entries = discover([received])
    except UsageError:
        entries = []
    if len(entries) == 1:
        return entries[0]
    names = tuple(sorted(item.name for item in received.iterdir()))
    return Entry("", "submission", received, names)
