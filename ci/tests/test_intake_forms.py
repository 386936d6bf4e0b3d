"""Notebooks kept as text in every usual form, modules handed in beside them, answers given twice."""

from pathlib import Path

import pytest
from intake_outcomes import outcome
from odd_files import RIGHT, ipynb

from autograder.intake.discover import discover
from autograder.intake.read import read
from autograder.intake.script import markdown_cells, script_cells
from autograder.intake.submission import Submission

LIGHT = "# ---\n# jupyter:\n#   jupytext:\n#     text_representation:\n#       format_name: light\n# ---\n\n"


@pytest.mark.parametrize(
    ("body", "cells"),
    [
        ("x = 1\n\ny = 2\n", ["x = 1", "y = 2"]),
        ("def f():\n    a = 1\n\n    return a\n\n\nz = 3\n", ["def f():\n    a = 1\n\n    return a", "z = 3"]),
        ("if x:\n    y\n\nelse:\n    z\n", ["if x:\n    y\n\nelse:\n    z"]),
        ("s = '''\n\nabc\n'''\n\nt = 1\n", ["s = '''\n\nabc\n'''", "t = 1"]),
        ("x = [\n\n1,\n\n]\n\ny = 1\n", ["x = [\n\n1,\n\n]", "y = 1"]),
        ("@deco\n\ndef f(): ...\n", ["@deco\n\ndef f(): ..."]),
        ("# text\n\n# +\na = 1\n\nb = 2\n# -\n\nc = 3\n\nd = 4\n", ["a = 1\n\nb = 2", "c = 3", "d = 4"]),
    ],
)
def test_a_light_script_has_a_cell_per_paragraph_but_where_one_is_marked(body: str, cells: list[str]) -> None:
    assert script_cells(LIGHT + body) == cells


def test_commented_magics_that_give_a_value_count_in_a_script() -> None:
    script = "# %%\n# %time x = f()\n# y = !ls\n# z = %pwd\n# 100 %time\n# %matplotlib inline\n"
    wanted = "%time x = f()\ny = !ls\nz = %pwd\n# 100 %time\n# %matplotlib inline"
    assert script_cells(script) == [wanted]


def test_a_text_cell_that_is_a_string_may_speak_of_markers() -> None:
    as_string = '# %% [markdown]\n"""\n# Title\n\n# %% begins a cell\n"""\n\n# %%\nx = 1\n\n'
    assert script_cells(as_string + '# %% [markdown]\n# it\'s """\n\n# %%\ny = 2') == ["x = 1", "y = 2"]


@pytest.mark.parametrize(
    ("info", "runs"),
    [("python", 1), ("python tags=['a']", 1), ("{python echo=TRUE}", 1), ("{code-cell} ipython3", 1), ("ipython3", 1),
     ("python .noeval", 0), ('python active="py"', 0), ("bash", 0), ("{r}", 0), ("", 0), ("pycon", 0),
     ("{.python}", 1), (" {.python .cell}", 1), ("{ .py #id}", 1), ("{.bash}", 0), ("{#python}", 0)],
)  # fmt: skip
def test_a_fence_is_code_by_its_first_line(info: str, runs: int) -> None:
    assert markdown_cells(f"text\n\n```{info}\nx = 1\n```\n") == ["x = 1"] * runs


def test_tildes_fence_as_backticks_do_and_neither_ends_the_other() -> None:
    assert markdown_cells("~~~ python\nx = 1\n```\ny = 2\n~~~\n\n```py\nz = 3\n~~~\n```\n") == [
        "x = 1\n```\ny = 2",
        "z = 3\n~~~",
    ]


def test_a_fence_of_another_python_is_the_cell_magic_that_it_was() -> None:
    assert markdown_cells("```python3\nx = 1\n```\n") == ["%%python3\nx = 1"]


def test_a_fence_within_a_string_is_part_of_it_unless_the_string_never_ends() -> None:
    inside = 'd = """\n```text\nx\n```\n"""'
    assert markdown_cells(f"```python\n{inside}\n```\n\n```python\ny = 1\n```\n") == [inside, "y = 1"]
    assert markdown_cells("```python\nx = \"'''\"\n```\n\n```python\ny = 1\n```\n") == ["x = \"'''\"", "y = 1"]


