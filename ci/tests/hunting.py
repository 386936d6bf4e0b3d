"""What a hunt throws at every place where a stranger's bytes come in, and what must hold whatever they are.

Each target draws an input by Hypothesis from true ones with a few things changed, and returns how it ended; any
exception that is not part of the place's contract comes out, and so does work that takes too long.
"""

import contextlib
import copy
import json
import resource
import tempfile
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

from hunting_seeds import ARCHIVES, CASES, NOTEBOOKS, RESULTS, ROWS, SCRIPTS
from hypothesis import strategies as st
from lying_replies import LIMIT
from odd_files import ipynb, zipped

from autograder.contract.compare import first_deviation
from autograder.grading.many.journal import NAME, rows
from autograder.intake.discover import discover
from autograder.intake.names import unique
from autograder.intake.notebook import notebook_cells
from autograder.intake.read import read
from autograder.intake.submission import Refusal, Rejected, Submission, UsageError
from autograder.outside import zips
from autograder.outside.names import file_name
from autograder.reporting.gradebook import grades_csv, student_files
from autograder.reporting.received_bundle import results_of, submission_of, verify
from autograder.reporting.schema import from_row
from autograder.reporting.words import Words
from autograder.sandbox.protocol import HEADER, MAGIC, Decoder, ProtocolError
from autograder.sandbox.trusted.validate_reply import notes_of, traces_of

SLOW_S = 5.0
ODD: tuple[Any, ...] = (
    None, True, 0, -1, 3, 1 << 64, 10**400, 0.5, float("nan"), "", "x" * 500, "\x1b[2J", "../x", "=1", "\ud800",
    [], {}, [[]],
    {"list": [0]}, {"float": "inf"}, {"dict": {"a": 1}}, {"tensor": {"blob": 0}}, {"other": "x"}, [None], {"code": "x"},
)  # fmt: skip
TOKENS = (
    b"", b"\0", b"\xff", b'"', b"\\", b"{", b"[", b"]", b"}", b",", b":", b"9" * 5000, b"[" * 5000, b"PK\x01\x02",
    b"PK\x05\x06",
    b"\xff\xff\xff\xff", b"NaN", b"1e999", b"\n", b"# %%\n", b"'''", b"../", b"\\ud800", b"<<<<<<< ", b'"outputs":[',
)  # fmt: skip
NOTE = {"code": "cell.failed", "details": {"cell": 1, "error": "NameError", "text": "x", "line": "y"}}
WORDS = Words("en")


@st.composite
def changed_bytes(draw: st.DrawFn, seeds: tuple[bytes, ...]) -> bytes:
    """Draw one of the seeds with up to six pieces cut out, doubled, moved or replaced."""
    content = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(0, 6))):
        start, end = sorted(draw(st.tuples(*[st.integers(0, len(content))] * 2)))
        piece = draw(st.sampled_from((*TOKENS, content[start:end], content[start:end] * 2)) | st.binary(max_size=9))
        content = content[:start] + piece + content[draw(st.sampled_from((start, min(start + 4, end), end))) :]
    return content[: 1 << 20]


@st.composite
def changed_json(draw: st.DrawFn, seeds: tuple[Any, ...]) -> Any:
    """Draw one of the seeds with up to three of its values replaced, taken away, or put elsewhere."""
    whole = json.loads(json.dumps(draw(st.sampled_from(seeds))))
    for _ in range(draw(st.integers(0, 3))):
        place, key = draw(st.sampled_from([(None, None), *_places(whole)]))
        value = copy.deepcopy(draw(st.sampled_from(ODD)))
        if place is None:
            whole = value if draw(st.integers(0, 19)) == 0 else whole
        elif draw(st.booleans()):
            place[key] = value
        elif isinstance(place, dict):
            place[draw(st.sampled_from([*place, "", "../x"]))] = place.pop(key)
        else:
            place.insert(key, place[key])
    return whole


def _places(value: Any) -> list[tuple[Any, Any]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, item in inner for place in [(value, key), *_places(item)]]


def _file(name: str, content: bytes) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(content)
        try:
            entries = discover([path])
        except UsageError:
            return "no path to grade"
        results = [read(entry) for entry in entries]
    assert all(isinstance(result, Submission | Rejected) for result in results)
    assert all(file_name(result.student, "student") == result.student for result in results)
    return "read" if all(isinstance(result, Submission) for result in results) else "refused"


def notebook(data: st.DataObject) -> str:
    """A notebook, its bytes or its JSON changed."""
    if data.draw(st.booleans()):
        return _file("a.ipynb", data.draw(changed_bytes(NOTEBOOKS)))
    whole = data.draw(changed_json((json.loads(ipynb()),)))
    return _file("a.ipynb", json.dumps(whole).encode())


