"""The student notebooks, run for real by a kernel that cannot see this package, and their public checks.

The kernel starts in an empty folder. ``PYTHONPATH`` names a folder whose ``autograder.py`` refuses to be imported; it
goes before anything installed, so a notebook that needed this package would fail here.
"""

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from lesson_student import LESSON, RIGHT, ROOT, WRONG, Define, filled_in, starter
from nbclient import NotebookClient
from nbformat import NotebookNode

from autograder.intake.discover import discover
from autograder.intake.read import read
from autograder.reporting.words import Words


def run(notebook: NotebookNode, saved: NotebookNode, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the notebook in a kernel, ``saved`` lying on disk; return everything it showed, as text."""
    work, shadow = folder / "work", folder / "shadow"
    work.mkdir()
    shadow.mkdir()
    shutil.copy(LESSON, work)
    (shadow / "autograder.py").write_text("raise ModuleNotFoundError('a student does not have this package')")
    monkeypatch.setenv("PYTHONPATH", str(shadow))
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    nbformat.write(saved, work / f"paged_attention.{saved.metadata.lang}.ipynb")
    NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": work}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    return "\n".join(output.get("text") or output["data"]["text/plain"] for output in outputs)


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", ("not attempted", "waiting for TODO 1, TODO 2", "still open")),
        ("zh", ("尚未作答", "要等 TODO 1、TODO 2", "还没有完成")),
    ],
)
def test_an_untouched_notebook_runs_through_and_says_what_is_open(
    lang: str, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = run(starter(lang), starter(lang), tmp_path, monkeypatch)
    assert [word for word in words if word not in shown] == []
    assert re.findall(r"(?m)^○ (q\d)", shown)[-5:] == ["q1", "q2", "q3", "q4", "q5"]
    assert "✗" not in shown
    assert "✓" not in shown


def test_a_solved_notebook_passes_all_public_checks_and_exports_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved = filled_in("en", RIGHT)
    shown = run(filled_in("en", RIGHT), solved, tmp_path, monkeypatch)
    assert re.findall(r"(?m)^✓ (q\d)", shown)[-5:] == ["q1", "q2", "q3", "q4", "q5"]
    assert "131,072 tokens" in shown
    assert "Ready for a GPU." in shown
    assert "5 of 5 public checks pass" in shown
    assert "Submit paged_attention.en.zip" in shown
    with zipfile.ZipFile(tmp_path / "work" / "paged_attention.en.zip") as archive:
        assert ".OTTER_LOG" not in archive.namelist()
        exported = nbformat.reads(archive.read("paged_attention.en.ipynb").decode(), as_version=4)
    assert [cell.source for cell in exported.cells] == [cell.source for cell in solved.cells]


def test_a_solved_notebook_that_was_not_saved_is_noticed_at_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = run(filled_in("zh", RIGHT), starter("zh"), tmp_path, monkeypatch)
    assert re.findall(r"(?m)^✓ (q\d)", shown)[-5:] == ["q1", "q2", "q3", "q4", "q5"]
    assert "可以上 GPU。" in shown
    assert "请保存（Ctrl+S）" in shown
    assert "请提交" not in shown


@pytest.mark.parametrize(
    ("saved", "told"),
    [
        (lambda cells, todo: [*cells, answered_otherwise(todo)], "TODO 2 stands in the notebook twice"),
        (lambda cells, todo: [answered_otherwise(todo), *cells], "Submit"),
        (lambda cells, todo: [cell for cell in cells if cell is not todo], "TODO 2 is not in the saved file"),
        (lambda cells, todo: [answered_otherwise(cell) if cell is todo else cell for cell in cells], "save (Ctrl+S)"),
        (lambda cells, todo: [cell for cell in cells if "class Request" not in cell.source], "The classes of Step 4"),
    ],
)
def test_export_says_what_to_do_where_grading_would_run_something_else(
    define: Define,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    saved: Callable[[list[NotebookNode], NotebookNode], list[NotebookNode]],
    told: str,
) -> None:
    notebook = filled_in("en", RIGHT)
    student = define(notebook)
    todo = next(cell for cell in notebook.cells if "def allocate_for_prefill(self: KVCacheManager" in cell.source)
    notebook.cells = saved(notebook.cells, todo)
    nbformat.write(notebook, tmp_path / "homework.ipynb")
    student.lesson.grader.export()
    said = capsys.readouterr().out
    assert told in said
    assert ("Submit" in said) is (told == "Submit")


def test_export_says_what_to_submit_where_it_cannot_write_the_zip(
    define: Define, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nbformat.write(filled_in("en", RIGHT), tmp_path / "homework.ipynb")
    (tmp_path / "homework.zip").mkdir()
    define(filled_in("en", RIGHT)).lesson.grader.export()
    assert "or submit homework.ipynb itself." in capsys.readouterr().out


def answered_otherwise(cell: NotebookNode) -> NotebookNode:
    return nbformat.v4.new_code_cell(cell.source.replace("-(-req.seq_len //", "1 + (req.seq_len //"))


def test_the_checks_speak_the_notebooks_language_where_no_file_can_be_found(
    define: Define,
) -> None:
    assert "尚未作答" in define(starter("zh")).shown("q2")
    assert "not attempted" not in define(starter("zh")).shown("q2")


def test_without_a_file_export_says_what_to_hand_in(define: Define, capsys: pytest.CaptureFixture[str]) -> None:
    define(starter("en")).lesson.grader.export()
    assert "Download" in capsys.readouterr().out


def test_export_names_a_check_that_fails_and_a_read_that_is_not_ready(
    define: Define, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = RIGHT | {"# needed_blocks = ???": WRONG["# needed_blocks = ???"],
                       "# blocks = ???": "blocks = self.physical_kv_cache[req.block_table].cpu()"}  # fmt: skip
    define(filled_in("en", answers)).lesson.grader.export()
    said = capsys.readouterr().out
    assert "3 of 5 public checks pass" in said
    assert "TODO 2 fails its public check" in said
    assert "GPU fails" in said


def test_plain_otter_agrees_with_the_pictures(define: Define) -> None:
    import otter

    for answers, passes in ((RIGHT, True), (WRONG, False)):
        lesson = define(filled_in("en", answers)).lesson
        plain = otter.Notebook.check(
            otter.Notebook(tests_dir=lesson.grader._tests_dir), "q2", {"public_check": lesson.public_check}
        )
        assert plain.passed_all is passes


def test_the_script_form_shows_what_the_notebook_shows(tmp_path: Path) -> None:
    shutil.copy(LESSON, tmp_path)
    shutil.copy(ROOT / "assignment/paged_attention.en.py", tmp_path)
    done = subprocess.run(
        [sys.executable, "paged_attention.en.py"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "○ q2: not attempted" in done.stdout
    assert "Submit paged_attention.en.py itself." in done.stdout


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_an_untouched_notebook_and_a_solved_one_get_no_remark_from_intake(lang: str, tmp_path: Path) -> None:
    for name, notebook in (("starter", starter(lang)), ("solved", filled_in(lang, RIGHT))):
        nbformat.write(notebook, tmp_path / f"{name}.ipynb")
    read_back = [read(entry) for entry in discover([tmp_path])]
    assert [getattr(submission, "remarks", None) for submission in read_back] == [(), ()]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_report_and_notebook_call_the_todos_the_same(lang: str) -> None:
    headings = re.findall(r"(?m)^### (TODO \d.*)$", "\n".join(cell.source for cell in starter(lang).cells))
    assert headings == [Words(lang).text(f"q{number}.title") for number in range(1, 5)]


def test_headings_numbers_and_todos_agree_in_both_languages() -> None:
    def outline(lang: str) -> list[tuple[str, list[str], set[str]]]:
        return [
            (
                cell.cell_type,
                re.findall(r"(?m)^#+ ", cell.source),
                set(re.findall(r"\d[\d,.]*\d|TODO \d", cell.source)) if cell.cell_type == "markdown" else set(),
            )
            for cell in starter(lang).cells
        ]

    assert outline("en") == outline("zh")
