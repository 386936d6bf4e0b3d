"""The tools of the lesson: stories and pictures, the way of a token, predictions."""

import re
from typing import Any

import pytest
from lesson_student import RIGHT, WRONG, Define, filled_in, starter


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        (
            ["A prefll 6"],
            "there is no verb 'prefll'; there are prefill, decode, release, read, hold, find. Did you mean",
        ),
        (["A decode"], "there is no A yet"),
        (["A prefill 6", "A prefill 6"], "A is there already"),
        (["a prefill 6"], "called by one capital letter"),
        (["A prefill six"], "is written like"),
        (["A prefill"], "there is no A yet"),
        (["A hold 6 3"], "as many different free blocks as they fill"),
        (["A hold 4 9"], "as many different free blocks as they fill"),
        (["prefill"], "is no step"),
        ([7], "is no step"),
        (["A prefill 6", "A decode 0"], "how often"),
        ([], "Add steps"),
    ],
)
def test_play_refuses_what_it_cannot_read_in_one_sentence(
    define: Define, capsys: pytest.CaptureFixture[str], steps: list[Any], told: str
) -> None:
    define(filled_in("en", RIGHT)).lesson.play(5, 4, *steps)
    said = capsys.readouterr().out
    assert told in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("waste", {"lengths": [], "max_len": 2048, "block_size": 16}),
        ("waste", {"lengths": [3000], "max_len": 2048, "block_size": 16}),
        ("waste", {"lengths": 37, "max_len": 2048, "block_size": 16}),
        ("waste", {"lengths": [37, 5.5], "max_len": 2048, "block_size": 16}),
        ("waste", {"lengths": [37], "max_len": 2048, "block_size": 0}),
        ("follow", {"name": "B", "token": 1}),
        ("follow", {"name": "A", "token": "8"}),
        ("serve", {"block_sizes": 16}),
        ("serve", {"block_sizes": ()}),
        ("serve", {"block_sizes": (4, 257)}),
        ("serve", {"block_sizes": (16.0,)}),
        ("show", {"manager": 1, "requests": []}),
        ("show", {"manager": None, "requests": [[0, 1]]}),
    ],
)
def test_a_tool_answers_numbers_it_cannot_draw_with_a_line_that_works(
    define: Define, capsys: pytest.CaptureFixture[str], tool: str, arguments: dict[str, Any]
) -> None:
    getattr(define(filled_in("en", RIGHT)).lesson, tool)(**arguments)
    said = capsys.readouterr().out
    assert f": {tool}(" in said
    assert said.count("\n") == 1


def test_play_carries_out_a_decode_several_times(define: Define, capsys: pytest.CaptureFixture[str]) -> None:
    define(filled_in("en", RIGHT)).lesson.play(5, 4, "A prefill 4", "A decode 3")
    assert "A: 7 tokens" in capsys.readouterr().out


def test_the_picture_tells_used_wasted_free_shared_and_lost_slots_apart_without_colour(
    define: Define,
) -> None:
    lesson = define(starter("en")).lesson
    state = lesson.Snapshot(5, 4, (2,), {"A": ((0, 1), 6), "B": ((3, 0), 9)}, frozenset("AB"))
    assert [lesson.slots(state, block)[0] for block in range(5)] == ["!!!!", "AA..", "    ", "BBBB", "????"]
    assert lesson.broken_invariants(state) == [
        "A block is held twice.",
        "A block is lost: neither held nor free.",
        "B has tokens without a slot.",
    ]
    assert "1 token of B without a slot" in lesson.frame("now", state).text


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_word_of_a_picture_is_cut_off_at_its_right_edge(define: Define, lang: str) -> None:
    lesson = define(starter(lang)).lesson
    crowded = {"A": ((0, 1, 3, 1), 900), "B": ((1, 3), 4), "C": ((1, 1), 7)}
    state = lesson.Snapshot(5, 1, (1, 2), crowded, frozenset("ABC"))
    for picture in (lesson.frame("now", state), lesson.diagram(state, "A", 0)):
        [edge] = map(int, re.findall(r'viewBox="0 0 (\d+) ', picture.markup))
        words = re.findall(r'<text x="(\d+)" y="\d+">([^<]*)</text>', picture.markup)
        assert words
        assert [word for x, word in words if int(x) + drawn_width(word) > edge] == []


def drawn_width(text: str) -> float:
    """Return how wide a browser draws the text at 13 pixels: a Chinese character is a square."""
    return sum(13 if "\u2e80" < sign < "\uffff" else 7.83 for sign in text)


def test_a_token_is_followed_through_table_and_pool(define: Define) -> None:
    lesson = define(starter("en")).lesson
    state = lesson.Snapshot(5, 4, (2,), {"A": ((0, 1, 3), 9)}, frozenset("A"))
    told = "\n".join(lesson.way(state, "A", 8))
    assert [
        part for part in ("8 // 4 = 2", "8 % 4 = 0", "block_table[2] = 3", "3 * 4 + 0 = 12") if part not in told
    ] == []
    assert "has no token 9" in lesson.diagram(state, "A", 9).text


def test_a_prediction_is_answered_by_the_students_own_code_once_it_is_right(
    define: Define, capsys: pytest.CaptureFixture[str]
) -> None:
    for answers, said in ((WRONG, "Kept."), (RIGHT, "≠ bytes_per_token: your prediction 60, your code 120")):
        define(filled_in("en", answers)).lesson.guess("q1", bytes_per_token=60, bytes_per_block_of_4=480)
        assert said in capsys.readouterr().out


def test_every_prediction_of_the_notebook_has_an_answer(define: Define) -> None:
    lesson = define(filled_in("en", RIGHT)).lesson
    asked = re.findall(r'(?m)^guess\("(.+?)", (.*)\)$', "\n".join(cell.source for cell in starter("en").cells))
    assert {question: set(re.findall(r"(\w+)=", names)) for question, names in asked} == {
        question: set(answers) for question, answers in lesson.ANSWERS.items()
    }
    answers = {name: answer() for known in lesson.ANSWERS.values() for name, answer in known.items()}
    assert answers["blocks_for_1_4_5_8_tokens"] == [1, 1, 2, 2]
    assert answers["decodes_that_take_a_block"] == [1, 5]
    assert answers["rows"] == [12, 13, 14, 3, 4, 5, 6]