def script(data: st.DataObject) -> str:
    """A script or Markdown, its bytes changed."""
    return _file(data.draw(st.sampled_from(("a.py", "a.md"))), data.draw(changed_bytes(SCRIPTS)))


def archive(data: st.DataObject) -> str:
    """A zip, in a folder or as the class, its bytes changed."""
    return _file(data.draw(st.sampled_from(("a.zip", "class.zip"))), data.draw(changed_bytes(ARCHIVES)))


def names(data: st.DataObject) -> str:
    """Names of files as downloads have them."""
    parts = st.sampled_from(
        ("_", "1", "12345", "_attempt_", "2024-01-02-03-04-05", "LATE", "é", "İ", ".", "..", "CON", " (1)", "/")
    )
    found = data.draw(st.lists(st.lists(parts | st.text(max_size=4), max_size=12).map("".join), min_size=1, max_size=6))
    made = unique([(name, str(number)) for number, name in enumerate(found)])
    assert len({name.casefold() for name in made}) == len(made) == len(found)
    assert all(file_name(name, "student") == name for name in made)
    return "named"


def reply(data: st.DataObject) -> str:
    """A child's answer, its bytes or its JSON changed, compared with what is right."""
    scenario = data.draw(st.sampled_from(CASES))
    state = {"managers": {"m": {"num_blocks": 4, "block_size": 2, "free": {"list": [1]}, "pool": None}}, "requests": {}}
    seen = [{"returned": None, "state": state if step == 0 else None} for step in range(len(scenario.operations))]
    answer = data.draw(changed_json(({"traces": [seen]}, {"loaded": [NOTE]}, {"cell": 1})))
    text = json.dumps(answer).encode()
    frame = HEADER.pack(MAGIC, len(text), 0) + text
    if data.draw(st.booleans()):
        frame = data.draw(changed_bytes((frame,)))
    try:
        for message in Decoder(LIMIT).feed(frame):
            decoded = message.read()
            if "loaded" in decoded.data:
                notes_of(decoded.data["loaded"], 3)
            else:
                [trace] = traces_of(decoded, [len(scenario.operations)])
                first_deviation(scenario.question, scenario.operations, trace, scenario.focus)
    except ProtocolError:
        return "refused"
    return "compared"


def journal(data: st.DataObject) -> str:
    """A line of a journal, from which everything is rendered again."""
    line = json.dumps(data.draw(changed_json(ROWS))).encode()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, NAME).write_bytes(data.draw(changed_bytes((line,))) if data.draw(st.booleans()) else line)
        results = [from_row(row) for row in rows(Path(folder))]
    for result in results:
        assert "/" not in result.student
        student_files(result, WORDS, "hint")
    grades_csv(results)
    return "rendered" if results else "passed over"


def bundle(data: st.DataObject) -> str:
    """A bundle, its parts or its bytes changed."""
    results = json.dumps(data.draw(changed_json((RESULTS,)))).encode()
    name = data.draw(st.sampled_from(("a.py", "../x", "/etc/x", "a/b", "a\\b", "", ".", "CON", "x" * 300, "é.py")))
    parts = {"results.json": results, f"submission/{name}": b"x = 1"}
    files = {part: sha256(content).hexdigest() for part, content in parts.items()}
    manifest = data.draw(changed_json(({"schema": "autograder-bundle/1", "student": "m", "files": files},)))
    content = zipped({"MANIFEST.json": json.dumps(manifest).encode(), **parts})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "b.zip")
        path.write_bytes(data.draw(changed_bytes((content,))) if data.draw(st.booleans()) else content)
        if verify(path):
            return "refused"
        given, _ = submission_of(path)
        results_of(path)
    assert file_name(given) == given
    return "verified"


def raw(content: bytes) -> None:
    """Give bytes to whatever reads bytes; what is not refused in one of the ways that there are comes out."""
    with contextlib.suppress(Refusal):
        notebook_cells(content)
    with contextlib.suppress(zips.BadZip, zips.TooMany):
        for member in zips.members(content):
            with contextlib.suppress(zips.BadZip, zips.TooBig):
                member.read()
    with contextlib.suppress(ProtocolError):
        for message in Decoder(LIMIT).feed(content):
            frame = message.read()
            if "loaded" in frame.data:
                notes_of(frame.data["loaded"], 3)
            else:
                traces_of(frame, [2])


TARGETS: dict[str, Callable[[st.DataObject], str]] = {
    target.__name__: target for target in (notebook, script, archive, names, reply, journal, bundle)
}


def watched(target: Callable[[st.DataObject], str], data: st.DataObject) -> str:
    """Return how the target ended; AssertionError where it took longer than anything of this size may."""
    started = time.process_time()
    end = target(data)
    assert time.process_time() - started < SLOW_S, "slow"
    return end


def peak_mib() -> int:
    """Return the most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
