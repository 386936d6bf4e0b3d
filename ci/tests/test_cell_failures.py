"""What fails in a cell costs a statement, or the cell where it is no Python; the notes say what and where."""

import sys

import pytest
from sandbox_samples import PATIENCE, spawn

from autograder.sandbox.inside.newer_python import newer_python
from autograder.sandbox.limits import MOST_NOTES


def noted(*cells: str, helpers: dict[str, str] | None = None) -> list[tuple[str, int, object]]:
    """Return code, cell and the telling detail of every note."""
    with spawn() as child:
        notes = child.load(cells, helpers=helpers, room=PATIENCE)
    telling = ("error", "package", "magic", "python", "code", "count")
    return [
        (n["code"], n["details"]["cell"], next(n["details"][key] for key in telling if key in n["details"]))
        for n in notes
    ]


def test_a_failing_statement_costs_a_statement() -> None:
    assert noted("a = 1\n1/0\nb = 2\nundefined\ndef c(): return 3", "assert (a, b, c()) == (1, 2, 3)") == [
        ("cell.went_on", 1, "ZeroDivisionError"),
        ("cell.went_on", 1, "NameError"),
    ]


@pytest.mark.parametrize(
    "again",
    [
        "def f(): return 2",
        "if True:\n    def f(): return 2",
        "f = lambda: 2",
        "class A:\n    def f(self): return 2",
        "A.f = lambda self: 2",
    ],
)
def test_where_the_rest_would_define_anew_what_is_there_it_is_left_out_as_a_kernel_does(again: str) -> None:
    assert noted(
        "class A:\n    def f(self): return 1\ndef f(): return 1",
        f"1/0\n{again}\nseen = 1",
        "assert f() == A().f() == 1 and 'seen' not in globals()",
    ) == [("cell.failed", 2, "ZeroDivisionError")]


def test_leaving_a_cell_leaves_all_of_it() -> None:
    assert noted("import sys\nsys.exit()\nx = 1", "assert 'x' not in globals()") == [("cell.failed", 1, "SystemExit")]


@pytest.mark.parametrize(
    "clearing", ["for name in [n for n in globals() if n[0] != '_']: del globals()[name]", "globals().clear()"]
)
def test_a_notebook_may_clear_its_names_away(clearing: str) -> None:
    assert noted(clearing, "%time x = 1", "!ls\nassert x == 1") == []


def test_what_goes_on_stays_within_its_cell_when_cells_run_cells() -> None:
    source = "get_ipython().run_cell('x = 1\\n1/0\\ny = 2')\n1/0\nz = 3"
    assert noted(source, "assert (x, y, z) == (1, 2, 3)") == [("cell.went_on", 1, "ZeroDivisionError")] * 2


@pytest.mark.parametrize("cell", ["1/0", "def broken(:", "%%bash\nls", "import absent_{}"])
def test_of_a_thousand_faults_some_are_told(cell: str) -> None:
    notes = noted(*(cell.format(number) for number in range(1000)), "assert True")
    assert len(notes) == MOST_NOTES + 1
    assert notes[-1] == ("cell.more", MOST_NOTES + 1, 1000 - MOST_NOTES)


@pytest.mark.parametrize(
    "cell",
    ["raise ValueError('v' * 10**6)", "%%" + "z" * 1000 + "\nx", "import " + "y" * 1000, "x = '" + "a" * 9999 + "\n("],
    ids=["error", "magic", "package", "syntax"],
)
def test_a_long_text_is_told_in_part(cell: str) -> None:
    assert len(noted(cell)) == 1


# Packages


@pytest.mark.parametrize(
    "statement",
    [
        "import absent",
        "import absent as a, absent.b.c as d",
        "from absent.b import c",
        "from absent import *",
        "import importlib; importlib.import_module('absent')",
        "def f():\n    import absent\nf()",
        "if True:\n    from absent import c",
    ],
)
def test_an_absent_package_is_inert_and_named(statement: str) -> None:
    assert noted(f"{statement}\nx = 1", "assert x == 1") == [("cell.absent", 1, "absent")]


def test_decorators_bases_and_annotations_from_an_absent_package_change_nothing() -> None:
    cell = (
        "from absent import deco, Base, Float, bar\n@deco\ndef f(x: Float['a b'] | None) -> int: return x\n"
        "@deco.jit(nopython=True)\nclass A: y = 1\nclass B(Base): pass\nassert f(3) == 3 and A.y == 1\n"
        "from tqdm.auto import tqdm, trange\nassert sum(tqdm([1, 2], desc='x')) == 3 and len(tqdm([1])) == 1\n"
        "assert list(trange(3)) == [0, 1, 2]"
    )
    assert noted(cell) == [("cell.absent", 1, "absent")]


