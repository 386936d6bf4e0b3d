"""What students receive is made from the master, in two languages, without the solution."""

import ast
import re
import shutil
from pathlib import Path

import jupytext
import nbformat
import pytest
from nbformat import NotebookNode

from autograder.contract.questions import questions
from autograder.release import lesson_file, notebooks

ROOT = Path(__file__).parents[2]
MASTER = ROOT / notebooks.MASTER
STUDENT_IPYNB = [ROOT / notebooks.STUDENT_FOLDER / f"paged_attention.{lang}.ipynb" for lang in notebooks.LANGUAGES]
LESSON = ROOT / lesson_file.LESSON
STUDENT_FILES = [LESSON, *(path.with_suffix(suffix) for path in STUDENT_IPYNB for suffix in (".ipynb", ".py"))]


def read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def code(path: Path) -> list[tuple[str, str]]:
    return [(cell.id, cell.source) for cell in read(path).cells if cell.cell_type == "code"]


def texts(lang: str) -> list[str]:
    tag = f"lang-{lang}"
    return [cell.source for cell in jupytext.read(MASTER).cells if tag in cell.metadata.get("tags", [])]


@pytest.fixture
def copied_root(tmp_path: Path) -> Path:
    lesson = [path.relative_to(ROOT) for path in (ROOT / lesson_file.PACKAGE).glob("*.py")]
    for path in (*notebooks.generated(ROOT), notebooks.MASTER, Path("pyproject.toml"), *lesson):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    return tmp_path


def test_checked_in_files_are_what_the_master_gives() -> None:
    assert notebooks.drift(ROOT) == []


def test_building_twice_gives_the_same_bytes() -> None:
    assert notebooks.build(MASTER, "en", notebooks.facts_of(ROOT)) == notebooks.build(
        MASTER, "en", notebooks.facts_of(ROOT)
    )


def test_a_changed_and_a_missing_student_file_are_named(copied_root: Path) -> None:
    (copied_root / "assignment/paged_attention.zh.py").write_text("changed")
    (copied_root / "assignment/paged_attention.en.ipynb").unlink()
    assert notebooks.drift(copied_root) == ["assignment/paged_attention.en.ipynb", "assignment/paged_attention.zh.py"]


def test_changing_one_cell_of_the_master_changes_one_cell_id(copied_root: Path) -> None:
    master = copied_root / notebooks.MASTER
    master.write_text(master.read_text("utf-8").replace('grader.check("q1")', 'grader.check("q1")  # mine'), "utf-8")
    before = {cell.id for cell in read(STUDENT_IPYNB[0]).cells}
    changed = notebooks.write(copied_root)
    assert "assignment/paged_attention.en.ipynb" in changed
    assert "assignment/paged_lesson.py" not in changed
    assert notebooks.write(copied_root) == []
    after = {cell.id for cell in read(copied_root / "assignment/paged_attention.en.ipynb").cells}
    assert len(after - before) == len(before - after) == 1


def test_the_colab_badge_takes_its_address_from_the_settings(copied_root: Path) -> None:
    settings = copied_root / "pyproject.toml"
    settings.write_text(re.sub(r"(?m)^repository = .*\n", "", settings.read_text()), "utf-8")
    settings.write_text(settings.read_text().replace("[tool.autograder]", '[tool.autograder]\nrepository = "a/b"'))
    notebooks.write(copied_root)
    assert "colab.research.google.com/github/a/b/blob" in (copied_root / "assignment/README.md").read_text("utf-8")


def students_read(root: Path, *settings: str) -> str:
    """Return all that students of a course with these settings read, and run."""
    (root / "pyproject.toml").write_text("\n".join(["[tool.autograder]", *settings]), "utf-8")
    made = notebooks.generated(root)
    student = (path for path in made if path.is_relative_to(notebooks.STUDENT_FOLDER))
    return "\n".join(made[path].decode() for path in student if path.name != lesson_file.LESSON.name)


def test_a_course_without_a_gpu_part_reads_nothing_of_one(copied_root: Path) -> None:
    part = re.compile(r"GPU part|on a GPU|GPU 部分|GPU 上测|for a GPU|\bg[1-4]\b|grader\.ready\(|points pending|分待评")
    assert len(part.findall(students_read(copied_root))) > 20
    without = students_read(copied_root, 'gpu = "off"')
    assert part.findall(without) == []
    assert "{gpu}" not in without
    points = (str(questions()[question].points) for question in questions().of("cpu"))
    assert f"| points | {' | '.join(points)} |\n" in without


def test_a_course_s_name_and_due_date_are_read_where_they_are_set(copied_root: Path) -> None:
    said = students_read(copied_root, 'course = "CS 1234"', "[tool.autograder.late]", "due = 2026-11-01T23:59:00-05:00")
    assert said.count("*CS 1234*") == 2
    assert said.count("2026-11-01 23:59 (UTC-0500)") == 2
    unsaid = students_read(copied_root)
    assert [word for word in ("{course}", "{due}", "**Due.**", "**截止。**") if word in unsaid] == []


