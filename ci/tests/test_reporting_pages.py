"""The report page, its Markdown twin, and the picture of the blocks."""

import re
import time
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reporting_samples import AFTER, BEFORE, EVERY_KIND, FULL, GPU, MIXED

from autograder.contract.questions import questions
from autograder.findings import Finding
from autograder.reporting import blockview
from autograder.reporting.report import render_html, render_index, render_markdown
from autograder.reporting.results import TestResult
from autograder.reporting.words import LANGUAGES, Words

EN, ZH = (Words(lang) for lang in LANGUAGES)
MOST_CPU_MS_PER_PAGE = 15  # ten times the aim, so that a busy machine does not fail it

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(10**4000),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)
STATES = JSON_VALUES | st.fixed_dictionaries(
    {
        "num_blocks": JSON_VALUES | st.integers(-1, 40),
        "block_size": JSON_VALUES | st.integers(-1, 40),
        "free": JSON_VALUES | st.lists(st.integers(-2, 9)),
        "requests": JSON_VALUES
        | st.dictionaries(
            st.text(max_size=9),
            st.fixed_dictionaries({"seq_len": st.integers(), "table": JSON_VALUES | st.lists(st.integers(-2, 9))}),
        ),
    }
)


class Page(HTMLParser):
    """The elements of a page that the tests ask about."""

    VOID = frozenset({"meta", "input", "rect", "path"})

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(source)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


@pytest.mark.parametrize("words", [EN, ZH], ids=LANGUAGES)
@pytest.mark.parametrize("sample", EVERY_KIND.values(), ids=EVERY_KIND)
def test_a_page_is_well_formed_and_loads_nothing_from_elsewhere(sample, words):
    page = Page(render_html(sample, words))
    addresses = [v for _, attrs in page.tags for k, v in attrs.items() if k in ("src", "href")]
    assert all(address.startswith("#") for address in addresses)
    assert not page.count("script")
    assert any(attrs.get("http-equiv") == "Content-Security-Policy" for _, attrs in page.tags)
    assert dict(page.tags)["html"]["lang"] == ("en" if words is EN else "zh-CN")


def test_a_page_has_one_heading_of_the_first_level_and_captions_on_all_tables():
    page = Page(render_html(MIXED, EN))
    assert page.count("h1") == page.count("main") == 1
    assert page.count("table") == page.count("caption")
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_a_students_text_is_never_markup():
    evil = replace(MIXED, student="<img src=x onerror=alert(1)>", file="</style><script>")
    source = render_html(evil, EN)
    assert not Page(source).count("img")
    assert not Page(source).count("script")
    assert "<img" not in render_markdown(evil, EN).replace("\\<", "")


@pytest.mark.parametrize("words", [EN, ZH], ids=LANGUAGES)
@pytest.mark.parametrize("render", [render_html, render_markdown])
def test_full_points_with_a_pending_part_are_called_pending(render, words):
    source = render(FULL, words)
    assert words.text("headline.pending", points=80, max_points=80, pending_points=20) in source
    assert words.text("page.pending_why") in source
    assert not re.search(r"all (tests |checks )?passed|全部通过|100 of|/ 100", source, re.IGNORECASE)


def test_a_merged_result_has_nothing_pending():
    source = render_html(replace(FULL, tests=FULL.tests + GPU.tests, pending_points=0), EN)
    assert "100 of 100 points." in source
    assert EN.text("page.pending_row") not in re.sub("<[^>]+>", " ", source)


@pytest.mark.parametrize("words", [EN, ZH], ids=LANGUAGES)
def test_every_question_has_a_title_and_says_what_is_checked(words):
    for question in questions().by_id:
        assert f"{question}.title" in words
        assert f"{question}.checked" in words


@pytest.mark.parametrize("render", [render_html, render_markdown])
def test_a_failure_names_the_rule_the_advice_and_the_example(render):
    source = render(MIXED, EN)
    assert EN.text("decode.late.sentence") in source
    assert EN.text("decode.late.advice") in source
    assert "decode one token of request A" in source


def test_a_question_that_waits_for_another_is_not_called_open():
    waiting = TestResult("q5.lifecycle", "q5", "not attempted", 0, 10, Finding("waiting", {"todos": "3"}))
    source = render_html(replace(FULL, tests=(*FULL.tests[:4], waiting)), EN)
    assert EN.text("tone.some", done=4, count=5) in source
    assert "This part waits for TODO 3." in source


