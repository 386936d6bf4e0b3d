"""Reports go back to the right student; requests carry evidence; similarity sees own lines only."""

import email
import io
import zipfile
from dataclasses import replace

import pytest
from reporting_samples import FULL, MIXED

from autograder.classroom.feedback import letters, moodle_zip
from autograder.grading.many.similar import functions, own_lines
from autograder.identity import Identity
from autograder.reporting.feedback import visible
from autograder.reporting.report import render_html, render_markdown
from autograder.reporting.request import RequestError, block, read_block
from autograder.reporting.words import Words
from autograder.tables import SheetError

SEEN = replace(MIXED, sha256="ab" * 32, versions=MIXED.versions | {"seed": "cd" * 32})


def test_moodles_zip_names_each_folder_by_the_number_that_moodle_looks_for():
    people = [(Identity("moodle", "7", name="An 2"), b"a"), (Identity("moodle", "8", name="Participant 8"), b"b")]
    content, count = moodle_zip(
        [*people, (Identity("moodle", name="Default group"), b"c"), (Identity("canvas", "9"), b"d")]
    )
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = {name: archive.read(name) for name in archive.namelist()}
    assert names == {
        "An 2_7_assignfeedback_file/report.html": b"a",
        "Participant_8_assignfeedback_file/report.html": b"b",
    }
    assert count == 2
    with pytest.raises(SheetError):
        moodle_zip([(Identity("canvas", "9"), b"d")])


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_letter_holds_the_report_and_is_the_same_every_time(lang):
    report = "<p>报告</p>".encode()
    files = letters({"ada": ("ada@x.edu", report)}, Words(lang))
    assert files == letters({"ada": ("ada@x.edu", report)}, Words(lang))
    message = email.message_from_bytes(files["ada.eml"])
    [attachment] = [part for part in message.walk() if part.get_filename()]
    assert (message["To"], attachment.get_payload(decode=True)) == ("ada@x.edu", report)
    assert files["mail.csv"].decode("utf-8-sig").splitlines()[0] == "email,subject,body,attachment"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_block_of_a_report_is_read_back_out_of_a_letter(lang):
    for render in (render_html, render_markdown):
        request = read_block(f"Dear TA,\r\nI think this is wrong.\n\n{render(SEEN, Words(lang))}")
        assert (request.file, request.tests, request.seed) == ("ab" * 32, "t1", "cd" * 32)
        assert request.cases == {
            "q2.refusal_changes_nothing": "failed, refusal.changed",
            "q3.grows_when_full": "failed, decode.late",
            "q5.request": "could not run, run.cpu",
        }


def test_a_course_that_shows_points_only_gives_no_rule_away_in_the_block():
    text = block(visible(SEEN, "score"))
    assert "q3.grows_when_full failed, -" in text
    assert "decode.late" not in text
    assert block(FULL) == ""


@pytest.mark.parametrize(
    "text", ["", "hello", "regrade-request/1", "regrade-request/1\nfile: 12\ncase: a b", "\0" * 50_000]
)
def test_a_block_that_is_not_whole_is_one_sentence(text):
    with pytest.raises(RequestError, match=r"^[^\n]*$"):
        read_block(text)


def test_only_a_students_own_lines_of_the_todos_are_compared():
    given = functions(["def fill(x):\n    # given\n    y = x\n    raise NotImplementedError\n"])
    own = functions(
        ["import os", "def fill(x):\n    # given\n    y = x\n    return y + 1\n", "def other():\n    return 2"]
    )
    text = own_lines(own, given)
    assert "return y + 1" in text
    assert "given" not in text
    assert "return 2" not in text
