"""Whatever lies in a folder or an archive, intake stays within its bounds and says what it found."""

import json
import os
import socket
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from odd_files import (
    OLDER,
    OPEN,
    RIGHT,
    big_outputs,
    bomb,
    code_cell,
    crowded,
    ipynb,
    markdown,
    noise,
    notebook,
    percent,
    text,
    zipped,
)

from autograder.intake.discover import discover
from autograder.intake.notebook import without_outputs
from autograder.intake.read import read
from autograder.intake.script import markdown_cells, script_cells
from autograder.intake.submission import Rejected, Submission, UsageError

SUFFIXES = (".ipynb", ".py", ".md", ".zip", ".ipynb.txt", ".pdf", "")


def read_one(path: Path) -> Submission | Rejected:
    [entry] = discover([path])
    return read(entry)


def outcome(folder: Path, name: str, content: bytes) -> str:
    (folder / name).write_bytes(content)
    return code(read_one(folder / name))


def code(result: Submission | Rejected) -> str:
    return result.code if isinstance(result, Rejected) else "graded"


def fill(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


# Paths that cannot be graded at all


def test_a_path_that_does_not_exist_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nothing at"):
        discover([tmp_path / "nowhere"])


@pytest.mark.parametrize("beside", [[], [".hidden"], ["README.md", "Thumbs.db"], ["grades.csv"]])
def test_a_folder_without_submissions_is_a_usage_error(tmp_path: Path, beside: list[str]) -> None:
    fill(tmp_path, dict.fromkeys(beside, b""))
    with pytest.raises(UsageError, match="No submission"):
        discover([tmp_path])


def test_a_fifo_given_as_path_is_a_usage_error_and_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.ipynb")
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        discover([tmp_path / "a.ipynb"])


def test_a_link_to_itself_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").symlink_to(tmp_path / "a.ipynb")
    with pytest.raises(UsageError):
        discover([tmp_path / "a.ipynb"])


@pytest.mark.skipif(os.getuid() != 0, reason="needs to become another user")
def test_what_may_not_be_read_is_a_usage_error_or_that_students_row(tmp_path: Path) -> None:
    fill(tmp_path, {"a.ipynb": ipynb(), "b.ipynb": ipynb()}).chmod(0o755)
    (tmp_path / "a.ipynb").chmod(0)
    for folder in tmp_path.parents:
        if folder.owner() == "root" and folder != Path("/") and str(folder) != "/tmp":
            folder.chmod(0o755)
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        try:
            rows = [code(read(entry)) for entry in discover([tmp_path])]
            discover([tmp_path / "a.ipynb"])
        except UsageError:
            os._exit(0 if rows == ["intake.unreadable", "graded"] else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# What must not be followed, opened or executed


def test_links_that_lead_outside_are_named_and_not_followed(tmp_path: Path) -> None:
    fill(tmp_path, {"secret.ipynb": ipynb(), "class/jane/a.ipynb": ipynb(), "class/li.ipynb": ipynb()})
    (tmp_path / "class/bo.ipynb").symlink_to(tmp_path / "secret.ipynb")
    (tmp_path / "class/ann.ipynb").symlink_to("li.ipynb")
    (tmp_path / "class/thief").mkdir()
    (tmp_path / "class/thief/a.ipynb").symlink_to("../jane/a.ipynb")
    rows = {entry.student: code(read(entry)) for entry in discover([tmp_path / "class"])}
    assert rows == {"ann": "graded", "bo": "intake.link", "jane": "graded", "li": "graded", "thief": "intake.link"}


def test_special_files_are_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.ipynb")
    (tmp_path / "jane").mkdir()
    os.mkfifo(tmp_path / "jane" / "b.ipynb")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "c.ipynb"))
    rows = {entry.student: code(read(entry)) for entry in discover([tmp_path])}
    listener.close()
    assert rows == {"a": "intake.special", "c": "intake.special", "jane": "intake.no_notebook"}


def test_a_fifo_put_in_a_files_place_after_discovery_does_not_hang(tmp_path: Path) -> None:
    fill(tmp_path, {"a.ipynb": ipynb()})
    [entry] = discover([tmp_path])
    (tmp_path / "a.ipynb").unlink()
    os.mkfifo(tmp_path / "a.ipynb")
    assert code(read(entry)) == "intake.special"


