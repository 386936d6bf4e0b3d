"""Otter's plugin: what a student sent never reaches Otter's kernel, which runs one trusted cell in its place."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from otter.check.notebook import OTTER_LOG_FILENAME
from otter.plugins import AbstractOtterPlugin
from otter.test_files import GradingResults

from autograder.config import Config
from autograder.errors import GraderError
from autograder.grading.one.grade_one import not_gradable
from autograder.grading.one.hidden_test_files import tests_version
from autograder.reporting.words import Words

KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
MANIFEST = "manifest.json"
SEED = "course-seed.txt"
"""In the zip, where the course has a seed of its own."""
RECEIVED = "received"


def run_autograder(root: Path) -> None:
    """Grade ``root/submission``, laid out as on Gradescope; Otter finds a trusted notebook there, whatever was sent."""
    from otter.run.run_autograder import main

    submission = root / "submission"
    shutil.rmtree(root / RECEIVED, ignore_errors=True)  # left behind by a run that was interrupted
    set_aside(submission)
    (submission / "submission.ipynb").write_text(nbformat.writes(_trusted_notebook()), encoding="utf-8")
    main(str(root))


def set_aside(submission: Path) -> Path:
    """Move what the student sent into a private folder beside ``submission``, once, and return that folder."""
    received = submission.with_name(RECEIVED)
    if received.exists():
        return received
    received.mkdir(mode=0o700)
    submission.chmod(0o700)
    for item in submission.iterdir():
        if item.name == OTTER_LOG_FILENAME and not item.is_dir():
            item.unlink()  # a pickle of the student's
        else:
            item.rename(received / item.name)
    return received


class ConfinedSubmission(AbstractOtterPlugin):  # type: ignore[misc]
    """Has a submission judged behind the sandbox; ``plugin_config`` holds the fields of :class:`Config`."""

    def before_grading(self, config: Any) -> None:
        """Clear the kernel's folder of everything the student sent."""
        stand_in = Path(self.submission_path)
        folder = stand_in.parent
        _refuse_other_sources(folder.with_name("source") / MANIFEST)
        self._seed_file = folder.with_name("source") / SEED
        tests = (folder / "tests").rename(folder.with_name("tests"))
        self._received = set_aside(folder)
        tests.rename(folder / "tests")
        stand_in.write_text(nbformat.writes(_trusted_notebook()), encoding="utf-8")

    def before_execution(self, submission: NotebookNode) -> NotebookNode:
        """Return the notebook that Otter's kernel runs: one cell, which defines ``submission``."""
        settings = dict(self.plugin_config)
        if self._seed_file.exists():
            settings["seed_file"] = str(self._seed_file)
        self._cell = (
            "from autograder.grading.otter.otter_cell import judge\n"
            f"submission = judge({str(self._received)!r}, {settings!r})"
        )
        return _trusted_notebook(self._cell)

    def after_grading(self, results: GradingResults) -> None:
        """Add the text for the student; where the cell did not run to its end, void the results and say why."""
        shutil.rmtree(self._received, ignore_errors=True)
        outputs: list[NotebookNode] = next(
            (cell.outputs for cell in results.notebook.cells if cell.source == self._cell), []
        )
        text = _text(outputs)
        if text is None:
            words = Words(Config(**self.plugin_config).language)
            text = words.text("gradescope.void.text", why=_why(outputs) or words.text("gradescope.unfinished.text"))
            results.results = not_gradable(text).results
        results.set_output(text)


def _trusted_notebook(*cells: str) -> NotebookNode:
    code = [nbformat.v4.new_code_cell(cell) for cell in cells]
    return nbformat.v4.new_notebook(cells=code, metadata={"kernelspec": KERNEL})


def _refuse_other_sources(manifest: Path) -> None:
    """Exit where the zip's hidden tests are not those of the installed package."""
    if manifest.exists() and json.loads(manifest.read_text())["tests"] != tests_version():
        print(
            "autograder: this autograder.zip was built from other sources than the installed package; "
            "build it again with `autograder release --zip`, or install the wheel inside it.",
            file=sys.stderr,
        )
        raise SystemExit(GraderError.exit_code)


def _text(outputs: list[NotebookNode]) -> str | None:
    if any(output.output_type == "error" for output in outputs):
        return None
    printed = "".join(output.text for output in outputs if output.get("name") == "stdout").splitlines()
    try:
        return str(json.loads(printed[-1])["text"])
    except (IndexError, ValueError, KeyError, TypeError):
        return None


def _why(outputs: list[NotebookNode]) -> str:
    errors = [f"{output.ename}: {output.evalue}" for output in outputs if output.output_type == "error"]
    return errors[-1] if errors else ""
