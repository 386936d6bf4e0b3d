"""Every odd sample ends in a submission or in one sentence, in both languages."""

import re
import tomllib
from pathlib import Path

import pytest
from expected import expectations
from odd_files import ODD, RIGHT, samples

from autograder.intake.discover import Entry, discover
from autograder.intake.read import read
from autograder.intake.submission import Rejected, Submission
from autograder.reporting.words import LANGUAGES, Words

EXPECTED = expectations("odd")
WORDS = Path(__file__).resolve().parents[2] / "autograder" / "reporting" / "words"
INTAKE = Path(__file__).resolve().parents[2] / "autograder" / "intake"


def entry_of(sample: str) -> Entry:
    return next(entry for entry in discover([ODD]) if entry.parts[0] == sample)


@pytest.mark.parametrize("sample", EXPECTED)
def test_a_sample_ends_as_expected(sample: str) -> None:
    result = read(entry_of(sample))
    assert (result.finding.code if isinstance(result, Rejected) else "") == EXPECTED[sample].rejected
    if isinstance(result, Submission):
        assert "def get_physical_cache" in "\n".join(result.cells)


@pytest.mark.parametrize("sample", [name for name, want in EXPECTED.items() if not want.rejected])
def test_a_gradable_sample_holds_the_right_code(sample: str) -> None:
    result = read(entry_of(sample))
    assert isinstance(result, Submission)
    assert RIGHT[2].strip() in "\n\n\n".join(cell.strip() for cell in result.cells)


def test_every_sample_is_expected_and_no_other() -> None:
    assert sorted({name.split("/")[0] for name in samples()}) == sorted(EXPECTED)


def test_the_samples_on_disk_are_those_the_generator_writes() -> None:
    on_disk = {str(path.relative_to(ODD)) for path in ODD.rglob("*") if path.is_file()}
    assert on_disk == {*samples(), "expected.toml"}
    assert [name for name, content in samples().items() if (ODD / name).read_bytes() != content] == []


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("sample", EXPECTED)
def test_every_sentence_is_complete_in_both_languages(sample: str, lang: str) -> None:
    result = read(entry_of(sample))
    findings = list(getattr(result, "remarks", ()))
    if isinstance(result, Rejected):
        findings.append(result.finding)
    words = Words(lang)
    for finding in findings:
        assert f"{finding.code}.sentence" in words
        assert words.advice(finding)
        assert not {"{", "?"} & set(words.sentence(finding))


def test_intake_says_nothing_the_catalogue_does_not_hold() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in INTAKE.glob("*.py"))
    codes = set(re.findall(r'"(intake\.[a-z_]+)"', source))
    for lang in LANGUAGES:
        catalogue = tomllib.loads((WORDS / f"intake.{lang}.toml").read_text(encoding="utf-8"))
        assert codes == set(catalogue)
