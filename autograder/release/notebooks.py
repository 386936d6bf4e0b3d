"""The master becomes what students receive: one notebook per language, as .ipynb and .py, without the solution."""

import hashlib
import json
import re
from collections import Counter
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode
from otter.assign.solutions import replace_solutions

from autograder.config import load_config
from autograder.contract.questions import questions
from autograder.hidden_tests.otter_files import otter_files
from autograder.release import ReleaseError, lesson_file
from autograder.release.facts import Facts

LANGUAGES = ("en", "zh")
MASTER = Path("solutions/paged_attention.py")
STUDENT_FOLDER = Path("assignment")
GIVEN_CELLS = Path("autograder/sandbox/inside/given_cells.json")
HIDDEN_TESTS = Path("autograder/hidden_tests")
ASSISTANTS = Path(__file__).with_name("student_assistants.md")
ASSISTANTS_READ = ("AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md")
SOLUTION_FOLDER = Path("solutions/explained")
README = Path(__file__).with_name("student_readme.md")
STUDENT_NOTEBOOKS = [STUDENT_FOLDER / f"{MASTER.stem}.{lang}.ipynb" for lang in LANGUAGES]
_LANGUAGE_LINE = 'LANGUAGE = "en"'
_BOTH = re.compile(r'(?m)("""|"|# )([^"#\n]*) / ([^"#\n]*[\u4e00-\u9fff][^"#\n]*)("|$)')  # English / Chinese

MARKERS = re.compile(r'(?ms)^ *""" # BEGIN PROMPT.*?# END PROMPT\n|^ *# (?:BEGIN|END) SOLUTION[^\n]*\n')


def build(master: Path, lang: str, facts: Facts, solved: bool = False) -> dict[str, bytes]:
    """Return the files of one language by name, for students or ``solved`` with model answers; no chance in it."""
    notebook = _with_stable_ids(jupytext.read(master))
    left_out = "yours" if solved else "answer"
    notebook.cells = [c for c in notebook.cells if _language(c) in (None, lang) and left_out not in _tags(c)]
    notebook.cells = [c for c in notebook.cells if facts.has_gpu or "gpu" not in _tags(c)]
    for cell in notebook.cells:
        cell.source = facts.fill_told(MARKERS.sub("", cell.source) if solved else _without_solution(cell))
        if cell.cell_type == "code":
            cell.source = _in_one_language(cell.source, lang)
        cell.metadata = NotebookNode()
    notebook.metadata["lang"] = lang
    name = f"{master.stem}.{lang}"
    if solved:
        return {f"{name}.solution.ipynb": _to_ipynb(notebook)}
    text = jupytext.writes(notebook, fmt="py:percent").encode()
    return {f"{name}.ipynb": _to_ipynb(notebook), f"{name}.py": text}


def generated(root: Path) -> dict[Path, bytes]:
    """Return every file that the release step makes under ``root``, by its path relative to it."""
    if not (root / MASTER).is_file():
        raise ReleaseError(f"{MASTER} is not here; release from the course's own repository, which has the solutions.")
    master, facts = root / MASTER, facts_of(root)
    files = {MASTER.with_suffix(".ipynb"): _to_ipynb(_with_stable_ids(jupytext.read(master)))}
    for lang in LANGUAGES:
        files |= {STUDENT_FOLDER / name: content for name, content in build(master, lang, facts).items()}
    files[GIVEN_CELLS] = _given_cells(root / MASTER, facts)
    files |= {HIDDEN_TESTS / name: content for name, content in otter_files(facts.questions).items()}
    files |= {STUDENT_FOLDER / name: ASSISTANTS.read_bytes() for name in ASSISTANTS_READ}
    readme = facts.fill_page(README.read_text("utf-8"))
    return files | {STUDENT_FOLDER / "README.md": readme.encode(), lesson_file.LESSON: lesson_file.joined(root)}


def write_solution(root: Path) -> list[Path]:
    """Write the explained solution in every language, with the lesson's file; return the paths relative to ``root``."""
    files = {lesson_file.LESSON.name: lesson_file.joined(root)}
    for lang in LANGUAGES:
        files |= build(root / MASTER, lang, facts_of(root), solved=True)
    (root / SOLUTION_FOLDER).mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (root / SOLUTION_FOLDER / name).write_bytes(content)
    return [SOLUTION_FOLDER / name for name in files]


def facts_of(root: Path) -> Facts:
    """Return what the texts for students say about the course at ``root``."""
    return Facts(load_config(root), questions())


def write(root: Path) -> list[str]:
    """Write the generated files that changed and return their names; raise ReleaseError where it would undo an edit."""
    edited = [path for path in (MASTER.with_suffix(".ipynb"), *STUDENT_NOTEBOOKS) if _was_edited(root / path)]
    if edited:
        raise ReleaseError(
            f"{', '.join(map(str, edited))}: changed by hand, and made from {MASTER}; make the change there, then "
            "delete the notebook and run the same command again."
        )
    changed = _changed(root)
    for path, content in changed.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    return [path.as_posix() for path in changed]


def drift(root: Path) -> list[str]:
    """Return the generated files that differ from what is checked in, or are missing."""
    return [path.as_posix() for path in _changed(root)]


def _changed(root: Path) -> dict[Path, bytes]:
    return {
        path: content
        for path, content in generated(root).items()
        if not (root / path).is_file() or (root / path).read_bytes() != content
    }


def _given_cells(master: Path, facts: Facts) -> bytes:
    """Return the code cells in which students change nothing, as JSON: the sandbox compiles them once for all."""
    cells = [cell for cell in jupytext.read(master).cells if cell.cell_type == "code"]
    given = [
        _in_one_language(facts.fill_told(cell.source), lang) for cell in cells if _given(cell) for lang in LANGUAGES
    ]
    given = list(dict.fromkeys(given))
    return (json.dumps(given, ensure_ascii=False, indent=1) + "\n").encode()


def _tags(cell: NotebookNode) -> list[str]:
    return list(cell.metadata.get("tags", []))


def _language(cell: NotebookNode) -> str | None:
    return next((tag.removeprefix("lang-") for tag in _tags(cell) if tag.startswith("lang-")), None)


def _given(cell: NotebookNode) -> bool:
    return bool(_without_solution(cell) == cell.source)


def _in_one_language(code: str, lang: str) -> str:
    """Return code with its texts and comments in the notebook's language."""
    code = _BOTH.sub(lambda both: both[1] + both[2 + LANGUAGES.index(lang)] + both[4], code)
    return code.replace(_LANGUAGE_LINE, f'LANGUAGE = "{lang}"')


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
    copy.metadata["released"] = _cells_hash(copy)
    nbformat.validate(copy)
    text: str = nbformat.writes(copy)
    return text.encode() + b"\n"


def _cells_hash(notebook: NotebookNode) -> str:
    cells = "\0".join(f"{cell.cell_type}\0{cell.source}" for cell in notebook.cells)
    return hashlib.sha256(cells.encode()).hexdigest()[:16]


def _was_edited(path: Path) -> bool:
    """Tell whether the cells of a released notebook are not those that were released; what git marked is no edit."""
    try:
        notebook = nbformat.read(path, as_version=4)
    except (OSError, ValueError):
        return False
    return notebook.metadata.get("released") not in (None, _cells_hash(notebook))
