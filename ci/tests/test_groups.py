"""A group is one submission of several people: what is written about it holds for all, and people are counted."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from reporting_samples import MIXED

from autograder.classroom.holds import hold
from autograder.config import Config
from autograder.grading.many.journal import Journal
from autograder.grading.many.rerender import render, results
from autograder.identity import Identity
from autograder.reporting.schema import row
from autograder.reporting.words import Words
from autograder.tables import SheetError

GROUPS = """name,canvas_user_id,user_id,login_id,sections,group_name
Ada,4,s4,ada1,S,Team 1
Bea,5,s5,bea1,S,Team 1
Cid,6,s6,cid1,S,Team 2
Dan,7,s7,dan1,S,
"""


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A run of two groups, one of them of a single person, with the list of its groups; nobody knows of Dan."""
    out = tmp_path / "out"
    with Journal(out, resume=False) as journal:
        for n, team in enumerate(("Team 1", "Team 2")):
            who = Identity("canvas", str(90 + n), name=team)
            journal.append(row(replace(MIXED, student=f"team-{n + 1}", who=who)))
    (out / "roster.csv").write_text(GROUPS, encoding="utf-8")
    return out


def test_people_are_counted_and_submissions_beside_them(out: Path) -> None:
    render(out, Config(), Words("en"))
    run = json.loads((out / "run.json").read_text(encoding="utf-8"))
    assert (run["students"], run["submissions"]) == (4, 2)
    assert run["status"] == {"graded": 3, "not gradable": 0, "held": 0, "missing": 1}


@pytest.mark.parametrize("member", ["4", "bea1", "Ada"])
@pytest.mark.parametrize("table", ["overrides", "holds", "extensions"])
def test_a_row_for_one_of_a_group_is_refused_and_says_how_to_write_it(out: Path, member: str, table: str) -> None:
    columns = {"overrides": "question,points,reason", "holds": "reason", "extensions": "due"}[table]
    cells = {"overrides": "q2,18,x", "holds": "x", "extensions": "2026-11-05T00:00:00Z"}[table]
    (out / f"{table}.csv").write_text(f"id,{columns}\n{member},{cells}\n", encoding="utf-8")
    with pytest.raises(
        SheetError, match=r"one of the group 'team-1' in this run; a row holds for all of a group, so write 'team-1"
    ):
        render(out, Config(), Words("en"))
    assert not (out / "grades.csv").exists()


def test_a_group_of_one_may_be_called_by_the_person(out: Path) -> None:
    (out / "overrides.csv").write_text("id,question,points,reason\nteam-2,q2,18,x\n", encoding="utf-8")
    lines, _ = render(out, Config(), Words("en"))
    assert [line.final for line in lines] == [MIXED.points, MIXED.points + 18 - MIXED.questions["q2"].points]


def test_one_of_a_group_is_not_held_back_alone(out: Path) -> None:
    with pytest.raises(SheetError, match="one of the group 'team-1'"):
        hold(out, results(out), ["bea1"], "why", "TA")
    assert not (out / "holds.csv").exists()


def test_a_member_that_only_the_download_names_is_one_of_the_group_too(out: Path) -> None:
    (out / "roster.csv").unlink()
    with Journal(out, resume=True) as journal:
        who = Identity("gradescope", "9", name="Eva", members=("Fay",))
        journal.append(row(replace(MIXED, student="eva-9", who=who)))
    (out / "holds.csv").write_text("id\nFay\n", encoding="utf-8")
    with pytest.raises(SheetError, match="one of the group 'eva-9'"):
        render(out, Config(), Words("en"))
