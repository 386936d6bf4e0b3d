"""An example of a report moved step by step, and the way of a token under it."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from reporting_samples import AFTER, BEFORE, EXAMPLE, MIXED
from test_reporting_pages import STATES

from autograder.reporting import blockview, tableview
from autograder.reporting.report import render_html, render_markdown
from autograder.reporting.words import Words

EN, ZH = Words("en"), Words("zh")


@pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])
def test_an_example_has_one_choice_and_one_picture_per_step_and_shows_the_last(words):
    source = render_html(MIXED, words)
    steps = len(EXAMPLE["operations"])
    assert re.findall(r'<input type="radio" name="(\w+)-step"( checked)?>', source) == [
        *[("q3", "")] * (steps - 1),
        ("q3", " checked"),
    ]
    stepper = source[source.index('class="stepper"') :]
    assert stepper[: stepper.index("</div>")].count("<figure>") == steps


def test_the_style_sheet_knows_as_many_steps_as_an_example_may_have():
    from autograder.grading.one.example import LONG

    source = render_html(MIXED, EN)
    assert set(re.findall(r"figure:nth-child\((\d+)\)", source)) == {str(i) for i in range(1, LONG + 1)}


def test_slots_that_a_step_has_changed_are_marked():
    later = AFTER | {"free": [3], "requests": {"A": {"seq_len": 9, "table": [1, 0, 2]}}}
    assert str(blockview.svg(later, "after", EN, AFTER)).count('class="moved"') == 4
    assert 'class="moved"' not in str(blockview.svg(later, "after", EN, later))


def test_the_last_token_is_followed_through_the_table():
    assert tableview.way(BEFORE, "A", EN) == [
        "Token 7 of A, in blocks of 4: 7 // 4 = 1 is its logical block, 7 % 4 = 3 its place in it.",
        "block_table[1] = 0 is its physical block: row 0 * 4 + 3 = 3 of the pool.",
    ]
    assert tableview.way(AFTER, "A", EN)[1] == "block_table[2] does not exist: this token has no slot."
    for render in (render_html, render_markdown):
        assert "block_table" in render(MIXED, ZH)


def test_the_diagram_has_an_arrow_for_every_entry_and_one_of_them_is_followed():
    root = ElementTree.fromstring(tableview.svg(BEFORE, "A", EN))
    arrows = [path.attrib["class"] for path in root.iter("path")]
    assert (arrows.count("arrow"), arrows.count("arrow chosen")) == (2, 2)
    assert root.find("desc").text == "; ".join(tableview.way(BEFORE, "A", EN))


@settings(max_examples=150, deadline=None)
@given(STATES)
def test_any_state_gives_a_small_harmless_diagram(state):
    requests = state.get("requests") if isinstance(state, dict) else None
    for label in ["A", *(requests if isinstance(requests, dict) else ())]:
        source = str(tableview.svg(state, label, EN))
        assert len(source) < 60_000
        assert "<script" not in source
        assert all(len(line) < 300 for line in tableview.way(state, label, EN))
