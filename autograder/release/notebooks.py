"""The master becomes what students receive: one notebook per language, as .ipynb and .py, without the solution."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode
from otter.assign.solutions import replace_solutions

from autograder.config import load_config
from autograder.contract.questions import questions
from autograder.hidden_tests.otter_files import otter_files

LANGUAGES = ("en", "zh")
MASTER = Path("solutions/paged_attention.py")
STUDENT_FOLDER = Path("assignment")
GIVEN_CELLS = Path("autograder/sandbox/inside/given_cells.json")
HIDDEN_TESTS = Path("autograder/hidden_tests")
README = Path(__file__).with_name("student_readme.md")


def build(master: Path, lang: str) -> dict[str, bytes]:
    """Return the student files of one language by name; the same master gives the same bytes."""
    notebook = _with_stable_ids(jupytext.read(master))
    notebook.cells = [cell for cell in notebook.cells if _language(cell) in (None, lang)]
    for cell in notebook.cells:
        cell.source = _without_solution(cell)
        folded = "folded" in _tags(cell)
        cell.metadata = NotebookNode(tags=["folded"]) if folded else NotebookNode()
    notebook.metadata["lang"] = lang
    name = f"{master.stem}.{lang}"
    text = jupytext.writes(notebook, fmt="py:percent").encode()
    for cell in notebook.cells:
        if _tags(cell):
            cell.metadata = NotebookNode(tags=["folded"], jupyter={"source_hidden": True}, cellView="form")
    return {f"{name}.ipynb": _to_ipynb(notebook), f"{name}.py": text}


def generated(root: Path) -> dict[Path, bytes]:
    """Return every file that the release step makes under ``root``, by its path relative to it."""
    master = root / MASTER
    files = {MASTER.with_suffix(".ipynb"): _to_ipynb(_with_stable_ids(jupytext.read(master)))}
    for lang in LANGUAGES:
        files |= {STUDENT_FOLDER / name: content for name, content in build(master, lang).items()}
    files[GIVEN_CELLS] = _given_cells(root / MASTER)
    hidden_tests = {HIDDEN_TESTS / name: content for name, content in otter_files(questions()).items()}
    readme = README.read_text("utf-8").replace("{repository}", load_config(root).repository)
    return files | {STUDENT_FOLDER / "README.md": readme.encode()} | hidden_tests


def write(root: Path) -> None:
    """Write every generated file under ``root``."""
    for path, content in generated(root).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)


def drift(root: Path) -> list[str]:
    """Return the generated files that differ from what is checked in, or are missing."""
    return [
        path.as_posix()
        for path, content in generated(root).items()
        if not (root / path).is_file() or (root / path).read_bytes() != content
    ]


def _given_cells(master: Path) -> bytes:
    """Return the code cells in which students change nothing, as JSON: the sandbox compiles them once for all."""
    cells = [cell for cell in jupytext.read(master).cells if cell.cell_type == "code"]
    given = [cell.source for cell in cells if _without_solution(cell) == cell.source]
    return (json.dumps(given, ensure_ascii=False, indent=1) + "\n").encode()


def _tags(cell: NotebookNode) -> list[str]:
    return list(cell.metadata.get("tags", []))


def _language(cell: NotebookNode) -> str | None:
    return next((tag.removeprefix("lang-") for tag in _tags(cell) if tag.startswith("lang-")), None)


def _without_solution(cell: NotebookNode) -> str:
    source: str = cell.source
    return "\n".join(replace_solutions(source.split("\n"), "python")) if cell.cell_type == "code" else source


def _with_stable_ids(notebook: NotebookNode) -> NotebookNode:
    """Give each cell an id made of what the student sees in it, so that a changed cell changes one id and no other."""
    seen: Counter[str] = Counter()
    for cell in notebook.cells:
        content = f"{cell.cell_type}:{_language(cell)}:{_without_solution(cell)}"
        seen[content] += 1
        cell.id = hashlib.sha256(f"{content}:{seen[content]}".encode()).hexdigest()[:8]
    return notebook


def _to_ipynb(notebook: NotebookNode) -> bytes:
    copy = nbformat.from_dict(notebook)
    copy.nbformat, copy.nbformat_minor = 4, 5
    copy.metadata["language_info"] = {"name": "python"}
    copy.metadata["jupytext"] = {"formats": "ipynb,py:percent"}
    for cell in copy.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbformat.validate(copy)
    text: str = nbformat.writes(copy)
    return text.encode() + b"\n"
