"""Otter's test files: held against the table before anything is graded, and loaded once."""

import hashlib
import sys
from functools import cache
from pathlib import Path
from typing import Any

from autograder import contract
from autograder.contract.questions import TableError, questions
from autograder.contract.seed import PUBLIC
from autograder.grading.one.asking import part as asked_in
from autograder.hidden_tests.otter_files import FOLDER, stale

STAND_IN = "fakegpu"
GRAMMARS = "rfc3987_syntax"
"""What Otter's import spends four fifths of its time on where JupyterLab is installed, for a format nobody asks for."""


def check_hidden_tests() -> None:
    """Raise TableError unless every case of the table stands in its file and can be asked for."""
    for name in stale(questions()):
        raise TableError(f"hidden_tests/{name} is not what the table of questions says; run `autograder release`.")
    for part in questions().parts:
        listed = [case.id for question in questions().of(part) for case in questions()[question].cases]
        asked, _ = asked_in("cpu" if part == "cpu" else STAND_IN, PUBLIC)
        if listed != [*asked]:
            odd = next(iter({*listed} ^ {*asked}), "their order")
            raise TableError(f"The table of questions and the scenarios differ ({odd}); mend one of them.")


@cache
def hidden_test_files(part: str) -> tuple[Any, ...]:
    """Return Otter's test files of a part; they are reused from one submission to the next."""
    sys.modules.setdefault(GRAMMARS, None)  # type: ignore[arg-type]  # says that there is no such module
    from otter.nbmeta_config import NBMetadataConfig
    from otter.test_files import create_test_file

    return tuple(create_test_file(str(FOLDER / f"{name}.py"), NBMetadataConfig()) for name in questions().files(part))


@cache
def tests_version() -> str:
    """Return one hash over the hidden tests and the contract: two results compare only when it is the same."""
    folder = Path(contract.__file__).parent
    sources = [*FOLDER.glob("*.py"), *folder.rglob("*.py"), *folder.rglob("*.toml")]
    digest = hashlib.sha256()
    for path in sorted(sources, key=lambda p: (p.name, p.parent.name)):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def otter_results(part: str) -> Any:
    """Return Otter's own results of the last submission."""
    from otter.test_files import GradingResults

    return GradingResults(list(hidden_test_files(part)))
