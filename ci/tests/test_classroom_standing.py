"""Late work, overrides, holds, pins and comments: counted when reports are made, refused when they fit nobody."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from reporting_samples import FULL, MIXED

from autograder.classroom.late import Extension, after, lateness
from autograder.classroom.records import Records, read_records_of
from autograder.classroom.roster import read_roster
from autograder.classroom.stand import stand, undated
from autograder.config import Config, ConfigError, Late, load_config
from autograder.identity import Identity
from autograder.reporting.gradebook import grades_csv, write_student
from autograder.reporting.report import render_html, render_markdown
from autograder.reporting.results import grade_line
from autograder.reporting.words import Words
from autograder.tables import SheetError

DUE = datetime.fromisoformat("2026-11-01T23:59:00-05:00")
WHO = Identity("canvas", "42", "ada1", "Ada", "ada@x.edu", received="2026-11-03T00:30:00-05:00")
RESULT = replace(MIXED, who=WHO)
LATE = Late(DUE, grace_minutes=10, percent=10.0, floor_percent=20.0)


@pytest.mark.parametrize(
    ("received", "rule", "own", "left"),
    [
        ("2026-11-01T23:59:00-05:00", LATE, {}, 70),
        ("2026-11-02T00:09:00-05:00", LATE, {}, 70),
        ("2026-11-02T00:09:01-05:00", LATE, {}, 60),
        ("2026-11-02T05:09:01+00:00", LATE, {}, 60),
        ("2026-11-03T00:30:00-05:00", LATE, {}, 50),
        ("2026-11-03T00:30:00", LATE, {}, 50),
        ("2026-11-09T00:30:00-05:00", LATE, {}, 20),
        ("2026-11-03T00:30:00-05:00", replace(LATE, free_days=1), {}, 60),
        ("2026-11-03T00:30:00-05:00", replace(LATE, free_days=5), {"free_days": "0"}, 50),
        ("2026-11-03T00:30:00-05:00", LATE, {"due": "2026-11-05T00:00:00-05:00"}, 70),
        ("2026-11-02T01:59:01-05:00", replace(LATE, interval="hour", percent=1.0), {}, 67),
        ("2026-11-03T01:59:01-05:00", replace(LATE, interval="hour", percent=1.0, free_days=1), {}, 67),
        ("2026-11-09T00:30:00-05:00", replace(LATE, cutoff_days=3), {}, 0),
        ("", LATE, {"received": "2026-11-02T01:00:00-05:00"}, 60),
        ("", LATE, {}, 70),
    ],
)
def test_a_rule_takes_points_for_every_begun_interval_down_to_its_floor(received, rule, own, left):
    assert after(70, lateness(received, rule, Extension(**own), 100)) == left


@pytest.mark.parametrize(("percent", "shown"), [(10.0, "65"), (12.5, "62.5"), (12.25, "62.75"), (12.01, "62.99")])
def test_a_grade_is_shown_to_the_hundredth_of_a_point_and_without_needless_zeros(percent, shown):
    result = replace(FULL, pending_points=0, who=replace(WHO, received="2026-11-02T12:00:00-05:00"))
    result = replace(result, tests=(replace(FULL.tests[0], points=75, max_points=100),))
    standing = stand(result, Records(), Config(late=replace(LATE, percent=percent)))
    assert grades_csv([grade_line(result, standing)]).decode().splitlines()[1].split(",")[14] == shown
    assert standing.late.details["after"] == shown


def test_the_floor_gives_nobody_more_than_was_earned():
    assert after(5, lateness("2026-11-09T00:30:00-05:00", LATE, Extension(), 100)) == 5


@pytest.mark.parametrize(
    "text",
    ["due = 2026-11-01T23:59:00", 'due = "soon"', "percent = 10", 'due = 2026-11-01T23:59:00Z\ninterval = "week"',
     "due = 2026-11-01T23:59:00Z\npercent = -1", "due = 2026-11-01T23:59:00Z\nfloor = 1"],
)  # fmt: skip
def test_a_late_rule_that_is_not_clear_is_one_sentence(text, tmp_path):
    (tmp_path / "pyproject.toml").write_text(f"[tool.autograder.late]\n{text}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"^[^\n]*$"):
        load_config(tmp_path)


def beside(out: Path, **files: str) -> Path:
    for name, text in files.items():
        path = out / ("comments/42.md" if name == "comment" else f"{name}.csv")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return out


def standing(out, **config):
    return stand(RESULT, read_records_of(out, {RESULT.student: RESULT}), Config(**config))


def test_the_student_sees_both_numbers_the_reason_the_comment_and_the_pin(tmp_path):
    out = beside(
        tmp_path,
        overrides="id,question,points,reason,by,date\n42,q2,18,typo in the handout,TA,2026-11-05\n",
        pins="rule,sentence\ndecode.late,Look at slide 12.\nprefill.count,Not shown.\n",
        comment="<b>Well</b> done",
        requests="id,case,state,answer\nada1,q2.refusal_changes_nothing,granted,You were right.\n",
    )
    now = standing(out, late=LATE)
    assert (now.points, now.final) == (33, 20)
    for lang in ("en", "zh"):
        for render in (render_html, render_markdown):
            text = render(RESULT, Words(lang), now)
            shown = ("typo in the handout", "Look at slide 12.", "You were right.", "33", "20")
            assert [s for s in shown if s not in text] == []
            assert "Not shown." not in text
            assert "<b>Well</b>" not in text


def test_what_is_held_back_is_in_no_file_of_the_student(tmp_path):
    write_student(tmp_path, RESULT, Words("en"), "hint")
    assert len(list((tmp_path / "students" / "ada").iterdir())) == 4
    now = standing(beside(tmp_path, holds="id,reason\n42,plagiarism case\n"))
    write_student(tmp_path, RESULT, Words("en"), "hint", now)
    assert list((tmp_path / "students" / "ada").iterdir()) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("overrides", "id,question,points,reason\n43,q2,18,x\n"),
        ("overrides", "id,question,points,reason\n42,q9,18,x\n"),
        ("overrides", "id,question,points,reason\n42,q2,21,x\n"),
        ("overrides", "id,question,points,reason\n42,q2,NaN,x\n"),
        ("overrides", "id,question,points,reason\n42,q2,18,\n"),
        ("overrides", "id,question,points,reason\n42,q2,18,x\nada1,q2,17,x\n"),
        ("overrides", "id,question,points\n42,q2,18\n"),
        ("extensions", "id,due\n42,2026-11-05T00:00:00Z\n42,2026-11-06T00:00:00Z\n"),
        ("extensions", "id,due\n42,2026-11-05\n"),
        ("extensions", "id,received\n42,yesterday\n"),
        ("holds", "id\n43\n"),
        ("requests", "id,case,state\n42,q2.refusal_changes_nothing,perhaps\n"),
        ("requests", "id,case,state\n42,q9.basic,open\n"),
        ("pins", "rule,sentence\ndecode.latte,Look at slide 12.\n"),
        ("pins", "rule,sentence\ndecode.late,One.\ndecode.late,Two.\n"),
    ],
)
def test_a_row_that_fits_nobody_or_nothing_is_one_sentence(name, text, tmp_path):
    with pytest.raises(SheetError, match=r"^[^\n]*$"):
        standing(beside(tmp_path, **{name: text}))


def test_nothing_beside_the_run_changes_nothing(tmp_path):
    now = standing(tmp_path)
    assert not now.changed
    assert render_html(FULL, Words("en")) == render_html(
        FULL, Words("en"), stand(FULL, read_records_of(tmp_path, {}), Config())
    )


@pytest.mark.parametrize(
    ("who", "told", "said"),
    [
        (Identity("canvas", "42", late=True), "", "1 late without a time"),
        (Identity("moodle", "42"), "", "No submission has a time"),
        (Identity("moodle", "42"), "2026-11-01T12:00:00Z", ""),
        (WHO, "", ""),
    ],
)
def test_a_late_rule_that_has_no_time_to_go_by_is_told(who, told, said):
    records = Records(extensions={"ada": Extension(received=told)} if told else {})
    found = undated([replace(MIXED, who=who)], records, Config(late=LATE))
    assert ([said in sentence for sentence in found] or [not said]) == [True]
    assert undated([replace(MIXED, who=who)], records, Config()) == []


TABLES = {
    "roster": ("id,login,name\n42,ada,张伟\n", None),
    "overrides": ("id,question,points,reason\n42,q2,18,题目写错了\n", "18"),
    "extensions": ("id,due,reason\n42,2026-12-05T00:00:00Z,病假\n", None),
    "holds": ("id,reason\n42,等待复核\n", None),
    "pins": ("rule,sentence\ndecode.late,请看第十二页。\n", "第十二页"),
    "requests": ("id,case,state,answer\n42,q2.refusal_changes_nothing,granted,你说得对。\n", "你说得对"),
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
@pytest.mark.parametrize("name", TABLES)
def test_every_table_of_a_ta_is_read_as_spreadsheets_save_it(name, encoding, tmp_path):
    text, shown = TABLES[name]
    (tmp_path / f"{name}.csv").write_bytes(text.replace("\n", "\r\n").encode(encoding))
    now = standing(tmp_path)
    people = read_roster(tmp_path / "roster.csv").people if name == "roster" else ()
    told = f"{now}{read_records_of(tmp_path, {RESULT.student: RESULT})}{people}"
    assert (shown or text.splitlines()[1].rpartition(",")[2]) in told
