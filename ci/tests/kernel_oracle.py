"""What a plain IPython kernel makes of sample notebooks: which questions' functions work once it has run every cell.

``python ci/tests/kernel_oracle.py PATH ...`` prints a JSON object. It runs what it is given, without any walls: it is
for files of this repository only.
"""

import contextlib
import io
import json
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import jupytext  # here, once: it takes seconds, and each sample has a process of its own

SECONDS_PER_CELL = 20
Names = dict[str, Any]


def ledger(names: Names) -> bool:
    sizes = names["estimate_kv_cache_bytes"](5, 3, 7, 11, 13, 1)
    return [sizes[f"kv_bytes_per_{part}"] for part in ("token", "block")] == [2002, 6006]


def prefill(names: Names) -> bool:
    manager, request = names["KVCacheManager"](5, 4, 2), names["Request"](0, 5)
    manager.allocate_for_prefill(request)
    return len(request.block_table) == 2


def decode(names: Names) -> bool:
    manager, request = names["KVCacheManager"](5, 4, 2), names["Request"](0, 4)
    request.block_table = [1]
    manager.free_blocks.remove(1)
    for _ in range(5):
        manager.allocate_for_decode(request)
    return (request.seq_len, len(request.block_table)) == (9, 3)


def read(names: Names) -> bool:
    manager, request = names["KVCacheManager"](5, 4, 2), names["Request"](0, 5)
    request.block_table = [1, 3]
    manager.physical_kv_cache[1] = 7
    return manager.get_physical_cache(request).tolist() == [[7, 7]] * 4 + [[0, 0]]


QUESTIONS: tuple[Callable[[Names], bool], ...] = (ledger, prefill, decode, read)


def cells_of(path: Path) -> list[str]:
    """Return the code cells as a kernel gets them; text forms are read by Jupytext."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        return ["".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    if path.suffix == ".py" and "%%" not in text and "jupytext" not in text:
        return [text]
    return [cell.source for cell in jupytext.read(path).cells if cell.cell_type == "code"]


def main_file(path: Path) -> Path:
    return path if path.is_file() else path / f"{path.name}.ipynb"


def run(shell: Any, path: Path) -> str:
    """Run the notebook's cells where its helpers lie and return a digit per question."""
    file = main_file(path).resolve()
    folder = tempfile.mkdtemp()  # cells write files
    for beside in file.parent.rglob("*.py") if path.is_dir() else ():
        copy = Path(folder, beside.relative_to(file.parent))
        copy.parent.mkdir(exist_ok=True)
        copy.write_bytes(beside.read_bytes())
    os.chdir(folder)
    sys.path.insert(0, "")
    sys.stdin = io.StringIO("5\n" * 9)
    with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        for cell in cells_of(file):
            signal.alarm(SECONDS_PER_CELL)
            with contextlib.suppress(BaseException):
                shell.run_cell(cell)
        signal.alarm(0)
        return "".join(str(int(works(question, shell.user_ns))) for question in QUESTIONS)


def works(question: Callable[[Names], bool], names: Names) -> bool:
    try:
        return question(names)
    except Exception:
        return False


def outcomes(paths: Iterable[Path]) -> dict[str, str]:
    """Return what :func:`run` says of each, in a process of its own forked from one shell."""
    import torch
    from IPython.core.interactiveshell import InteractiveShell

    torch.set_num_threads(1)
    os.environ.update(IPYTHONDIR=tempfile.mkdtemp(), PIP_NO_INDEX="1")  # a cell's `!pip install` asks nobody
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    shell = InteractiveShell.instance()
    shell.history_manager.enabled = False
    found = {}
    for path in paths:
        reader, writer = os.pipe()
        if not os.fork():
            with contextlib.suppress(BaseException):
                os.write(writer, run(shell, path).encode())
            os._exit(0)
        os.close(writer)
        with open(reader) as pipe:
            found[path.name] = pipe.read()
        os.wait()
    return found


if __name__ == "__main__":
    print(json.dumps(outcomes(map(Path, sys.argv[1:]))))