def test_a_file_gone_after_discovery_is_that_students_row(tmp_path: Path) -> None:
    fill(tmp_path, {"a.ipynb": ipynb()})
    [entry] = discover([tmp_path])
    (tmp_path / "a.ipynb").unlink()
    assert code(read(entry)) == "intake.unreadable"


def test_nothing_a_student_sends_is_executed_or_imported(tmp_path: Path) -> None:
    bad = f"open({str(tmp_path / 'ran')!r}, 'w')\n"
    files = {f"{name}.py": bad.encode() for name in ("json", "zipfile", "paged_attention", "conftest", "sitecustomize")}
    fill(tmp_path / "jane", {**files, "a.ipynb": ipynb((bad, *RIGHT))})
    program = (
        "import sys; from pathlib import Path; from autograder.intake.discover import discover\n"
        "from autograder.intake.read import read\n"
        "print([type(read(e)).__name__ for e in discover([Path('.')])])"
    )
    root = str(Path(__file__).resolve().parents[2])
    command = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {root!r})\n{program}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "['Submission']\n"
    assert not (tmp_path / "ran").exists()


# Archives


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"a.ipynb": ipynb()}, "graded"),
        ({"a\\b\\c.ipynb": ipynb()}, "graded"),
        ({"./a.ipynb": ipynb()}, "graded"),
        ({"../x.sh": b"", "/etc/passwd": b"", "a.ipynb": ipynb()}, "graded"),
        ({"inner.zip": zipped({"a.ipynb": ipynb()})}, "graded"),
        ({"inner.zip": zipped({"deeper.zip": zipped({"a.zip": b""})})}, "intake.nested"),
        ({"/abs/a.ipynb": ipynb()}, "intake.traversal"),
        ({"C:/a.ipynb": ipynb()}, "intake.traversal"),
        ({"a/../../b.ipynb": ipynb()}, "intake.traversal"),
        ({"notes.txt": b"x"}, "intake.no_notebook"),
        ({"a.ipynb": b""}, "intake.empty"),
        ({"A.ipynb": ipynb(), "a.ipynb": b"{"}, "graded"),
        ({}, "intake.no_notebook"),
    ],
)
def test_an_archive_is_graded_or_told_what_is_wrong(members: dict[str, bytes], expected: str, tmp_path: Path) -> None:
    assert outcome(tmp_path, "jane.zip", zipped(members)) == expected


def test_other_compression_methods_are_refused(tmp_path: Path) -> None:
    assert outcome(tmp_path, "a.zip", zipped({"a.ipynb": ipynb()}, method=zipfile.ZIP_LZMA)) == "intake.zip_method"


