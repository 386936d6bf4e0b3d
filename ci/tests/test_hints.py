"""Hints name a few broken rules of a question, and the rest only once those are mended; points never depend on it."""

from autograder.findings import Finding
from autograder.reporting.feedback import MOST_TOLD, WITHHELD, spoken, visible
from autograder.reporting.results import SubmissionResult, TestResult
from autograder.reporting.words import LANGUAGES, Words

RULES = [Finding(code) for code in ("decode.late", "decode.order", "decode.length", "blocks.lost", "blocks.twice")]


def failing(question: str, findings: list[Finding]) -> tuple[TestResult, ...]:
    """Return a failed case of a question for each of these findings."""
    return tuple(TestResult(f"{question}.{i}", question, "failed", 0, 1, f) for i, f in enumerate(findings))


def told(policy: str, *tests: TestResult) -> list[Finding | None]:
    result = SubmissionResult("ada", "ada.py", "", "cpu", tests=tests)
    seen = visible(result, policy)
    assert [(t.id, t.status, t.points) for t in seen.tests] == [(t.id, t.status, t.points) for t in tests]
    return [test.finding for test in seen.tests]


def test_hints_name_the_first_rules_of_each_question_and_hold_back_the_others() -> None:
    q3, q4 = failing("q3", RULES), failing("q4", RULES[::-1])
    held = [WITHHELD] * (len(RULES) - MOST_TOLD)
    assert told("hint", *q3, *q4) == [*RULES[:MOST_TOLD], *held, *RULES[::-1][:MOST_TOLD], *held]


def test_a_rule_that_was_named_is_named_wherever_it_is_broken() -> None:
    again = [*RULES, RULES[0], RULES[2]]
    assert told("hint", *failing("q3", again))[-2:] == [RULES[0], RULES[2]]


def test_what_a_case_waits_for_is_always_told_and_counts_for_nothing() -> None:
    waits = [
        TestResult(f"q3.w{i}", "q3", "not attempted", 0, 1, Finding("waiting", {"todos": str(i)})) for i in range(5)
    ]
    findings = told("hint", *waits, *failing("q3", RULES))
    assert findings[: len(waits) + MOST_TOLD] == [*(test.finding for test in waits), *RULES[:MOST_TOLD]]


def test_examples_hide_nothing_and_scores_everything() -> None:
    assert told("example", *failing("q3", RULES)) == RULES
    assert told("score", *failing("q3", RULES)) == [None] * len(RULES)


def test_otters_messages_say_the_same_and_begin_anew_with_each_submission() -> None:
    for lang in LANGUAGES:
        words = Words(lang)
        for _ in range(2):
            say = spoken(words, "hint")
            assert [say("q3", rule) for rule in RULES] == [
                words.sentence(finding) for finding in told("hint", *failing("q3", RULES)) if finding
            ]
        assert [spoken(words, "example")("q3", rule) for rule in RULES] == [words.sentence(rule) for rule in RULES]
        assert spoken(words, "score")("q3", RULES[0]) == ""
