"""Beyond the TODOs: examples before code, the small server, the stretch exercises."""

import re
from typing import Any

import pytest
from lesson_student import RIGHT, Define, filled_in, solved_master, starter


def test_the_stretch_exercises_can_be_solved_and_wait_where_they_are_open(
    define: Define, capsys: pytest.CaptureFixture[str]
) -> None:
    for notebook, mark in ((solved_master(), "✓"), (filled_in("en", RIGHT), "○")):
        define(notebook).lesson.stretch()
        assert re.findall(r"(?m)^(.) Stretch \d", capsys.readouterr().out) == [mark, mark]


@pytest.mark.parametrize(
    ("right", "wrong", "told"),
    [
        ("running[-1 - len(victims)]", "running[len(victims)]", "the two newest have to go"),
        ("if room < needed:", "if False:", "OOM, and nobody released"),
        ("        running.remove(victim)\n", "", "not running any more"),
        ("parent.block_table[:full]", "parent.block_table[:]", "one shared, one the child's own"),
        ("child.block_table.append(own)", "child.block_table.append(block)", "has to be the child's own"),
        ("len(self.free_blocks) < len(started)", "False", "a fork is an OOM"),
        ("if self.users[block] == 0", "", "while two still use it"),
        ("            self.physical_kv_cache[own] = self.physical_kv_cache[block]\n", "", "tokens have to be copied"),
    ],
)
def test_a_wrong_stretch_exercise_is_told_what_is_wrong(
    define: Define, capsys: pytest.CaptureFixture[str], right: str, wrong: str, told: str
) -> None:
    notebook = solved_master()
    assert sum(right in cell.source for cell in notebook.cells) == 1
    for cell in notebook.cells:
        cell.source = cell.source.replace(right, wrong)
    define(notebook).lesson.stretch()
    assert told in capsys.readouterr().out


def test_the_server_shows_that_blocks_admit_more_requests_than_reservations(
    define: Define,
) -> None:
    lesson = define(filled_in("en", RIGHT)).lesson
    fine, coarse = lesson.day(16), lesson.day(256)
    assert fine.admitted > 3 * coarse.admitted
    assert fine.utilization > 0.85 > coarse.utilization
    assert coarse.preempted == 0
    assert lesson.plot([fine, coarse]).count("<svg") == 2


STORIES = [
    (4, 3, [("A prefill 7", (7, 3)), ("A prefill", "ValueError")]),
    (4, 3, [("A prefill 2", (2, 1)), ("A decode", (3, 1))]),
    (4, 3, [("A prefill 6", (6, 2)), ("A decode", (7, 3)), ("A decode", (8, 3))]),
    (2, 3, [("A prefill 6", (6, 2)), ("A decode", "OOM"), ("A release", (6, 0)), ("A release", "ValueError")]),
    (2, 3, [("A prefill 9", "OOM"), ("B prefill 4", (4, 2))]),
    (3, 1, [("A prefill 1", (1, 1)), ("A decode", (2, 2))]),
    (2, 3, [("A hold 3 0", (3, 1)), ("A release", (3, 0)), ("B prefill 6", (6, 2))]),
]


def test_short_examples_catch_every_wrong_allocator_and_the_notebooks_two_catch_two(
    define: Define, capsys: pytest.CaptureFixture[str]
) -> None:
    lesson = define(starter("en")).lesson
    lesson.examples(*STORIES)
    assert "Valid: 7 of 7 stories. Caught: 11 of 11" in capsys.readouterr().out
    given = next(cell.source for cell in starter("en").cells if cell.source.startswith("examples("))
    exec(given, {"examples": lesson.examples})
    assert "Valid: 2 of 2 stories. Caught: 2 of 11" in capsys.readouterr().out


@pytest.mark.parametrize("question", ["q2", "q3"])
def test_the_right_allocators_of_the_examples_agree_with_the_public_cases(define: Define, question: str) -> None:
    lesson = define(starter("en")).lesson
    found = [
        lesson.first_difference(make(*case[:2]), case)
        for make in lesson.right_boxes()
        for case in lesson.CASES[question]
    ]
    assert set(found) == {""}


@pytest.mark.parametrize(
    ("story", "told"),
    [
        ((4, 3, [("A prefill 7", (7, 2))]), "not what a right allocator does: A prefill 7 → 7 tokens in 3 blocks"),
        ((4, 3, [("A prefll 7", (7, 3))]), "no verb 'prefll'"),
        ((4, 3, [("A read", [0])]), "examples may hold, prefill, decode and release"),
        ((4,), "cannot be read"),
        (7, "cannot be read"),
    ],
)
def test_an_example_that_is_wrong_or_unreadable_is_named(
    define: Define, capsys: pytest.CaptureFixture[str], story: Any, told: str
) -> None:
    define(starter("en")).lesson.examples(story)
    said = capsys.readouterr().out
    assert told in said
    assert "Valid: 0 of 1" in said
