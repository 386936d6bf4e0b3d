"""Whatever intake says of a file, an anonymous result says it without its name: platforms write names into it."""

from dataclasses import replace
from string import Formatter

import pytest
from reporting_samples import FULL, REJECTED

from autograder.classroom.anonymous import anonymous
from autograder.findings import Finding
from autograder.reporting.words import Words

WORDS = Words("en")
HARMLESS = {"line", "limit", "megabytes", "count", "encoding", "name", "cells"}
"""Numbers, and what the code is about; any other blank may hold what a student or a platform called a file."""
SENTENCES = {
    key.removesuffix(".sentence"): {name for _, name, _, _ in Formatter().parse(text) if name} - HARMLESS
    for key, text in WORDS.catalogue.items()
    if key.startswith("intake.") and key.endswith(".sentence")
}


@pytest.mark.parametrize("code", [code for code, blanks in SENTENCES.items() if blanks])
def test_no_finding_of_intake_s_tells_whose_file_it_was(code: str) -> None:
    told = Finding(code, {name: f"lovelace_{name}_4242.ipynb" for name in SENTENCES[code]})
    noted = anonymous(replace(FULL, notes=(told,)), "pseudonym").notes[0]
    rejected = anonymous(replace(REJECTED, rejected=told), "pseudonym").rejected
    assert rejected is not None
    assert "lovelace" in WORDS.sentence(told)
    assert "lovelace" not in WORDS.sentence(noted) + WORDS.sentence(rejected)
