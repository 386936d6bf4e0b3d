"""Whatever a student can write into a name, a note or an error is text in every file of the course, never more."""

import csv
import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from reporting_samples import EXAMPLE, FULL, MIXED, REJECTED

from autograder.findings import Finding
from autograder.reporting.gradebook import grades_csv, student_files
from autograder.reporting.report import render_html, render_index, render_markdown
from autograder.reporting.results import SubmissionResult, TestResult, grade_line
from autograder.reporting.summary import pseudonyms, render_summary, who_is_who
from autograder.reporting.words import LANGUAGES, Words

EVIL = "<img src=x onerror=alert(1)><script>alert(2)</script>"
PIPE = "a|b [link](http://x) `code` *bold* <b>"


def failing(text: str) -> TestResult:
    return TestResult("q3.basic", "q3", "failed", 0, 3, Finding("call.raised", {"operation": "decode", "got": text}))


def everywhere(text: str) -> dict[str, SubmissionResult]:
    """Return results that hold a text of the student's in one place each."""
    note = Finding("cell.failed", {"cell": 3, "error": text, "line": 2, "text": text})
    named = {"num_blocks": 2, "block_size": 2, "free": [1], "requests": {text[:40]: {"seq_len": 1, "table": [0]}}}
    example = {**EXAMPLE, "before": named, "after": named}
    return {
        "the student's name": replace(FULL, student=text),
        "the file's name": replace(FULL, file=text),
        "a note": replace(FULL, notes=(note,)),
        "an error in a case": replace(FULL, tests=(failing(text),)),
        "a case's id": replace(FULL, tests=(replace(failing("x"), id=f"q3.{text}"),)),
        "the reason of a rejection": replace(REJECTED, rejected=Finding("intake.truncated", {"file": text})),
        "an example": replace(MIXED, tests=(replace(MIXED.tests[2], example=example),)),
        "the device": replace(FULL, device=text),
        "a version": replace(FULL, versions={"torch": text}),
        "a wall": replace(FULL, confinement={"landlock": text}),
    }


class Tags(HTMLParser):
    def __init__(self, source: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.add(tag)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("place", everywhere(EVIL))
def test_no_text_becomes_an_element_of_the_page(place: str, lang: str) -> None:
    tags = Tags(render_html(everywhere(EVIL)[place], Words(lang))).seen
    assert not tags & {"img", "script", "iframe", "b"}


@pytest.mark.parametrize("place", ["a note", "an error in a case", "the reason of a rejection", "the file's name"])
def test_a_text_stands_on_the_page_as_it_was_written(place: str) -> None:
    page = render_html(everywhere(EVIL)[place], Words("en"))
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


@pytest.mark.parametrize("place", everywhere(PIPE))
def test_no_text_is_markup_in_markdown(place: str) -> None:
    report = render_markdown(everywhere(PIPE)[place], Words("en"))
    outside = re.sub(r"```.*?```", "", report, flags=re.DOTALL)  # the picture of the blocks is a block of text
    bare = re.findall(r"(?<!\\)(?:\[link|`code|\*bold|<b>|a\|b)", outside)
    assert bare == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_page_of_a_run_shows_names_as_text(lang: str) -> None:
    index = render_index([(replace(FULL, student=EVIL), "0" * 64)], Words(lang))
    assert not Tags(index).seen & {"img", "script"}
    assert "&lt;img" in index


def test_the_summary_shows_no_text_of_a_student_at_all() -> None:
    results = [replace(r, student=f"{place} {EVIL}") for place, r in everywhere(EVIL).items()]
    text = render_summary([grade_line(r) for r in results], pseudonyms(results), Words("en"))
    assert "<img" not in text
    assert "onerror" not in text


STARTS = "=+-@\t\r\n＝＋－＠"


@pytest.mark.parametrize("start", STARTS)
def test_a_cell_that_a_spreadsheet_would_calculate_is_quoted(start: str) -> None:
    row = grades_csv([replace(FULL, student=f"{start}1+1")]).decode().partition("\n")[2]
    assert row.lstrip('"').startswith(f"'{start}1+1")


@pytest.mark.parametrize("name", ["ada", "1+1", "a=b", "李雷", "'quoted"])
def test_other_names_stay_as_they_are(name: str) -> None:
    rows = list(csv.reader(io.StringIO(grades_csv([replace(FULL, student=name)]).decode(), newline="")))
    assert rows[1][0] == name


@pytest.mark.parametrize("place", everywhere("\ud800\x00\x1b[31m\u202e"))
def test_every_file_can_be_written_whatever_stands_in_it(place: str) -> None:
    result = everywhere("\ud800\x00\x1b[31m\u202e")[place]
    for lang in LANGUAGES:
        for name, content in student_files(result, Words(lang), "example").items():
            content.decode("utf-8")
            if place in ("a note", "an error in a case") and name != "results.json":
                assert b"\x1b" not in content, name


def test_the_staffs_list_can_be_written_for_any_name() -> None:
    result = replace(FULL, student="\ud800,\n")
    assert len(list(csv.reader(io.StringIO(who_is_who(pseudonyms([result])).decode(), newline="")))) == 2
