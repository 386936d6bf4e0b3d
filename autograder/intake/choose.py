"""One notebook out of several, by content first and by name second; when nothing decides, none is guessed."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from autograder.findings import Finding
from autograder.intake.platforms.canvas import own_name
from autograder.intake.source import kind, stem
from autograder.intake.submission import Refusal

_DEFINES = (
    re.compile(r"^[ \t]*class KVCacheManager\b", re.MULTILINE),
    re.compile(r"^[ \t]*def estimate_kv_cache_bytes\b", re.MULTILINE),
)
_BLANK = re.compile(r"^[ \t]*raise NotImplementedError\b", re.MULTILINE)
_COPY = re.compile(
    r"(?P<stem>.+?)(?: ?\((?P<number>\d{1,9})\)|[-_ ]?(?:copy|的?副本) ?(?P<count>\d{0,9}))", re.IGNORECASE
)
_NAMED = 5


@dataclass(frozen=True)
class Draft:
    """A notebook that could be the one handed in."""

    name: str
    content: bytes = field(repr=False)
    cells: tuple[str, ...]
    remarks: tuple[Finding, ...] = ()

    @property
    def place(self) -> str:
        """The name without its suffix, folder included, and without the number that Canvas gives to each file."""
        folder, slash, _ = self.name.rpartition("/")
        return f"{folder}{slash}{own_name(stem(self.name))}"

    @property
    def defined(self) -> int:
        """How many of the assignment's two landmarks the code defines."""
        return sum(any(pattern.search(cell) for cell in self.cells) for pattern in _DEFINES)

    @property
    def blanks(self) -> int:
        """How many of the assignment's blanks are still open."""
        return sum(len(_BLANK.findall(cell)) for cell in self.cells)


def choose(drafts: Sequence[Draft]) -> tuple[Draft, tuple[Finding, ...]]:
    """Return the draft to grade, with a remark when there were others; raise :class:`Refusal` when none stands out."""
    rivals = left = _unlike(_best(drafts, lambda draft: draft.defined))
    for step in (_unpaired, _most_complete, _newest_copies, _by_expected_name):
        left = step(left)
    if len(left) > 1:
        raise Refusal("intake.several", files=_listed(left), count=len(left))
    others = [draft for draft in rivals if draft is not left[0]]
    if not others:
        return left[0], ()
    return left[0], (Finding("intake.picked", {"file": left[0].name, "others": _listed(others)}),)


def expected_name(name: str) -> bool:
    """Whether the file is called as the assignment's notebook is."""
    return stem(name).lower().replace("-", "_").replace(" ", "_").startswith("paged_attention")


def _best(drafts: Sequence[Draft], value: Callable[[Draft], int]) -> list[Draft]:
    values = [value(draft) for draft in drafts]
    return [draft for draft, own in zip(drafts, values, strict=True) if own == max(values)]


def _unlike(drafts: list[Draft]) -> list[Draft]:
    """Of drafts with the same code keep one: a notebook rather than a script, then the plainest name."""
    kept: dict[tuple[str, ...], Draft] = {}
    for draft in sorted(drafts, key=lambda draft: (kind(draft.name) != "notebook", len(draft.name), draft.name)):
        kept.setdefault(tuple(cell.strip() for cell in draft.cells if cell.strip()), draft)
    return list(kept.values())


def _unpaired(drafts: list[Draft]) -> list[Draft]:
    """Drop the script or Markdown beside the notebook it is paired with."""
    notebooks = {draft.place for draft in drafts if kind(draft.name) == "notebook"}
    return [draft for draft in drafts if kind(draft.name) == "notebook" or draft.place not in notebooks]


def _most_complete(drafts: list[Draft]) -> list[Draft]:
    """A fresh download of the starter beside the work must not win by its name."""
    return _best(drafts, lambda draft: -draft.blanks)


def _newest_copies(drafts: list[Draft]) -> list[Draft]:
    newest: dict[str, tuple[int, Draft]] = {}
    for draft in drafts:
        match = _COPY.fullmatch(draft.place)
        original, number = (match["stem"], int(match["number"] or match["count"] or 1)) if match else (draft.place, 0)
        if original not in newest or number > newest[original][0]:
            newest[original] = (number, draft)
    return [draft for _, draft in newest.values()]


def _by_expected_name(drafts: list[Draft]) -> list[Draft]:
    return _best(drafts, lambda draft: expected_name(draft.name))


def _listed(drafts: list[Draft]) -> str:
    names = sorted(draft.name for draft in drafts)
    return ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
