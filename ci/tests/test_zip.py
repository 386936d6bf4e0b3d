"""autograder.zip: the same bytes from the same sources, and refused in one sentence when it must not be used."""

import hashlib
import json
import shutil
import zipfile
from pathlib import Path

import pytest
from commands import ROOT, autograder

from autograder.release import ReleaseError, lock
from autograder.release import zip as autograder_zip

PARTS = ("autograder", "pyproject.toml", "README.md", "LICENSE", "ci/requirements.lock")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A copy of what the zip is made of, and the zip made of it."""
    root = tmp_path_factory.mktemp("checkout")
    for part in PARTS:
        target = root / part
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, target, ignore=shutil.ignore_patterns("__pycache__", "dist"))
        else:
            shutil.copy(ROOT / part, target)
    done = autograder("release", "--zip", cwd=root)
    assert done.stdout == f"{autograder_zip.ZIP}\n", done.stderr
    return root


@pytest.fixture
def checkout(built, tmp_path):
    """The same, for one test to spoil."""
    return Path(shutil.copytree(built, tmp_path / "checkout"))


def rewrite(path: Path, change) -> None:
    """Write the zip again with ``change`` applied to its files."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    change(files)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def refusal(checkout: Path) -> str:
    """Return the one sentence with which the command refuses the zip."""
    done = autograder("release", "--zip", "--check", cwd=checkout)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("autograder: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_the_same_sources_give_the_same_bytes(built):
    assert autograder_zip.build(built) == (built / autograder_zip.ZIP).read_bytes()


def test_a_fresh_zip_passes_its_check(built):
    done = autograder("release", "--zip", "--check", cwd=built)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_missing_zip_is_refused(checkout):
    (checkout / autograder_zip.ZIP).unlink()
    assert "does not exist" in refusal(checkout)


def test_a_zip_of_other_sources_is_refused(checkout):
    with (checkout / "autograder" / "config.py").open("a") as source:
        source.write("# changed\n")
    assert "other sources" in refusal(checkout)


def test_a_zip_that_is_none_is_refused(checkout):
    (checkout / autograder_zip.ZIP).write_bytes(b"PK\x03\x04 and no more")
    assert "damaged" in refusal(checkout)


def test_a_zip_changed_by_hand_is_refused(checkout):
    rewrite(checkout / autograder_zip.ZIP, lambda files: files.update({"tests/q1_ledger.py": b"points = 100"}))
    assert "changed after it was built" in refusal(checkout)


def test_a_wheel_that_does_not_install_is_refused(checkout):
    def spoil(files: dict[str, bytes]) -> None:
        manifest = json.loads(files["manifest.json"])
        files[manifest["wheel"]] = b"no wheel"
        manifest["files"][manifest["wheel"]] = hashlib.sha256(b"no wheel").hexdigest()
        files["manifest.json"] = json.dumps(manifest).encode()

    rewrite(checkout / autograder_zip.ZIP, spoil)
    assert "does not install" in refusal(checkout)


def test_another_otter_than_the_locked_one_is_refused(checkout):
    path = checkout / "ci" / "requirements.lock"
    path.write_text(path.read_text().replace("otter-grader==7.0.0", "otter-grader==6.1.0"))
    with pytest.raises(ReleaseError, match="names 6"):
        autograder_zip.build(checkout)


def test_outside_a_checkout_nothing_is_released(tmp_path):
    done = autograder("release", "--zip", cwd=tmp_path)
    assert done.returncode == 2
    assert "not in a checkout" in done.stderr


def test_the_zip_asks_for_what_grading_needs_and_no_more():
    names = {line.partition("==")[0] for line in lock.needed(ROOT)}
    assert {"torch", "otter-grader", "ipykernel", "nbconvert", "pyseccomp"} <= names
    assert not names & {"pytest", "mypy", "ruff", "nbgrader", "jupyterlab"}


SOURCES = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "ci/requirements.lock",
    "autograder/cli/grading.py",
    "autograder/contract/model.py",
    "autograder/hidden_tests/q1_ledger.py",
    "autograder/sandbox/inside/given_cells.json",
    "autograder/reporting/words/page.zh.toml",
    "autograder/reporting/templates/report.css",
    "autograder/release/otter/setup.sh",
)


@pytest.mark.parametrize("source", SOURCES)
def test_a_change_of_any_source_makes_the_zip_stale(built, source):
    path = built / source
    before, content = autograder_zip.sources_hash(built), path.read_bytes()
    try:
        path.write_bytes(content + b"\n")
        assert autograder_zip.sources_hash(built) != before
    finally:
        path.write_bytes(content)
    assert autograder_zip.sources_hash(built) == before


def test_what_is_built_or_left_by_python_makes_no_zip_stale(built):
    before = autograder_zip.sources_hash(built)
    (built / "autograder" / "__pycache__").mkdir(exist_ok=True)
    (built / "autograder" / "__pycache__" / "x.py").write_text("")
    assert autograder_zip.sources_hash(built) == before
