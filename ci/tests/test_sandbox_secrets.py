"""A child holds nothing that would help it: neither the hidden tests nor the model nor what compares with them."""

import ast
from pathlib import Path

import pytest
from environments import playable
from sandbox_samples import LEDGER, RIGHT, spawn, trace

from autograder.sandbox.walls.visible_paths import PACKAGE

SECRET_FILES = [*sorted(Path(PACKAGE, "hidden_tests").glob("*.py")), *sorted(Path(PACKAGE, "contract").glob("*.py"))]
KNOWN_TO_CHILDREN = {"__init__.py", "operations.py"}

LOOK_AROUND = """
import gc, os, sys
def estimate_kv_cache_bytes(*args):
    frame, seen = sys._getframe(), []
    while frame:
        seen += [frame.f_code.co_filename, *map(str, frame.f_locals)]
        frame = frame.f_back
    ours = sorted(name for name in sys.modules if name.startswith("autograder"))
    held = [module for module in gc.get_objects() if type(module) is type(sys) and "hidden" in module.__name__]
    return [" ".join(ours), " ".join(os.environ), len(held), [word[:150] for word in seen], len(sys.orig_argv)]
"""


def docstring(path: Path) -> bytes:
    """Return the first line of a module's docstring, which stands in memory wherever the module is loaded."""
    return (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0].encode()


def test_only_the_worker_s_side_of_the_package_is_loaded() -> None:
    modules = trace([LOOK_AROUND], [LEDGER])[0]["returned"]["list"][0]["str"]
    for name in ("hidden_tests", "model", "compare", "scenario", "grading", "client", "intake"):
        assert name not in modules


def test_environment_frames_and_objects_hold_no_secret() -> None:
    _, environment, held, frames, _ = trace([LOOK_AROUND], [LEDGER])[0]["returned"]["list"]
    assert set(environment["str"].split()) <= {
        "PATH", "HOME", "LANG", "PYTHONHASHSEED", "PYTORCH_NVML_BASED_CUDA_CHECK",
        "CUDA_CACHE_DISABLE", "CUDA_MPS_PIPE_DIRECTORY", "GLIBC_TUNABLES", "LD_LIBRARY_PATH", "LC_CTYPE",
        "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
    }  # fmt: skip
    assert held == 0
    assert "hidden_tests" not in str(frames)


@pytest.mark.skipif(not playable(), reason="needs root that may mount and change its user")
def test_no_text_of_the_grader_s_secrets_stands_in_a_child_s_memory() -> None:
    secrets = {path.name: docstring(path) for path in SECRET_FILES if path.name not in KNOWN_TO_CHILDREN}
    assert len(secrets) > 3
    with spawn() as child:
        child.load([RIGHT])
        memory = writable_memory(child._pid)
    assert docstring(Path(PACKAGE, "sandbox", "inside", "worker.py")) in memory  # the search does find what is loaded
    assert [name for name, line in secrets.items() if len(line) > 20 and line in memory] == []


def writable_memory(pid: int) -> bytes:
    """Return what stands in the writable parts of a process's memory."""
    parts = []
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb") as memory:
        for line in maps:
            span, access, *_ = line.split()
            start, end = (int(number, 16) for number in span.split("-"))
            if access.startswith("rw"):
                memory.seek(start)
                parts.append(memory.read(end - start))
    return b"\0".join(parts)