@pytest.mark.parametrize("caught", ["ImportError", "ModuleNotFoundError", "Exception", "(OSError, ImportError)", ""])
@pytest.mark.parametrize("package", ["absent", "google.colab"])
def test_a_guarded_import_of_what_is_absent_fails_as_it_does_elsewhere(package: str, caught: str) -> None:
    cell = f"try:\n    import {package}\n    there = True\nexcept {caught}:\n    there = False\nassert not there"
    assert noted(cell) == []


@pytest.mark.parametrize(
    "cell",
    [
        "import contextlib\nthere = False\nwith contextlib.suppress(ImportError):\n    import absent\n    there = True",
        "def load(): import absent\ntry:\n    load()\n    there = True\nexcept ImportError:\n    there = False",
        "try:\n    there = bool(__import__('absent'))\nexcept Exception as error:\n    there = error.name != 'absent'",
    ],
)
def test_a_guard_may_be_a_context_or_stand_where_the_import_is_called_from(cell: str) -> None:
    assert noted(f"{cell}\nassert not there") == []


def test_a_context_that_catches_something_else_guards_no_import() -> None:
    cell = "import contextlib\nwith contextlib.suppress(KeyError):\n    import absent\nabsent.f()"
    assert noted(cell) == [("cell.absent", 1, "absent")]


def test_asking_for_an_absent_package_says_no() -> None:
    assert noted("from importlib.util import find_spec\nassert find_spec('absent') is None") == []


def test_a_missing_name_of_a_package_that_is_here_is_an_error() -> None:
    assert noted("import torch.nothing", "from math import nothing") == [
        ("cell.failed", 1, "ModuleNotFoundError"),
        ("cell.failed", 2, "ImportError"),
    ]


# Helpers


def test_helpers_import_one_another_and_may_be_packages() -> None:
    helpers = {"a.py": "from b.c import d\ne = d + 1", "b/c.py": "d = 1", "b/__init__.py": "z = 9"}
    assert noted("import a, b\nfrom b import c", "assert (a.e, b.z, c.d) == (2, 9, 1)", helpers=helpers) == []


def test_a_helper_that_fails_is_an_error_of_its_importer_and_torch_stays_torch() -> None:
    helpers = {"a.py": "1/0", "c.py": "def (:", "torch.py": "raise SystemExit"}
    assert noted("import torch\ntorch.zeros(1)", "import a", "import c", helpers=helpers) == [
        ("cell.failed", 2, "ZeroDivisionError"),
        ("cell.failed", 3, "SyntaxError"),
    ]


def test_a_cell_can_write_a_module_and_run_one() -> None:
    cells = ["%%writefile w.py\nv = 3", "import w\n%run r.py\nassert (w.v, u) == (3, 4)"]
    assert noted(*cells, helpers={"r.py": "u = 4"}) == []


# Magics and syntax


@pytest.mark.parametrize("magic", ["bash", "python3", "script", "scalene", "cython", "html"])
def test_a_magic_that_does_not_run_its_cell_is_named_unless_it_shows_something(magic: str) -> None:
    expected = [] if magic == "html" else [("cell.magic", 1, f"%%{magic}")]
    assert noted(f"%%{magic}\nx = 1", "assert 'x' not in globals()") == expected


def test_magics_may_come_from_an_extension_beside_the_notebook() -> None:
    extension = "def load_ipython_extension(shell):\n    shell.register_magic_function(lambda line: 7, 'line', 'seven')"
    assert noted("%load_ext autoreload\n%load_ext own\nx = %seven\nassert x == 7", helpers={"own.py": extension}) == []


def test_a_magic_of_the_student_s_own_runs() -> None:
    registered = "from IPython.core.magic import register_cell_magic\n@register_cell_magic\ndef mine(line, cell):\n"
    assert noted(registered + "    exec(cell, get_ipython().user_ns)", "%%mine\nx = 1", "assert x == 1") == []


NEWER = {
    'print(f"{d["a"]:.0%}")': "3.12",
    "type Table = list[int]": "3.12",
    "def f[T](x: T) -> T: ...": "3.12",
    "try:\n    pass\nexcept ValueError, KeyError:\n    pass": "3.14",
}


@pytest.mark.parametrize("source", NEWER)
def test_syntax_of_a_newer_python_is_named_as_that(source: str) -> None:
    newer = tuple(map(int, NEWER[source].split("."))) > sys.version_info[:2]
    codes = [(code, told) for code, _, told in noted(source) if code == "cell.newer"]
    assert codes == ([("cell.newer", NEWER[source])] if newer else [])


@pytest.mark.parametrize("source", ["def f(:", "x = f'{a'", "f'{a} it's'", "type(x", "except:"])
def test_what_no_python_reads_is_not_called_new(source: str) -> None:
    assert newer_python(source, 1) == ""