@pytest.mark.parametrize("path", STUDENT_FILES, ids=lambda path: path.name)
def test_no_line_of_the_solution_stands_in_a_student_file(path: Path) -> None:
    blocks = re.findall(r"# BEGIN SOLUTION.*?\n(.*?)# END SOLUTION", MASTER.read_text("utf-8"), flags=re.S)
    solution = [line.strip() for block in blocks for line in block.splitlines() if line.strip()]
    student = path.read_text("utf-8")
    assert len(blocks) == 7
    assert [line for line in solution if line in student] == []
    assert [marker for marker in ("SOLUTION", "BEGIN PROMPT", "END PROMPT") if marker in student] == []


@pytest.mark.parametrize("path", STUDENT_IPYNB, ids=lambda path: path.name)
def test_a_student_notebook_is_valid_clean_and_has_unique_ids(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    cells = notebook.cells
    assert len({cell.id for cell in cells}) == len(cells)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.metadata.lang == path.stem.rpartition(".")[2]


@pytest.mark.parametrize("path", STUDENT_IPYNB, ids=lambda path: path.name)
def test_both_halves_of_a_pair_hold_the_same_cells(path: Path) -> None:
    text = jupytext.read(path.with_suffix(".py"))
    assert [(c.cell_type, c.source) for c in text.cells] == [(c.cell_type, c.source) for c in read(path).cells]


def test_the_code_of_both_languages_differs_in_words_only() -> None:
    def bare(source: str) -> str:
        return ast.unparse(Wordless().visit(ast.parse(source)))

    english, chinese = map(code, STUDENT_IPYNB)
    assert [bare(source) for _, source in english] == [bare(source) for _, source in chinese]
    assert [source for _, source in english if re.search(r"[\u4e00-\u9fff]", source)] == []


class Wordless(ast.NodeTransformer):
    """Takes the words out of texts: what is left of two languages must be the same."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant("") if isinstance(node.value, str) and not node.value.startswith("q") else node


def test_the_modules_of_the_lesson_share_one_file_without_clashing() -> None:
    defined: dict[str, str] = {}
    for path in sorted((ROOT / lesson_file.PACKAGE).glob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            named = [node] if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else getattr(node, "targets", [])
            for name in filter(None, (getattr(n, "name", "") or getattr(n, "id", "") for n in named)):
                assert defined.setdefault(name, path.name) == path.name, name
    compile(LESSON.read_text("utf-8"), LESSON, "exec")
    assert "autograder" not in LESSON.read_text("utf-8")


def test_the_explained_solution_has_the_answers_and_the_students_files_do_not(copied_root: Path) -> None:
    names = {path.name for path in notebooks.write_solution(copied_root)}
    assert names == {"paged_lesson.py", "paged_attention.en.solution.ipynb", "paged_attention.zh.solution.ipynb"}
    for lang, answer in (("en", "**A model answer.**"), ("zh", "**参考答案。**")):
        solved = read(copied_root / notebooks.SOLUTION_FOLDER / f"paged_attention.{lang}.solution.ipynb")
        source = "\n".join(cell.source for cell in solved.cells)
        assert source.count(answer) == 7
        assert [mark for mark in ("SOLUTION", "PROMPT", "NotImplementedError", "{points") if mark in source] == []
        assert "-> None:\n" in source
        student = (ROOT / f"assignment/paged_attention.{lang}.py").read_text("utf-8")
        assert answer not in student
        assert "{points" not in student


def test_without_a_repository_no_link_leads_nowhere(copied_root: Path) -> None:
    notebooks.write(copied_root)
    assert "OWNER" not in (copied_root / "assignment/README.md").read_text("utf-8")


def test_every_open_todo_stops_in_its_raise_line() -> None:
    source = "\n".join(cell for _, cell in code(STUDENT_IPYNB[0]))
    assert re.findall(r'raise NotImplementedError\("(TODO \d)"\)', source) == ["TODO 1", "TODO 2", "TODO 3", "TODO 4"]


def shape(text: str) -> dict[str, object]:
    """What two languages of one cell must share."""
    lines = text.splitlines()
    return {
        "headings": [len(line) - len(line.lstrip("#")) for line in lines if line.startswith("#")],
        "tables": [line.count("|") for line in lines if line.startswith("|")],
        "lists": [line[:2] for line in lines if re.match(r"\d\. ", line)],
        "hints": len(re.findall("<details>", text)),
        "todos": sorted(re.findall(r"TODO \d", text)),
        "numbers": sorted(re.findall(r"\d[\d,]*\d", text)),
        "names": sorted(set(re.findall(r"`([A-Za-z_]\w*)`", text))),
    }


def test_every_chinese_cell_has_an_english_partner_of_the_same_shape() -> None:
    english, chinese = texts("en"), texts("zh")
    assert len(english) == len(chinese)
    for en, zh in zip(english, chinese, strict=True):
        assert shape(zh) == shape(en), en.splitlines()[0]


def test_a_chinese_cell_is_chinese_and_an_english_one_is_not() -> None:
    assert all(re.search(r"[\u4e00-\u9fff]", text) for text in texts("zh"))
    assert not any(re.search(r"[\u4e00-\u9fff]", text) for text in texts("en"))
