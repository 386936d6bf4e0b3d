"""What is inside a file: outputs, encodings, strange notebooks, random bytes."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from intake_outcomes import outcome, read_one
from large_files import big_outputs
from odd_files import RIGHT, code_cell, ipynb, markdown, notebook, percent, text, zipped

from autograder.intake.notebook import without_outputs
from autograder.intake.script import markdown_cells, script_cells
from autograder.intake.submission import Rejected, Submission

SUFFIXES = (".ipynb", ".py", ".md", ".zip", ".ipynb.txt", ".pdf", "")


@pytest.fixture(scope="module")
def heavy() -> bytes:
    return big_outputs(50)


def test_fifty_megabytes_of_outputs_are_graded_quickly(heavy: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_bytes(heavy)
    started = time.process_time()
    result = read_one(tmp_path / "a.ipynb")
    assert isinstance(result, Submission)
    assert result.cells == RIGHT
    assert time.process_time() - started < 5


def test_cutting_outputs_changes_no_cell(tmp_path: Path) -> None:
    tricky = 'x = \'"outputs": [\'\ny = "\\\\"\nz = {"outputs": ["]", "}"]}\n'
    cell = code_cell(tricky, outputs=[{"text": ['"outputs": [{\\"', "]"]}, {"outputs": {"a": ["["]}}])

    cut = json.loads(without_outputs(text(notebook() | {"cells": [cell]}).encode()))
    assert "".join(cut["cells"][0]["source"]) == tricky
    assert cut["cells"][0]["outputs"] is None


@pytest.mark.parametrize(
    "middle",
    [b"[]," * 6_000_000, b'"\\"' * 12_000_000, b"[" * 11_000_000, b'"' + b"\\" * 20_000_001],
    ids=["lists", "quotes", "depth", "backslashes"],
)
def test_hostile_outputs_cost_neither_time_nor_memory(middle: bytes, tmp_path: Path) -> None:
    content = b'{"cells": [{"cell_type": "code", "source": "x", "outputs": [' + middle + b"]}]}"
    (tmp_path / "a.ipynb").write_bytes(content)
    program = (
        "import sys, time; from pathlib import Path; from autograder.intake.discover import discover\n"
        "from autograder.intake.read import read\n"
        "[entry] = discover([Path(sys.argv[1])])\nstarted = time.process_time()\nresult = read(entry)\n"
        "peak = next(line for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
        "print(type(result).__name__, int(peak.split()[1]) // 1000, time.process_time() - started)"
    )
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", program, str(tmp_path / "a.ipynb")]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    kind, megabytes, seconds = done.stdout.split()
    assert kind == "Rejected"
    assert int(megabytes) < 500
    assert float(seconds) < 10


def test_a_file_beyond_the_cap_is_told_its_size(tmp_path: Path) -> None:
    with (tmp_path / "a.ipynb").open("wb") as file:
        file.truncate(90_000_000)
    result = read_one(tmp_path / "a.ipynb")
    assert isinstance(result, Rejected)
    assert (result.finding.code, result.finding.details["megabytes"]) == ("intake.too_big", 90)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b" \n", "intake.empty"),
        (b"[]", "intake.not_a_notebook"),
        (b"null", "intake.not_a_notebook"),
        (b'{"a": 1}', "intake.not_a_notebook"),
        (b'{"cells": "x"}', "intake.not_a_notebook"),
        (b'{"cells": [1, null, {"cell_type": "code", "source": [1, null]}]}', "intake.no_code"),
        (b'{"cells": [{"cell_type": "code", "source": {"a": 1}}]}', "intake.no_code"),
        (b'{"worksheets": [1, {"cells": 2}]}', "intake.no_code"),
        (b'{"worksheets": []}', "intake.not_a_notebook"),
        (b'{"cells": [}', "intake.broken_json"),
        (b'{"cells": [{"cell_type": "co', "intake.truncated"),
        (b'{"cells": [{"cell_type": ', "intake.truncated"),
        (b'{"a":' * 100_000, "intake.deep"),
        (b'{"n": ' + b"9" * 1_000_000 + b', "cells": [{"cell_type": "code", "source": "x"}]}', "graded"),
        (b'{"cells": [{"cell_type": "code", "source": "a\tb\nc"}]}', "graded"),
        (b"{" + b"\0" * 50, "intake.not_text"),
        (ipynb(("x = 1\n" * 800_000,)), "intake.too_big"),
    ],
)
def test_a_strange_notebook_is_graded_or_told_what_is_wrong(content: bytes, expected: str, tmp_path: Path) -> None:
    assert outcome(tmp_path, "a.ipynb", content) == expected


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "gbk", "gb18030"]
)
@pytest.mark.parametrize("name", ["a.ipynb", "a.py", "a.md"])
def test_every_usual_encoding_gives_the_same_code(encoding: str, name: str, tmp_path: Path) -> None:
    content = {"a.ipynb": text(notebook()), "a.py": percent(), "a.md": markdown()}[name].encode(encoding)
    (tmp_path / name).write_bytes(content)
    result = read_one(tmp_path / name)
    assert isinstance(result, Submission)
    assert [cell.strip() for cell in result.cells][-3:] == [cell.strip() for cell in RIGHT]
    assert bool(result.remarks) == (not encoding.startswith("utf-8"))


def test_one_damaged_byte_spoils_no_other_line(tmp_path: Path) -> None:
    content = text(notebook()).encode().replace("每".encode(), b"\xe6\xaf", 1)
    (tmp_path / "a.ipynb").write_bytes(content)
    result = read_one(tmp_path / "a.ipynb")
    assert isinstance(result, Submission)
    assert result.cells[1:] == RIGHT[1:]


# Text notebooks


def test_jupytext_and_intake_see_the_same_code_cells(tmp_path: Path) -> None:
    jupytext = pytest.importorskip("jupytext")
    nbformat = pytest.importorskip("nbformat")
    cells = [*RIGHT, 'text = """\n# %% not a marker\n"""', "a = 1\n\n\nb = 2", "# only a comment"]
    book = nbformat.v4.new_notebook()
    for cell in cells:
        book.cells += [nbformat.v4.new_markdown_cell("# %% text\n\nmore"), nbformat.v4.new_code_cell(cell.strip())]
    for format, split in (("py:percent", script_cells), ("md", markdown_cells), ("md:myst", markdown_cells)):
        found = split(jupytext.writes(book, fmt=format))
        assert [cell.strip() for cell in found] == [cell.strip() for cell in cells], format


