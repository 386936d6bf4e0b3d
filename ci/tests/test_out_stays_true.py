"""OUT stays true: one key per student, the graded file beside the grade, and refusals before anything is touched."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from commands import autograder
from reporting_samples import FULL, GPU, MIXED, REJECTED
from runs import handed_in, run, tree

from autograder.classroom.compare import compare, never_lower
from autograder.config import Config
from autograder.grading.many.batch import settle
from autograder.grading.many.hand_out import write_bundles
from autograder.grading.many.journal import JournalError, recorded
from autograder.grading.many.rerender import merge_runs, put_back, refresh, render
from autograder.identity import Identity
from autograder.intake.discover import Entry
from autograder.reporting.received_bundle import submission_of, verify
from autograder.reporting.standing import Standing
from autograder.reporting.words import Words
from autograder.tables import SheetError

EN, COURSE = Words("en"), Config()


def test_a_resubmission_under_another_name_leaves_only_the_graded_file_and_its_bundle_holds_that(tmp_path):
    folder = tmp_path / "students" / "ada"
    run(tmp_path, handed_in("ada", b"first"))
    (folder / "received" / "a_first.ipynb").write_bytes(b"first")
    run(tmp_path, handed_in("ada", b"second"), resume=True)
    assert [p.name for p in (folder / "received").iterdir()] == ["paged_attention.ipynb"]
    [path], without = write_bundles(tmp_path, b"", COURSE, EN)
    assert without == []
    assert submission_of(path)[1] == b"second"
    assert verify(path) == []


def test_a_student_whose_graded_file_was_exchanged_gets_no_bundle_and_is_named(tmp_path):
    run(tmp_path, handed_in("ada", b"graded"), handed_in("bo", b"{}"))
    (tmp_path / "students" / "ada" / "received" / "paged_attention.ipynb").write_bytes(b"other")
    paths, without = write_bundles(tmp_path, b"", COURSE, EN)
    assert ([p.stem for p in paths], without) == (["bo"], ["ada"])


def entry(student, key="", platform="canvas"):
    return Entry(student, "x", Path("x"), who=Identity(platform, key, name=student) if key else Identity())


def test_a_student_keeps_the_folder_of_the_run_and_nobody_gets_anothers():
    earlier = [replace(FULL, student="wei-1", who=Identity("canvas", "1")), replace(FULL, student="zoë")]
    settled = settle([entry("Wei Zhang-1", "1"), entry("wei-1", "2"), entry("zoë"), entry("Zoë", "9")], earlier)
    assert [e.student for e in settled] == ["wei-1", "wei-1-2", "zoë", "Zoë-2"]


@pytest.mark.parametrize("twin", ["same folder", "link"])
def test_merging_into_one_of_the_runs_is_refused_before_anything_is_touched(tmp_path, twin):
    one = run(tmp_path / "one", handed_in("ada"))
    two = run(tmp_path / "two", (replace(GPU, sha256=FULL.sha256), b""))
    target = one
    if twin == "link":
        target = tmp_path / "link"
        os.symlink(one, target)
    before = tree(tmp_path)
    with pytest.raises(JournalError, match="one of the runs"):
        merge_runs([one, two], target, COURSE, EN)
    assert tree(tmp_path) == before


def test_two_attempts_on_one_device_are_refused_before_anything_is_touched(tmp_path):
    one, two = (run(tmp_path / n, handed_in("ada", n.encode())) for n in ("one", "two"))
    with pytest.raises(JournalError, match="two attempts"):
        merge_runs([one, two], tmp_path / "out", COURSE, EN)
    assert not (tmp_path / "out").exists()


def test_runs_merge_by_the_platforms_id_whatever_the_folders_are_called(tmp_path):
    who = Identity("canvas", "42")
    cpu, content = handed_in("ada-42", who=who)
    one = run(tmp_path / "one", (cpu, content))
    two = run(tmp_path / "two", (replace(GPU, student="Ada L-42", sha256=cpu.sha256, who=who), content))
    lines, problems = merge_runs([one, two], tmp_path / "out", COURSE, EN)
    assert (problems, [(line.student, line.points, line.pending_points) for line in lines]) == (
        [],
        [("ada-42", 100, 0)],
    )


def test_a_second_run_into_out_keeps_the_first_whole_and_apart(tmp_path):
    run(tmp_path, handed_in("ada"), handed_in("bo"))
    render(tmp_path, COURSE, EN)
    write_bundles(tmp_path, b"", COURSE, EN)
    before = tree(tmp_path)
    run(tmp_path, handed_in("cy"))
    render(tmp_path, COURSE, EN)
    assert [p.name for p in (tmp_path / "students").iterdir()] == ["cy"]
    after = tree(tmp_path)
    kept = {name.replace(".1", "", 1): content for name, content in after.items() if ".1" in name}
    assert kept == before


@pytest.mark.parametrize(
    "line",
    [b"\n", b"[1, 2]\n", b'{"student": "bo"}\n', b'{"student": "bo", "points": ', b"\xff\xfe\n", b"[" * 100_000 + b"\n",
     b'{"schema": "autograder-row/9", "student": "bo"}\n'],
)  # fmt: skip
def test_a_line_of_no_use_is_one_sentence_and_costs_nobody_else_anything(line, tmp_path):
    run(tmp_path, handed_in("ada"))
    with (tmp_path / "journal.jsonl").open("ab") as journal:
        journal.write(line)
    found = recorded(tmp_path)
    assert list(found.results) == ["ada"]
    assert [problem.count("\n") for problem in found.problems] == [0]
    lines, problems = render(tmp_path, COURSE, EN)
    assert ([line.student for line in lines], len(problems)) == (["ada"], 1)


def test_a_row_of_an_older_or_a_newer_version_with_more_fields_is_read(tmp_path):
    run(tmp_path, handed_in("ada"))
    path = tmp_path / "journal.jsonl"
    data = json.loads(path.read_bytes())
    older = {key: value for key, value in data.items() if key not in ("schema", "who", "gradescope")}
    newer = data | {"student": "bo", "mood": "good"}
    path.write_text("".join(json.dumps(r) + "\n" for r in (older, newer)), encoding="utf-8")
    found = recorded(tmp_path)
    assert (list(found.results), found.problems) == (["ada", "bo"], ())


def test_what_was_not_graded_is_empty_in_grades_csv_and_the_gpu_setting_of_today_counts(tmp_path):
    run(tmp_path, handed_in("ada"), (replace(REJECTED, student="bo"), b"torn"))
    render(tmp_path, Config(gpu="off"), EN)
    ada, bo = (tmp_path / "grades.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert ada.startswith("ada,graded,15,20,20,15,10,,,,,80,80,0,80")
    assert set(bo.removeprefix("bo,not gradable")) == {","}


def test_a_table_that_fits_nobody_stops_report_before_anything_is_written(tmp_path):
    run(tmp_path, handed_in("ada"))
    (tmp_path / "overrides.csv").write_text("id,question,points,reason\nbo,q1,1,x\n", encoding="utf-8")
    before = tree(tmp_path)
    done = autograder("report", tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert tree(tmp_path) == before


def test_an_out_inside_the_submissions_is_refused(tmp_path):
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "ada.py").write_text("x = 1\n", encoding="utf-8")
    done = autograder("grade", tmp_path / "class", "-o", tmp_path / "class" / "out")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert [p.name for p in (tmp_path / "class").iterdir()] == ["ada.py"]


def side(*results):
    return {result.student: (result, Standing(result.points, result.points)) for result in results}


def test_comparing_says_who_changed_where_and_why():
    old = side(replace(FULL, student="ada"), replace(FULL, student="bo"), replace(FULL, student="gone"))
    fallen = replace(MIXED, student="ada", versions=FULL.versions | {"tests": "t2"})
    new = side(fallen, replace(FULL, student="bo"), replace(FULL, student="new"))
    changes, gone, come = compare(old, new)
    assert [(c.student, c.before, c.after, c.causes) for c in changes] == [("ada", 80, 15, ("tests",))]
    assert "q2.basic" in [name for name, _, _ in changes[0].cases]
    assert (gone, come) == (["gone"], ["new"])
    assert compare(old, old) == ([], [], [])
    assert [r.points for r in never_lower(old, new, changes)] == [80]
    other = side(replace(fallen, sha256="00" * 32))
    assert never_lower(old, other, compare(old, other)[0]) == []


def test_putting_results_back_writes_only_those_students_reports(tmp_path):
    run(tmp_path, handed_in("ada", sample=MIXED), handed_in("bo"))
    render(tmp_path, COURSE, EN)
    bo = (tmp_path / "students" / "bo" / "report.html").stat().st_mtime_ns
    put_back(tmp_path, [handed_in("ada")[0]], COURSE, EN)
    assert "ada,graded,15,20,20,15,10,,,,,80" in (tmp_path / "grades.csv").read_text(encoding="utf-8")
    assert (tmp_path / "students" / "bo" / "report.html").stat().st_mtime_ns == bo


def test_a_run_with_nobody_in_it_can_be_refreshed(tmp_path):
    run(tmp_path)
    refresh(tmp_path, COURSE, EN)
    assert (tmp_path / "class.html").is_file()


def test_merging_keeps_what_tas_wrote_and_refuses_where_they_contradict_each_other(tmp_path):
    one, two = (run(tmp_path / n, handed_in(n)) for n in ("one", "two"))
    (one / "overrides.csv").write_text("id,question,points,reason\none,q1,1,x\n", encoding="utf-8")
    (two / "comments").mkdir()
    (two / "comments" / "two.md").write_text("Well done", encoding="utf-8")
    lines, _ = merge_runs([one, two], tmp_path / "out", COURSE, EN)
    assert [line.final for line in lines] == [66, 80]
    assert "Well done" in (tmp_path / "out" / "students" / "two" / "report.md").read_text(encoding="utf-8")
    (two / "overrides.csv").write_text("id,question,points,reason\ntwo,q1,1,x\n", encoding="utf-8")
    before = tree(tmp_path / "out")
    with pytest.raises(SheetError, match="not the same"):
        merge_runs([one, two], tmp_path / "out", COURSE, EN)
    assert tree(tmp_path / "out") == before