def test_a_damaged_archive_is_told(tmp_path: Path) -> None:
    packed = zipped({"a.ipynb": ipynb()})
    assert outcome(tmp_path, "a.zip", packed[: len(packed) // 2]) == "intake.bad_zip"
    assert outcome(tmp_path, "b.zip", packed[:60] + noise(1, 200) + packed[260:]) == "intake.bad_zip"


def test_a_bomb_is_told_by_its_size_and_never_unpacked(tmp_path: Path) -> None:
    packed = bomb(120)
    started = time.process_time()
    assert outcome(tmp_path, "a.zip", packed) == "intake.bomb"
    assert time.process_time() - started < 0.5


def test_a_member_too_big_is_told_its_size(tmp_path: Path) -> None:
    packed = bytearray(zipped({"a.ipynb": noise(2, 1_000_000)}, method=zipfile.ZIP_STORED))
    start = packed.find(b"PK\x01\x02") + 24
    packed[start : start + 4] = (90_000_000).to_bytes(4, "little")
    (tmp_path / "jane.zip").write_bytes(packed)
    result = read_one(tmp_path / "jane.zip")
    assert isinstance(result, Rejected)
    assert (result.code, result.details) == (
        "intake.too_big",
        {"file": "jane.zip/a.ipynb", "megabytes": 90, "limit": 80},
    )


def test_a_name_of_255_bytes_is_graded(tmp_path: Path) -> None:
    fill(tmp_path, {"é" * 124 + ".ipynb": ipynb(), "é" * 124 + "x.ipynb": ipynb()})
    entries = discover([tmp_path])
    assert [code(read(entry)) for entry in entries] == ["graded", "graded"]
    assert len({entry.student for entry in entries}) == 2


def test_a_bomb_that_lies_about_its_size_is_read_no_further_than_it_says(tmp_path: Path) -> None:
    packed = bytearray(bomb(10))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        start = packed.find(signature) + offset
        packed[start : start + 4] = (100).to_bytes(4, "little")
    assert outcome(tmp_path, "a.zip", bytes(packed)) == "intake.bad_zip"


def test_a_bomb_beside_a_notebook_costs_nothing(tmp_path: Path) -> None:
    members = {"data.bin": b"\0" * 90_000_000, "model.ipynb": b"[" * 90_000_000, "a.ipynb": ipynb()}
    assert outcome(tmp_path, "a.zip", zipped(members)) == "graded"


def test_a_notebook_among_twenty_thousand_members_is_graded_quickly(tmp_path: Path) -> None:
    packed = crowded(20_000, {"work/paged_attention.ipynb": ipynb()})
    started = time.process_time()
    assert outcome(tmp_path, "a.zip", packed) == "graded"
    assert time.process_time() - started < 3


def test_an_archive_of_more_members_than_anyone_packs_is_refused(tmp_path: Path) -> None:
    record = b"PK\x01\x02" + b"\0" * 42
    assert outcome(tmp_path, "a.zip", zipped({"a.ipynb": ipynb()}) + record * 60_000) == "intake.too_many"


def test_twenty_thousand_scripts_do_not_hide_the_notebook(tmp_path: Path) -> None:
    packed = crowded(0, {**{f"lib/m{number}.py": b"x = 1\n" for number in range(20_000)}, "a.ipynb": ipynb()})
    assert outcome(tmp_path, "a.zip", packed) == "graded"


# Several notebooks


@pytest.mark.parametrize(
    ("files", "picked"),
    [
        ({"a (1).ipynb": ipynb(), "a.ipynb": ipynb(OLDER)}, "a (1).ipynb"),
        ({"a (2).ipynb": ipynb(OLDER), "a (10).ipynb": ipynb()}, "a (10).ipynb"),
        ({"a 副本.ipynb": ipynb(), "a.ipynb": ipynb(OLDER)}, "a 副本.ipynb"),
        ({"a-copy.ipynb": ipynb(), "a.ipynb": ipynb(OLDER)}, "a-copy.ipynb"),
        ({"a (1).ipynb": ipynb(), "a.ipynb": ipynb()}, "a.ipynb"),
        ({"a.py": percent(OLDER).encode(), "a.ipynb": ipynb()}, "a.ipynb"),
        ({"paged_attention.ipynb": ipynb(), "old.ipynb": ipynb(OLDER)}, "paged_attention.ipynb"),
        ({"paged_attention.ipynb": ipynb(("x = 1",)), "answer.ipynb": ipynb()}, "answer.ipynb"),
        ({"paged_attention.en.ipynb": ipynb(OPEN), "paged_attention.zh.ipynb": ipynb()}, "paged_attention.zh.ipynb"),
        ({"a.ipynb": ipynb()[:900], "a (1).ipynb": ipynb()}, "a (1).ipynb"),
        ({"helpers.py": b"def f(): ...\n", "notes.md": b"# hi\n", "a.ipynb": ipynb()}, "a.ipynb"),
        ({"a.ipynb": ipynb(), "b.ipynb": ipynb(OLDER)}, None),
    ],
)
def test_one_of_several_is_picked_by_content_and_name(files: dict[str, bytes], picked: str, tmp_path: Path) -> None:
    fill(tmp_path / "class" / "jane", files)
    (tmp_path / "jane.zip").write_bytes(zipped(files))
    for path, prefix in ((tmp_path / "class", "jane"), (tmp_path / "jane.zip", "jane.zip")):
        result = read_one(path)
        if picked is None:
            assert code(result) == "intake.several"
        else:
            assert result.file == f"{prefix}/{picked}"


def test_a_choice_between_real_rivals_is_remarked_and_others_are_not(tmp_path: Path) -> None:
    fill(tmp_path / "one", {"jane/a.ipynb": ipynb(OLDER), "jane/a (1).ipynb": ipynb()})
    fill(tmp_path / "two", {"jane/a.ipynb": ipynb(), "jane/helpers.py": b"x = 1\n"})
    first, second = read_one(tmp_path / "one"), read_one(tmp_path / "two")
    assert isinstance(first, Submission)
    assert isinstance(second, Submission)
    assert first.remarks == (("intake.picked", {"file": "jane/a (1).ipynb", "others": "jane/a.ipynb"}),)
    assert second.remarks == ()


# Large and hostile notebooks


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
    assert (result.code, result.details["megabytes"]) == ("intake.too_big", 90)


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