def test_a_plain_module_is_one_cell_and_an_exported_script_several() -> None:
    assert script_cells("x = 1\n# %time\ny = 2\n") == ["x = 1\n# %time\ny = 2\n"]
    exported = "#!/usr/bin/env python\n# coding: utf-8\n\n# In[1]:\n\nx = 1\n\n# In[ ]:\n\ny = 2\n"
    assert script_cells(exported) == ["x = 1", "y = 2"]


def test_code_before_the_first_marker_is_kept() -> None:
    assert script_cells("import torch\n# %%\nx = 1") == ["import torch", "x = 1"]


def test_many_markers_in_an_open_string_take_linear_time() -> None:
    started = time.process_time()
    script_cells("# %%\n'''\n" + "# %%\n" * 600_000)
    assert time.process_time() - started < 5


# Anything at all


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=2000), suffix=st.sampled_from(SUFFIXES), cut=st.integers(0, 8000))
@example(content=b"PK\x05\x06" + b"\xff" * 18, suffix=".zip", cut=0)
def test_no_bytes_under_any_suffix_raise(content: bytes, suffix: str, cut: int, tmp_path: Path) -> None:
    whole = zipped({"a.ipynb": ipynb()}) if suffix == ".zip" else ipynb()
    for candidate in (content, whole[:cut] + content + whole[cut + len(content) :]):
        outcome(tmp_path, f"a{suffix}", candidate)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["cells", "cell_type", "source", "input", "worksheets", "code"]), inner, max_size=4
            )
        ),
    )
)
def test_no_json_raises(tmp_path: Path, value: object) -> None:

    outcome(tmp_path, "a.ipynb", json.dumps({"cells": value}).encode())
    outcome(tmp_path, "b.ipynb", json.dumps({"cells": [{"cell_type": "code", "source": value}]}).encode())