@pytest.mark.parametrize("name", ["a.Rmd", "a.qmd"])
def test_r_markdown_and_quarto_are_read(name: str, tmp_path: Path) -> None:
    content = "---\njupyter: python3\n---\n\n" + "\n\n".join(f"```{{python}}\n{cell}\n```" for cell in RIGHT)
    assert outcome(tmp_path, name, content.encode()) == "graded"


def test_a_script_that_was_saved_as_text_is_read(tmp_path: Path) -> None:
    assert outcome(tmp_path, "a.py.txt", "\n\n".join(RIGHT).encode()) == "graded"
    assert outcome(tmp_path, "a.txt", "\n\n".join(RIGHT).encode()) == "intake.unsupported"


def test_a_marimo_notebook_is_refused_with_the_way_out(tmp_path: Path) -> None:
    content = b"import marimo\n\napp = marimo.App()\n\n\n@app.cell\ndef _():\n    x = 1\n    return x\n"
    assert outcome(tmp_path, "a.py", content) == "intake.marimo"


# Helpers and duplicates


def handed_in(folder: Path, files: dict[str, str | bytes]) -> Submission:
    for name, content in files.items():
        path = folder / "li" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    entry = next(entry for entry in discover([folder]) if entry.student == "li")
    result = read(entry)
    assert isinstance(result, Submission)
    return result


def codes(submission: Submission) -> list[str]:
    return [remark.code for remark in submission.remarks]


def test_a_module_that_the_notebook_imports_is_a_helper_even_if_it_holds_the_answer(tmp_path: Path) -> None:
    book = ipynb(("from blocks import *\nimport tools.more, numpy as np", RIGHT[0]))
    modules = {"blocks.py": "from deep import z\n" + RIGHT[2], "deep.py": "z = 1\n", "tools/more.py": "y = 1\n"}
    result = handed_in(tmp_path, {"hw.ipynb": book, **modules})
    assert result.file.endswith("hw.ipynb")
    assert result.helpers == modules
    assert codes(result) == ["intake.helpers"]


def test_a_script_can_have_helpers_and_those_that_import_each_other_are_none(tmp_path: Path) -> None:
    result = handed_in(tmp_path / "1", {"main.py": "import extra\n" + "\n".join(RIGHT), "extra.py": "x = 1\n"})
    assert (result.file.endswith("main.py"), result.helpers) == (True, {"extra.py": "x = 1\n"})
    both = {"a.py": "import b\n" + "\n".join(RIGHT), "b.py": "import a\nx = 1\n"}
    assert handed_in(tmp_path / "2", both).file.endswith("a.py")


def test_other_students_files_are_no_helpers(tmp_path: Path) -> None:
    (tmp_path / "li.ipynb").write_bytes(ipynb(("import wang", *RIGHT)))
    (tmp_path / "wang.py").write_text("\n".join(RIGHT), encoding="utf-8")
    results = [read(entry) for entry in discover([tmp_path])]
    assert [getattr(result, "helpers", None) for result in results] == [{}, {}]


@pytest.mark.parametrize(
    ("below", "told"),
    [
        ("def allocate_for_decode(self, req):\n    pass", True),
        ("    def allocate_for_decode(self, req):\n        pass", True),
        ("#def allocate_for_decode(self, req):\n#    pass", False),
        ("def other(self, req):\n    pass", False),
        ("class KVCacheManager:\n    x = 1\n\n    def allocate_for_decode(self, req):\n        pass", True),
        ("class Sharing(KVCacheManager):\n    x = 1\n\n    def allocate_for_decode(self, req):\n        pass", False),
    ],
)
def test_a_todo_s_function_defined_twice_not_alike_gets_a_remark(below: str, told: bool, tmp_path: Path) -> None:
    result = handed_in(tmp_path, {"hw.ipynb": ipynb((*RIGHT, below))})
    assert codes(result) == ["intake.twice"] * told


def test_the_same_answer_twice_gets_none(tmp_path: Path) -> None:
    again = RIGHT[0].replace("\n    token", "\n\n    # again\n    token")
    assert codes(handed_in(tmp_path, {"hw.ipynb": ipynb((*RIGHT, again))})) == []