@pytest.mark.parametrize("words", [EN, ZH], ids=LANGUAGES)
def test_no_label_of_the_page_is_unknown_or_unused(words):
    open_ = replace(FULL, tests=(replace(MIXED.tests[3], finding=Finding("open.todo", {"todo": 4})),))
    kinds = [*EVERY_KIND.values(), open_, replace(MIXED, tests=tuple(replace(t, finding=None) for t in MIXED.tests))]
    pages = [render(kind, words) for kind in kinds for render in (render_html, render_markdown)]
    text = unescape("".join(pages))
    assert words.text("no.such.key").partition("no.such.key")[0] not in text
    labels = [key for key in words.catalogue if key.partition(".")[0] in ("page", "headline", "tone")]
    parts = {key: re.split(r"\{[^}]*\}", words.catalogue[key]) for key in labels}
    assert [key for key, literal in parts.items() if not all(part.strip() in text for part in literal)] == []


def test_rendering_is_quick():
    render_html(MIXED, EN)
    start = time.process_time()
    for _ in range(20):
        render_html(MIXED, EN)
    assert (time.process_time() - start) / 20 * 1000 < MOST_CPU_MS_PER_PAGE


def test_the_index_lists_students_and_links_their_bundles():
    source = render_index([(replace(FULL, student="b c"), "11"), (replace(MIXED, student="a/李"), "22")], ZH)
    links = [attrs["href"] for tag, attrs in Page(source).tags if tag == "a"]
    assert links == ["a/%E6%9D%8E.zip", "b%20c.zip"]


def test_the_picture_tells_used_tail_free_twice_and_lost_apart():
    state = {
        "num_blocks": 6,
        "block_size": 3,
        "free": [2, 5, 5],
        "requests": {"A": {"seq_len": 5, "table": [1, 0]}, "B": {"seq_len": 2, "table": [3, 3, 9]}},
    }
    assert blockview.text(state, EN).split("\n") == [
        "   0 |A A .| A[1]",
        "   1 |A A A| A[0]",
        "   2 |     | free",
        "   3 |! ! !| B[0] B[1]",
        "   4 |? ? ?| lost",
        "   5 |! ! !| free free",
        "     A: 5 tokens, block table [1, 0]",
        "     B: 2 tokens, block table [3, 3, 9]",
    ]


def test_a_block_that_is_owned_and_free_is_marked():
    state = BEFORE | {"free": [0, 2, 3]}
    assert "   0 |! ! ! !| A[1] free" in blockview.text(state, EN)


def test_the_svg_carries_the_text_for_those_who_do_not_see_it():
    root = ElementTree.fromstring(blockview.svg(AFTER, "title & more", EN))
    assert root.find("title").text == "title & more"
    assert root.find("desc").text == blockview.text(AFTER, EN)
    assert root.attrib["role"] == "img"


def test_a_number_too_long_to_print_draws_like_any_garbage():
    state = BEFORE | {"free": [10**5000], "requests": {"A": {"seq_len": 10**5000, "table": [0, 10**5000]}}}
    assert "A: 1000000000 tokens, block table [0, ?]" in blockview.text(state, EN)


@settings(max_examples=150, deadline=None)
@given(STATES)
def test_any_state_gives_a_small_harmless_picture(state):
    lines = blockview.text(state, EN)
    source = str(blockview.svg(state, "t", EN))
    assert len(lines) < 20_000
    assert len(source) < 200_000
    assert "<script" not in source


def test_a_question_that_earned_points_is_never_shown_as_not_attempted():
    waits = TestResult("q5.random", "q5", "not attempted", 0, 5, Finding("waiting", {"todos": "3"}))
    started = replace(FULL, tests=(*FULL.tests, waits))
    untouched = replace(FULL, tests=(*FULL.tests[:-1], waits))
    for words in (EN, ZH):
        waiting, open_ = words.text("status.waiting"), words.text("status.not attempted")
        for render in (render_html, render_markdown):
            assert (render(started, words).count(waiting), render(untouched, words).count(waiting)) == (2, 0)
            assert render(untouched, words).count(open_) > render(started, words).count(open_)
