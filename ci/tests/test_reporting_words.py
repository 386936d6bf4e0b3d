"""The catalogue: complete, the same in both languages, and harmless with whatever it is given."""

import ast
import re
from pathlib import Path
from string import Formatter

import pytest

import autograder
from autograder.contract.operations import NAMES
from autograder.findings import Finding
from autograder.reporting.describe import describe
from autograder.reporting.words import LANGUAGES, Words

EN, ZH = (Words(lang) for lang in LANGUAGES)
PACKAGE = Path(autograder.__file__).parent
SENTENCES = [key for key in EN.catalogue if key.endswith(".sentence")]
FAMILIES = {code.partition(".")[0] for code in SENTENCES}


def blanks(text: str) -> set[tuple[str | None, str | None]]:
    return {(name, family) for _, name, family, _ in Formatter().parse(text) if name}


def codes_in_the_source() -> set[str]:
    """Return every string of the package that looks like a finding's code."""
    constants = {
        node.value
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    codes = {c for c in constants if re.fullmatch(r"[a-z]+\.[a-z_]+", c) and c.partition(".")[0] in FAMILIES}
    return {c for c in codes if not c.endswith((".css", ".html", ".json", ".md"))}


def test_both_languages_hold_the_same_keys():
    assert EN.catalogue.keys() == ZH.catalogue.keys()


def test_both_languages_have_the_same_blanks():
    both = EN.catalogue.keys() & ZH.catalogue.keys()
    assert not {key for key in both if blanks(EN.catalogue[key]) != blanks(ZH.catalogue[key])}


def test_every_sentence_comes_with_advice():
    assert {key.replace(".sentence", ".advice") for key in SENTENCES} <= EN.catalogue.keys()


def test_every_family_that_a_blank_names_has_a_word_for_anything():
    families = {family for text in EN.catalogue.values() for _, family in blanks(text) if family}
    assert {f"{family}.any" for family in families} <= EN.catalogue.keys()


def test_every_code_in_the_source_has_a_sentence():
    keys = EN.catalogue
    codes = codes_in_the_source()
    assert len(codes) > 30
    assert not {c for c in codes if c not in keys and f"{c}.sentence" not in keys and f"{c}.text" not in keys}


def test_a_list_of_words_is_translated_word_by_word():
    finding = Finding("refusal.changed", {"operation": "decode", "what": "table,free"})
    assert "allocate_for_decode()" in EN.sentence(finding)
    assert "the block table, the list of free blocks" in EN.sentence(finding)
    assert "块表、空闲列表" in ZH.sentence(finding)


@pytest.mark.parametrize("words", [EN, ZH], ids=LANGUAGES)
def test_an_unknown_code_still_reads_as_a_sentence(words):
    sentence = words.sentence(Finding("no.such", {"x": 1}))
    assert "no.such" in sentence
    assert words.advice(Finding("no.such"))


@pytest.mark.parametrize("detail", ["{0.__class__}", "a\nb\x1b[31m", "x" * 10_000, "\ud800", "\u202egnp"])
def test_a_students_text_stays_on_one_short_line(detail):
    sentence = EN.sentence(Finding("cell.failed", {"cell": 1, "error": "E", "line": 1, "text": detail}))
    assert sentence.isprintable()
    assert len(sentence) < 300


def test_a_missing_detail_does_not_hurt():
    assert "?" in EN.sentence(Finding("cell.failed"))


def test_an_unknown_language_is_refused():
    with pytest.raises(ValueError, match="en, zh"):
        Words("xx")


@pytest.mark.parametrize("name", sorted(NAMES))
@pytest.mark.parametrize("words", [EN, ZH], ids=LANGUAGES)
def test_every_operation_of_the_wire_has_words(name, words):
    assert f"step.{name}" in words


def test_an_operation_reads_as_a_step():
    assert describe(["request", "A", 7, 6], EN) == "request A arrives with a prompt of length 6"
    assert describe(["place", "A", [3, 1], 5], ZH) == "手工把请求 A 的块表设为 [3, 1]，seq_len 设为 5"
    assert describe(["ledger", 1, 2, 3, 4, 5], EN) == "call estimate_kv_cache_bytes(1, 2, 3, 4, 5)"


def test_every_hidden_case_has_a_title():
    tests = (PACKAGE / "hidden_tests").glob("*.py")
    cases = {c for t in tests for c in re.findall(r'name="([qg]\d\.\w+)"', t.read_text(encoding="utf-8"))}
    assert {f"{case}.title" for case in cases} <= EN.catalogue.keys()


def test_chinese_texts_use_chinese_punctuation():
    wrong = [key for key, text in ZH.catalogue.items() if re.search(r"[一-鿿][,;:!?]", text)]
    assert not wrong
