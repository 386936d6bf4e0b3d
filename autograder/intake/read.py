"""One student's place on disk becomes a submission, or the reason why it cannot be graded."""

import errno
import hashlib
from dataclasses import dataclass, replace
from functools import partial

from autograder.findings import Finding
from autograder.intake.archive import members
from autograder.intake.choose import Draft, choose, expected_name
from autograder.intake.defined_twice import defined_twice
from autograder.intake.discover import Entry
from autograder.intake.disk import read_file, walk
from autograder.intake.helpers import helper_texts, without_helpers
from autograder.intake.notebook import notebook_cells
from autograder.intake.script import markdown_cells, script_cells
from autograder.intake.source import MEGABYTE, Source, kind
from autograder.intake.submission import Refusal, Rejected, Submission
from autograder.intake.text import decode, without_surrogates
from autograder.outside.names import shown

MAX_CODE = 4 * MEGABYTE
MAX_ALL_CODE = 16 * MEGABYTE
MAX_CANDIDATES = 50
MAX_TOTAL = 100 * MEGABYTE
MAX_NESTING = 2


def read(entry: Entry) -> Submission | Rejected:
    """Return what the student handed in, reduced to its code cells; never raises for anything a student can send.

    MemoryError is raised when this process has no memory left, which is nobody's submission's fault.
    """
    file, sha256 = entry.file, ""
    helpers: dict[str, str] = {}
    try:
        allowance = Allowance(MAX_TOTAL)
        candidates = _candidates(sources_of(entry), MAX_NESTING, allowance)
        if len(candidates) == 1:
            file = candidates[0].name
            content = allowance.load(candidates[0])
            sha256 = hashlib.sha256(content).hexdigest()
            draft = _draft(file, content)
            remarks: tuple[Finding, ...] = ()
        else:
            drafts, helped = without_helpers(_readable(candidates, allowance))
            draft, picked = choose(drafts)
            remarks = helped + picked
            sha256 = hashlib.sha256(draft.content).hexdigest()
            helpers = helper_texts(draft.name, candidates)
    except Refusal as refusal:
        if _lacks_memory(refusal.__cause__):
            raise MemoryError from refusal
        details = {"file": shown(file), **refusal.finding.details}
        return Rejected(entry.student, shown(file), sha256, Finding(refusal.finding.code, details))
    except OSError as error:
        if _lacks_memory(error):
            raise MemoryError from error
        return Rejected(entry.student, shown(file), sha256, Finding("intake.unreadable", {"file": shown(file)}))
    remarks = draft.remarks + remarks + defined_twice(draft.cells)
    return Submission(entry.student, shown(draft.name), sha256, draft.cells, draft.content, remarks, helpers)


@dataclass
class Allowance:
    """How many bytes of one student's files may still be read, archives and what is in them alike."""

    left: int

    def load(self, source: Source) -> bytes:
        """Return the content; raise :class:`Refusal` where it is more than is left."""
        content = source.load() if self.left >= 0 else b""
        self.left -= len(content)
        if self.left < 0:
            del content  # the error's traceback would hold it
            raise Refusal("intake.bomb")
        return content


def _lacks_memory(error: BaseException | None) -> bool:
    return isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM)


def sources_of(entry: Entry) -> list[Source]:
    """Return the files of an entry, unread; raise :class:`Refusal` where they cannot be listed."""
    if isinstance(entry.carried, Finding):
        raise Refusal(entry.carried.code, **entry.carried.details)
    if entry.carried is not None:
        return list(entry.carried)
    if entry.refusal:
        raise Refusal(entry.refusal)
    if not entry.parts:
        return [Source(entry.file, partial(read_file, entry.path))]
    if entry.path.is_file():
        inside = tuple(f"{part}/" for part in entry.parts)
        return [file for file in members(entry.path) if file.name in entry.parts or file.name.startswith(inside)]
    sources: list[Source] = []
    for part in entry.parts:
        place = entry.path / part
        if place.is_dir():
            sources += walk(place, place, part)
        else:
            sources.append(Source(part, partial(read_file, place.resolve())))
    return sources


def _candidates(sources: list[Source], nesting: int, allowance: Allowance) -> list[Source]:
    """Return what :func:`worth_reading` names, and of archives what is in them."""
    readable = worth_reading(sources)
    if readable and kind(readable[0].name) != "zip":
        return readable
    if readable and nesting == 0:
        raise Refusal("intake.nested")
    if readable:
        return _candidates(_unpacked(readable, allowance), nesting - 1, allowance)
    for source in sources:
        if kind(source.name):
            raise Refusal(source.problem, file=shown(source.name))
    raise Refusal("intake.no_notebook")


def worth_reading(sources: list[Source]) -> list[Source]:
    """Return the notebooks among the files, the likeliest first; where there is none, the archives."""
    readable = [source for source in sources if kind(source.name) and not source.problem]
    notebooks = [source for source in readable if kind(source.name) != "zip"]
    return sorted(notebooks, key=_likelihood) or readable


def _unpacked(archives: list[Source], allowance: Allowance) -> list[Source]:
    files: list[Source] = []
    refusals: list[Refusal] = []
    for archive in archives[:MAX_CANDIDATES]:
        try:
            files += _below(archive.name, members(allowance.load(archive)))
        except Refusal as refusal:
            refusals.append(refusal)
    if refusals and not files:
        raise refusals[0]
    return files


def _below(folder: str, files: list[Source]) -> list[Source]:
    return [replace(file, name=f"{folder}/{file.name}") for file in files]


def _likelihood(source: Source) -> tuple[bool, bool, int, str]:
    return not expected_name(source.name), kind(source.name) != "notebook", source.name.count("/"), source.name


def _readable(candidates: list[Source], allowance: Allowance) -> list[Draft]:
    drafts: list[Draft] = []
    refusals: list[Refusal] = []
    for source in candidates[:MAX_CANDIDATES]:
        try:
            drafts.append(_draft(source.name, allowance.load(source)))
        except Refusal as refusal:
            refusals.append(Refusal(refusal.finding.code, **{"file": shown(source.name), **refusal.finding.details}))
        if allowance.left < 0 or sum(len(cell) for draft in drafts for cell in draft.cells) > MAX_ALL_CODE:
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
