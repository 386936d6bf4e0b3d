"""The course seed: made once, named by its hash, and never mixed with another, lost in silence, or given to a child."""

import json
import shutil
import stat
from pathlib import Path

import pytest
from classes import CEILING, solution
from commands import ROOT, autograder, complaints

from autograder.contract.families.drawn import drawn_scenarios
from autograder.contract.seed import PUBLIC, Seed, SeedError, new_seed, read_seed
from autograder.grading.one import hidden_test_files
from autograder.grading.one.asking import _request
from autograder.release import notebooks
from autograder.release import zip as autograder_zip

ONE, OTHER = "1" * 64, "2" * 64


def course(folder: Path, seed: str | bytes | None = None) -> Path:
    """Make a course with a submission, and with this in its seed file where it has one."""
    folder.mkdir(exist_ok=True)
    named = "" if seed is None else '\nseed_file = "course-seed.txt"'
    (folder / "pyproject.toml").write_text(f"[tool.autograder]\nlanguage = 'en'{named}\n")
    if seed is not None:
        (folder / "course-seed.txt").write_bytes(seed.encode() if isinstance(seed, str) else seed)
    (folder / "ada.py").write_text(solution((CEILING, "needed_blocks = req.seq_len // self.block_size")))
    return folder


def refusal(done) -> str:
    """Return the one sentence with which a command ended."""
    assert done.returncode == 2, done.stdout + done.stderr
    [line] = complaints(done.stderr)
    assert line.startswith("autograder: ")
    return line


def results(folder: Path) -> dict:
    return json.loads((folder / "out" / "students" / "ada" / "results.json").read_text())


@pytest.fixture(scope="module")
def graded(tmp_path_factory) -> Path:
    """A course with a seed, graded, with bundles."""
    folder = course(tmp_path_factory.mktemp("course"), ONE)
    assert autograder("grade", "ada.py", cwd=folder).returncode == 0
    assert autograder("bundle", "out", cwd=folder).returncode == 0
    return folder


@pytest.fixture
def copy(graded, tmp_path) -> Path:
    return Path(shutil.copytree(graded, tmp_path / "copy"))


def test_a_seed_is_made_once_for_its_owner_alone_and_shown_by_its_hash(tmp_path):
    course(tmp_path)
    done = autograder("seed", "s.txt", cwd=tmp_path)
    text = (tmp_path / "s.txt").read_text().strip()
    assert done.returncode == 0
    assert Seed(text).sha256 in done.stdout
    assert text not in done.stdout
    assert stat.S_IMODE((tmp_path / "s.txt").stat().st_mode) == 0o600
    assert "exists already" in refusal(autograder("seed", "s.txt", cwd=tmp_path))
    assert (tmp_path / "s.txt").read_text().strip() == text


def test_seeds_have_128_bits_at_least_and_differ():
    assert len({new_seed() for _ in range(50)}) == 50
    assert all(len(bytes.fromhex(new_seed())) * 8 >= 128 for _ in range(5))


NO_SEEDS = {"empty": "", "short": "a" * 31, "words": "correct horse battery staple " * 3, "bytes": b"\xff" * 64}


@pytest.mark.parametrize("seed", NO_SEEDS.values(), ids=NO_SEEDS)
def test_what_is_no_seed_ends_the_command_before_anything_is_graded(seed, tmp_path):
    sentence = refusal(autograder("grade", "ada.py", cwd=course(tmp_path, seed)))
    assert "course-seed.txt" in sentence
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("make", [Path.unlink, lambda path: (path.unlink(), path.mkdir())], ids=["missing", "folder"])
def test_a_seed_file_that_is_gone_ends_the_command(make, tmp_path):
    make(course(tmp_path, ONE) / "course-seed.txt")
    assert "cannot be read" in refusal(autograder("grade", "ada.py", cwd=tmp_path))
    assert not (tmp_path / "out").exists()


def test_a_short_seed_is_named_with_both_hashes(tmp_path):
    (tmp_path / "s").write_text("abc")
    with pytest.raises(SeedError, match=Seed("abc").sha256) as refused:
        read_seed(str(tmp_path / "s"))
    assert PUBLIC.sha256 in str(refused.value)


