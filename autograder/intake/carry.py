"""An entry made ready for another machine: the files that would be read here travel in it, and nothing else does."""

from dataclasses import dataclass, field, replace

from autograder.findings import Finding
from autograder.intake.discover import Entry
from autograder.intake.read import MAX_TOTAL, Allowance, sources_of, worth_reading
from autograder.intake.source import Source
from autograder.intake.submission import Refusal


@dataclass(frozen=True)
class Brought:
    """Loads a file that was read where it lies; a finding stands for a refusal to read it."""

    content: bytes | Finding = field(repr=False)

    def __call__(self) -> bytes:
        """Return the content; raise the :class:`Refusal` that reading it ended with."""
        if isinstance(self.content, Finding):
            raise Refusal(self.content.code, **self.content.details)
        return self.content


def carry(entry: Entry) -> Entry:
    """Return the entry with its files in it: :func:`autograder.intake.read.read` then gives the same on any machine."""
    try:
        sources = sources_of(entry)
    except Refusal as refusal:
        return replace(entry, carried=refusal.finding)
    except OSError:
        return replace(entry, carried=Finding("intake.unreadable"))
    allowance = Allowance(MAX_TOTAL)
    brought = {source.name: _brought(source, allowance) for source in worth_reading(sources)}
    unread = Brought(b"")
    return replace(entry, carried=tuple(replace(s, load=brought.get(s.name, unread)) for s in sources))


def _brought(source: Source, allowance: Allowance) -> Brought:
    try:
        return Brought(allowance.load(source))
    except Refusal as refusal:
        return Brought(refusal.finding)
    except OSError:
        return Brought(Finding("intake.unreadable"))
