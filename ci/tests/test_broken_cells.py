"""A cell that is no Python is what a report names first, with the line and a caret below the place."""

from dataclasses import replace

import pytest
from reporting_samples import FULL

from autograder.findings import Finding
from autograder.reporting.broken_cells import broken_cells
from autograder.reporting.report import render_report
from autograder.reporting.words import Words

DETAILS = {"cell": 5, "line": 8, "text": "expected ':'"}


def syntax(code: str, column: int) -> Finding:
    return Finding("cell.syntax", {**DETAILS, "column": column, "code": code})


BROKEN = syntax("    if full", 12)
NEWER = Finding("cell.newer", {"cell": 6, "line": 1, "python": "3.14"})
OTHER = Finding("cell.absent", {"cell": 2, "package": "seaborn"})


@pytest.mark.parametrize(
    ("code", "column", "caret"),
    [("if full", 8, 7), ("if 满了", 6, 7), ("\tif full", 9, 8), ("x\x1b[31m", 3, 2)],
    ids=["plain", "wide characters", "a tab", "an escape"],
)
def test_the_caret_stands_below_the_place(code: str, column: int, caret: int) -> None:
    [cell] = broken_cells([syntax(code, column)], Words("en"))
    assert cell.caret == " " * caret + "^"
    assert cell.line.isprintable()


def test_a_cell_without_a_known_place_has_no_line() -> None:
    assert [(cell.line, cell.caret) for cell in broken_cells([NEWER, OTHER], Words("en"))] == [("", "")]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_both_forms_name_it_before_anything_else_and_once(lang: str) -> None:
    words = Words(lang)
    for page in render_report(replace(FULL, notes=(OTHER, BROKEN, NEWER)), words):
        sentence = words.sentence(BROKEN).partition("：" if lang == "zh" else ":")[0]
        assert page.count(sentence) == 1
        assert page.index(sentence) < page.index(words.text("q1.title"))
        assert page.index("    if full\n") < page.index(words.text("q1.title"))
        assert page.index("seaborn") > page.index(words.text("page.notes"))


def test_a_line_that_looks_like_markup_stays_a_line() -> None:
    html, text = render_report(replace(FULL, notes=(syntax("```<script>", 4),)), Words("en"))
    assert "<script>" not in html
    assert "\n    ```<script>\n       ^\n" in text