@pytest.mark.parametrize("written", ["ab" * 20, "AB" * 20, "  " + "ab" * 20 + "\r\n"])
def test_a_seed_is_the_same_however_it_is_written_down(written, tmp_path):
    (tmp_path / "s").write_text(written)
    assert read_seed(str(tmp_path / "s")) == Seed("ab" * 20)


def test_results_and_manifest_name_the_seed_by_its_hash_alone(graded):
    assert results(graded)["versions"]["seed"] == Seed(ONE).sha256
    written = [path.read_bytes() for path in (graded / "out").rglob("*") if path.is_file()]
    assert written
    assert not [content for content in written if ONE.encode() in content]


def test_the_same_seed_gives_the_same_bytes_and_another_the_same_points(graded, tmp_path):
    same, other = (course(tmp_path / name, seed) for name, seed in (("same", ONE), ("other", OTHER)))
    for folder in (same, other):
        assert autograder("grade", "ada.py", cwd=folder).returncode == 0
    assert results(same) == results(graded)
    assert results(other)["versions"]["seed"] == Seed(OTHER).sha256
    assert results(other)["points"] == results(graded)["points"]


def test_the_grader_says_once_that_its_cases_are_public(graded, tmp_path):
    (tmp_path / "class").mkdir()
    for name in ("ada.py", "bob.py", "cyd.py"):
        shutil.copy(course(tmp_path) / "ada.py", tmp_path / "class" / name)
    done = autograder("grade", "class", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("drawn cases are public") == 1
    again = autograder("grade", "ada.py", "-o", "again", cwd=graded)
    assert "public" not in again.stderr + again.stdout


@pytest.mark.parametrize("now", [OTHER, None], ids=["another seed", "no seed"])
@pytest.mark.parametrize(
    "command", [("grade", "ada.py", "--resume"), ("bundle", "--verify", "out/bundles/ada.zip", "--regrade")]
)
def test_a_regrade_with_another_seed_or_none_is_refused_with_both_hashes(command, now, copy):
    before = (copy / "out" / "journal.jsonl").read_bytes()
    sentence = refusal(autograder(*command, cwd=course(copy, now)))
    assert Seed(ONE).sha256 in sentence
    assert (Seed(OTHER) if now else PUBLIC).sha256 in sentence
    assert (copy / "out" / "journal.jsonl").read_bytes() == before


def test_a_regrade_with_the_same_seed_is_the_same(copy):
    done = autograder("bundle", "--verify", "out/bundles/ada.zip", "--regrade", cwd=copy)
    assert done.returncode == 0, done.stderr


def test_runs_of_different_seeds_are_not_merged(graded, tmp_path):
    other = course(tmp_path / "other", OTHER)
    assert autograder("grade", "ada.py", cwd=other).returncode == 0
    sentence = refusal(autograder("merge", graded / "out", other / "out", "-o", tmp_path / "merged", cwd=graded))
    assert Seed(ONE).sha256 in sentence
    assert Seed(OTHER).sha256 in sentence
    assert not (tmp_path / "merged").exists()


def test_no_request_to_a_child_holds_the_seed():
    seed = Seed(ONE)
    for question in ("q1", "q2", "q3", "q4", "q5"):
        for by_hand in (False, True):
            wire, other = (_request(s, question, by_hand).wire for s in (seed, Seed(OTHER)))
            assert ONE.encode() not in wire
            drawn = [s for s in drawn_scenarios(seed).values() if s.question == question]
            assert (wire != other) is any(s.by_hand or not by_hand for s in drawn)


def test_the_version_of_the_tests_does_not_depend_on_the_seed(graded):
    assert results(graded)["versions"]["tests"] == hidden_test_files.tests_version()


def test_a_seed_in_the_course_is_in_the_zip_and_in_nothing_that_students_receive(tmp_path):
    for name in ("autograder", "solutions", "assignment", "ci"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name in ("README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    settings = (ROOT / "pyproject.toml").read_text()
    assert "[tool.autograder]" in settings
    with_seed = settings.replace("[tool.autograder]", '[tool.autograder]\nseed_file = "course-seed.txt"')
    (tmp_path / "pyproject.toml").write_text(with_seed)
    (tmp_path / "course-seed.txt").write_text(ONE)
    files = autograder_zip.seed_files(tmp_path)
    assert files == {"course-seed.txt": f"{ONE}\n".encode()}
    assert not [path for path, content in notebooks.generated(tmp_path).items() if ONE.encode() in content]
