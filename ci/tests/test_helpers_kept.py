"""Modules handed in beside a notebook are part of what was graded: kept, proven, and there when it is graded again."""

import json
import shutil
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from classes import solution
from commands import autograder
from odd_files import ipynb
from reporting_samples import FULL, GPU, MIXED
from test_reporting_bundle import rewritten

from autograder.classroom.compare import compare, never_lower
from autograder.grading.many.journal import recorded
from autograder.outside.helpers_file import helpers_file, helpers_sha256, read_helpers
from autograder.reporting.merge import MergeError, merge
from autograder.reporting.received_bundle import verify
from autograder.reporting.schema import from_row, row
from autograder.reporting.standing import Standing

HELPERS = {"answers.py": "from parts.more import *\n", "parts/more.py": solution()}
KEPT = Path("students/ada/received/helpers.json")


def hand_in(folder: Path, helpers: dict[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hw.ipynb").write_bytes(ipynb(("from answers import *",)))
    for name, text in helpers.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder.parent


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class of one whose answers all lie in modules beside the notebook, graded and bundled."""
    place = tmp_path_factory.mktemp("helpers")
    autograder("grade", hand_in(place / "class" / "ada", HELPERS), cwd=place)
    done = autograder("bundle", "out", cwd=place)
    assert done.returncode == 0, done.stderr
    return place


@pytest.fixture
def copy(graded: Path, tmp_path: Path) -> Path:
    return shutil.copytree(graded, tmp_path / "copy")


def test_a_right_submission_with_helpers_is_graded_again_to_the_same(graded: Path) -> None:
    result = recorded(graded / "out").results["ada"]
    assert result.points == result.max_points == 80
    kept = (graded / "out" / KEPT).read_bytes()
    assert read_helpers(kept) == HELPERS
    told = json.loads((graded / "out/students/ada/results.json").read_bytes())
    assert told["submission"]["helpers"] == sha256(kept).hexdigest()
    done = autograder("bundle", "--verify", "out/bundles/ada.zip", "--regrade", cwd=graded)
    assert done.returncode == 0, done.stdout + done.stderr


def codes(path: Path) -> list[tuple[str, object]]:
    return [(problem.code, problem.details.get("file")) for problem in verify(path)]


@pytest.mark.parametrize("content", [b"{}", b'{"answers.py": "x = 1"}', b'{"answers.py": 1}', b"[" * 10**5, None])
def test_a_bundle_with_other_helpers_is_named_even_where_its_manifest_agrees(copy: Path, content: bytes | None) -> None:
    path = copy / "out/bundles/ada.zip"

    def change(members: dict[str, bytes]) -> None:
        manifest = json.loads(members["MANIFEST.json"])
        members.pop("helpers.json")
        manifest["files"].pop("helpers.json")
        if content is not None:
            members["helpers.json"] = content
            manifest["files"]["helpers.json"] = sha256(content).hexdigest()
        members["MANIFEST.json"] = json.dumps(manifest).encode()

    path.write_bytes(rewritten(path.read_bytes(), change))
    assert codes(path) == [("bundle.other_file", "helpers.json")]


def test_helpers_changed_beside_the_grade_give_no_bundle(copy: Path) -> None:
    (copy / "out" / KEPT).write_text('{"answers.py": "x = 1"}', encoding="utf-8")
    done = autograder("bundle", "out", cwd=copy)
    assert done.returncode
    assert "ada" in done.stderr
    assert not (copy / "out/bundles/ada.zip").exists()


def test_other_helpers_are_another_attempt(copy: Path) -> None:
    fewer = {**HELPERS, "answers.py": "from parts.more import Request\n"}
    hand_in(copy / "class" / "ada", fewer)
    autograder("grade", "class", "--resume", cwd=copy)
    assert recorded(copy / "out").results["ada"].points == 0
    assert read_helpers((copy / "out" / KEPT).read_bytes()) == fewer
    shutil.rmtree(copy / "class" / "ada" / "parts")
    (copy / "class/ada/answers.py").unlink()
    autograder("grade", "class", "--resume", cwd=copy)
    assert [p.name for p in (copy / "out" / KEPT).parent.iterdir()] == ["hw.ipynb"]


def test_results_with_other_helpers_are_not_taken_for_one_submission() -> None:
    ours = replace(FULL, helpers="a" * 64)
    with pytest.raises(MergeError):
        merge(ours, GPU)
    assert merge(ours, replace(GPU, helpers="a" * 64)).helpers == "a" * 64
    for helpers, kept in (("a" * 64, 1), ("b" * 64, 0)):
        old = {"ada": (ours, Standing(ours.points, ours.points))}
        new = {"ada": (replace(MIXED, helpers=helpers), Standing(MIXED.points, MIXED.points))}
        assert len(never_lower(old, new, compare(old, new)[0])) == kept


def test_an_older_row_is_read_and_a_row_keeps_its_helpers() -> None:
    older = row(FULL)
    del older["helpers"]
    assert from_row(older) == FULL
    assert from_row(row(replace(FULL, helpers="a" * 64))).helpers == "a" * 64


def test_the_file_is_the_same_whatever_the_order_and_holds_any_text() -> None:
    texts = {"b.py": "x = '\ud800'\n", "a/é.py": "长\n"}
    assert helpers_file(texts) == helpers_file(dict(reversed(texts.items())))
    assert read_helpers(helpers_file(texts)) == texts
    assert (helpers_file({}), helpers_sha256({})) == (b"", "")
