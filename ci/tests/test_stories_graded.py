"""A student's examples reach the grader as data: judged as in the notebook, without running anything of the student."""

from dataclasses import replace

import pytest
from reporting_samples import FULL

from autograder.classroom.records import read_records_of
from autograder.classroom.stand import stand
from autograder.config import Config
from autograder.findings import Finding
from autograder.grading.one.stories import LONGEST, judged_stories
from autograder.reporting.report import render_html, render_markdown
from autograder.reporting.words import Words

GIVEN = """examples(
    # a comment
    (4, 3, [("A prefill 7", (7, 3)), ("B prefill 4", "OOM")]),
    (4, 3, [("A prefill 2", (2, 1)), ("A decode", (3, 1))]),
)"""


def judged(valid: int, stories: int, caught: int) -> Finding:
    return Finding("examples.judged", {"valid": valid, "stories": stories, "caught": caught, "of": 11})


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        ([GIVEN], judged(2, 2, 2)),
        ([GIVEN, "x = 1", "examples((4, 3, [('A prefill 7', (7, 2))]))"], judged(0, 1, 0)),
        (["examples((2, 3, [('A prefill 4', (4, 2)), ('A prefill', 'ValueError')]), 7)"], judged(1, 2, 3)),
        ([GIVEN, "examples((4, 3, [(open('/etc/passwd').read(), (7, 3))]))"], judged(2, 2, 2)),
        ([GIVEN, "examples(*everything)"], judged(2, 2, 2)),
        ([GIVEN, "examples("], judged(2, 2, 2)),
        ([GIVEN, f"examples({'-' * 9000}1)"], judged(2, 2, 2)),
        (["examples()", "def examples(): pass", "print('examples(1)')"], None),
        ([], None),
    ],
)
def test_the_last_plain_examples_of_a_notebook_count(cells: list[str], found: Finding | None) -> None:
    assert judged_stories(cells) == found


def test_stories_made_to_last_are_cut_short() -> None:
    steps = ", ".join(["('A prefill 999999', (999999, 999999))"] * 60)
    many = ", ".join(["(1000,1,[('A prefill 1000',(1000,1000)),('A decode','OOM')])"] * 200)
    assert judged_stories([f"examples((64, 1, [{steps}]))"]) == judged(0, 1, 0)
    assert len(many) < LONGEST
    assert judged_stories([f"examples({many})"]) == judged(40, 200, 4)


def test_points_come_on_top_only_where_the_course_gives_some(tmp_path) -> None:
    result = replace(FULL, notes=(judged(4, 5, 8),))
    records = read_records_of(tmp_path, {result.student: result})
    plain, paid = (stand(result, records, Config(examples_points=points)) for points in (0, 5))
    assert (plain.final, plain.changed) == (80, False)
    assert (paid.final, paid.changed) == (83.64, True)
    for words in (Words("en"), Words("zh")):
        sentence = words.sentence(Finding("examples.points", {"caught": 8, "of": 11, "points": "3.64"}))
        for render in (render_html, render_markdown):
            assert sentence.replace("(", "") in render(result, words, paid).replace("\\", "")
            assert sentence not in render(result, words, plain)
            assert words.sentence(judged(4, 5, 8)) in render(result, words, plain).replace("\\", "")
