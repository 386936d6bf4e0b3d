"""One student's place on disk becomes a submission, or the reason why it cannot be graded."""

import errno
import hashlib
from dataclasses import replace
from functools import partial

from autograder.findings import Finding
from autograder.intake.archive import members, refuse_too_many
from autograder.intake.choose import Draft, choose, expected_name
from autograder.intake.defined_twice import defined_twice
from autograder.intake.discover import Entry
from autograder.intake.disk import read_file, walk
from autograder.intake.helpers import helper_texts, without_helpers
from autograder.intake.notebook import notebook_cells
from autograder.intake.script import markdown_cells, script_cells
from autograder.intake.source import MEGABYTE, Source, kind, printable
from autograder.intake.submission import Refusal, Rejected, Submission
from autograder.intake.text import decode, without_surrogates

MAX_CODE = 4 * MEGABYTE
MAX_CANDIDATES = 50
MAX_TOTAL = 200 * MEGABYTE
MAX_NESTING = 2


def read(entry: Entry) -> Submission | Rejected:
    """Return what the student handed in, reduced to its code cells; never raises for anything a student can send.

    MemoryError is raised when this process has no memory left, which is nobody's submission's fault.
    """
    file, sha256 = entry.file, ""
    helpers: dict[str, str] = {}
    try:
        candidates = _candidates(_sources(entry), MAX_NESTING)
        if len(candidates) == 1:
            file = candidates[0].name
            content = candidates[0].load()
            sha256 = hashlib.sha256(content).hexdigest()
            draft = _draft(file, content)
            remarks: tuple[Finding, ...] = ()
        else:
            drafts, helped = without_helpers(_readable(candidates))
            draft, picked = choose(drafts)
            remarks = helped + picked
            sha256 = hashlib.sha256(draft.content).hexdigest()
            helpers = helper_texts(draft.name, candidates)
    except Refusal as refusal:
        if _lacks_memory(refusal.__cause__):
            raise MemoryError from refusal
        details = {"file": printable(file), **refusal.finding.details}
        return Rejected(entry.student, printable(file), sha256, Finding(refusal.finding.code, details))
    except OSError as error:
        if _lacks_memory(error):
            raise MemoryError from error
        return Rejected(entry.student, printable(file), sha256, Finding("intake.unreadable", {"file": printable(file)}))
    remarks = draft.remarks + remarks + defined_twice(draft.cells)
    return Submission(entry.student, printable(draft.name), sha256, draft.cells, draft.content, remarks, helpers)


def _lacks_memory(error: BaseException | None) -> bool:
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)


def _sources(entry: Entry) -> list[Source]:
    if entry.refusal:
        raise Refusal(entry.refusal)
    if not entry.parts:
        return [Source(entry.file, partial(read_file, entry.path))]
    if entry.path.is_file():
        inside = tuple(f"{part}/" for part in entry.parts)
        files = [file for file in members(entry.path) if file.name in entry.parts or file.name.startswith(inside)]
        return _below(entry.path.name, files)
    sources: list[Source] = []
    for part in entry.parts:
        place = entry.path / part
        if place.is_dir():
            sources += walk(place, place, part)
        else:
            sources.append(Source(part, partial(read_file, place.resolve())))
    return sources


def _candidates(sources: list[Source], nesting: int) -> list[Source]:
    """The notebooks among the files, the likeliest first; archives are looked into when there is none beside them."""
    readable = [source for source in sources if kind(source.name) and not source.problem]
    notebooks = [source for source in readable if kind(source.name) != "zip"]
    if notebooks:
        return sorted(notebooks, key=_likelihood)
    if readable and nesting == 0:
        raise Refusal("intake.nested")
    if readable:
        return _candidates(_unpacked(readable), nesting - 1)
    for source in sources:
        if kind(source.name):
            raise Refusal(source.problem, file=printable(source.name))
    raise Refusal("intake.no_notebook")


def _unpacked(archives: list[Source]) -> list[Source]:
    files: list[Source] = []
    refusals: list[Refusal] = []
    for archive in archives[:MAX_CANDIDATES]:
        try:
            content = archive.load()
            refuse_too_many(content)
            files += _below(archive.name, members(content))
        except Refusal as refusal:
            refusals.append(refusal)
    if refusals and not files:
        raise refusals[0]
    return files


def _below(folder: str, files: list[Source]) -> list[Source]:
    return [replace(file, name=f"{folder}/{file.name}") for file in files]


def _likelihood(source: Source) -> tuple[bool, bool, int, str]:
    return not expected_name(source.name), kind(source.name) != "notebook", source.name.count("/"), source.name


def _readable(candidates: list[Source]) -> list[Draft]:
    drafts: list[Draft] = []
    refusals: list[Refusal] = []
    total = 0
    for source in candidates[:MAX_CANDIDATES]:
        try:
            content = source.load()
            total += len(content)
            drafts.append(_draft(source.name, content))
        except Refusal as refusal:
            refusals.append(
                Refusal(refusal.finding.code, **{"file": printable(source.name), **refusal.finding.details})
            )
        if total > MAX_TOTAL:
            break
    if not drafts:
        raise refusals[0]
    return drafts


def _draft(name: str, content: bytes) -> Draft:
    if not content or content.isspace():
        raise Refusal("intake.empty")
    if kind(name) == "notebook":
        found, remarks = notebook_cells(content)
    else:
        _refuse_too_much(len(content))
        text, remarks = decode(content)
        found = script_cells(text) if kind(name) == "script" else markdown_cells(text)
    _refuse_too_much(sum(map(len, found)))
    cells = tuple(map(without_surrogates, found))
    if not any(map(str.strip, cells)):
        raise Refusal("intake.no_code")
    if cells != tuple(found):
        remarks += (Finding("intake.surrogates"),)
    return Draft(name, content, cells, remarks)


def _refuse_too_much(code: int) -> None:
    if code > MAX_CODE:
        raise Refusal("intake.too_big", megabytes=code // MEGABYTE, limit=MAX_CODE // MEGABYTE)
