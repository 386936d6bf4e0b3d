"""What is handed out beyond a run's own reports: nothing of who is held back, and no name under a pseudonym."""

from dataclasses import replace

from commands import autograder
from reporting_samples import MIXED
from runs import handed_in, run, tree

from autograder.config import Config
from autograder.grading.many.hand_out import write_anonymous, write_bundles
from autograder.grading.many.rerender import render
from autograder.identity import Identity
from autograder.reporting.words import Words

EN, COURSE = Words("en"), Config()


def test_no_name_is_in_anything_anonymous_but_the_private_table(tmp_path):
    who = Identity("canvas", "4242", "lovelace1", "Lovelace", "lovelace@x.edu")
    sample = replace(MIXED, file="lovelace_4242_900_x.ipynb", who=who)
    run(tmp_path, handed_in("lovelace-4242", sample=sample))
    folder = write_anonymous(tmp_path, COURSE, EN)
    write_bundles(tmp_path, b"", COURSE, EN, nameless=True)
    named = [p for p in folder.rglob("*") if b"lovelace" in (p.read_bytes() if p.is_file() else b"") + p.name.encode()]
    assert named == []
    assert "lovelace-4242" in (tmp_path / "pseudonyms.csv").read_text(encoding="utf-8")


def test_a_result_held_back_leaves_reports_bundles_and_letters_and_comes_back_on_release(tmp_path):
    who = Identity("canvas", "42", name="Ada")
    run(tmp_path, handed_in("ada-42", who=who), handed_in("bo"))
    render(tmp_path, COURSE, EN)
    write_bundles(tmp_path, b"", COURSE, EN)
    write_bundles(tmp_path, b"", COURSE, EN, nameless=True)
    (tmp_path / "mail").mkdir()
    (tmp_path / "mail" / "ada-42.eml").write_bytes(b"letter")
    done = autograder("hold", tmp_path, "42", "--reason", "plagiarism case")
    assert (done.returncode, "ada-42: plagiarism case" in done.stdout) == (0, True)
    left = {name for name in tree(tmp_path) if "ada-42" in name}
    assert left == {"students/ada-42/received/paged_attention.ipynb"}
    assert len([name for name in tree(tmp_path) if name.startswith("anonymous/bundles") and name.endswith("zip")]) == 1
    assert "ada-42" not in (tmp_path / "bundles" / "index.html").read_text(encoding="utf-8")
    assert "ada-42,held,,,,," in (tmp_path / "grades.csv").read_text(encoding="utf-8")
    assert [path.stem for path in write_bundles(tmp_path, b"", COURSE, EN)[0]] == ["bo"]
    assert autograder("hold", tmp_path, "nobody").returncode == 2
    assert autograder("hold", tmp_path, "42", "--release").returncode == 0
    assert (tmp_path / "students" / "ada-42" / "report.html").is_file()
    before = tree(tmp_path)
    assert autograder("hold", tmp_path, "bo", "--release").returncode == 2
    assert tree(tmp_path) == before


def test_what_stood_under_other_pseudonyms_is_taken_away(tmp_path):
    run(tmp_path, handed_in("ada"))
    write_anonymous(tmp_path, COURSE, EN)
    first = {path.name for path in (tmp_path / "anonymous" / "students").iterdir()}
    run(tmp_path, handed_in("bo", b"other"), resume=True)
    write_anonymous(tmp_path, COURSE, EN)
    second = {path.name for path in (tmp_path / "anonymous" / "students").iterdir()}
    assert (len(first), len(second), first & second) == (1, 2, set())
