"""The catalogue: every student-visible text, by key, in English and Chinese.

The files ``words/*.{en,zh}.toml`` hold one table per code. A table's entries become keys of one flat catalogue:
``["decode.late"]`` with ``sentence`` and ``advice`` gives ``decode.late.sentence`` and ``decode.late.advice``.

A blank ``{name}`` takes the detail as it is. ``{name:family}`` looks the detail up in a family of words first:
``{what:part}`` with ``what="table"`` gives the text of ``part.table``, or of ``part.any`` with its blank ``{value}``
when the family has no such word. Several words may stand in one detail, separated by commas.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from string import Formatter

from autograder.findings import Finding

LANGUAGES = ("en", "zh")
LONGEST_DETAIL = 200


class Words:
    """The catalogue in one language; a key it does not know gives a harmless general sentence."""

    def __init__(self, lang: str) -> None:
        self.lang = lang
        self.catalogue = _catalogue(lang)

    def __contains__(self, key: str) -> bool:
        return key in self.catalogue

    def text(self, key: str, /, **details: object) -> str:
        """Return the text of ``key`` with its blanks filled from ``details``."""
        template = self.catalogue.get(key)
        if template is None:
            return self.text("unknown.text", key=key)
        return self._fill(template, details) if "{" in template else template

    def sentence(self, finding: Finding) -> str:
        """Return what was observed and which rule it breaks, in one sentence."""
        return self._of(finding, "sentence")

    def rule(self, code: str) -> str:
        """Return the sentence of a code with an ellipsis for every detail: the rule, whoever broke it."""
        template = self.catalogue.get(f"{code}.sentence", "")
        return self.text(f"{code}.sentence", **{name: "…" for _, name, _ in _parts(template) if name})

    def advice(self, finding: Finding) -> str:
        """Return what to look at next; empty where there is nothing to advise."""
        return self._of(finding, "advice")

    def _of(self, finding: Finding, field: str) -> str:
        key = f"{finding.code}.{field}"
        if key not in self.catalogue:
            return self.text(f"unknown.{field}", code=finding.code)
        return self.text(key, **finding.details)

    def _fill(self, template: str, details: Mapping[str, object]) -> str:
        return "".join(
            literal + (self._blank(details.get(name, "?"), family) if name else "")
            for literal, name, family in _parts(template)
        )

    def _blank(self, value: object, family: str | None) -> str:
        if not family:
            return _one_line(value)
        words = (self._word(family, word.strip()) for word in str(value).split(","))
        return self.catalogue["list.separator"].join(words)

    def _word(self, family: str, word: str) -> str:
        known = self.catalogue.get(f"{family}.{word}")
        return self.text(f"{family}.any", value=word) if known is None else known


@cache
def _parts(template: str) -> tuple[tuple[str, str | None, str | None], ...]:
    return tuple((literal, name, family) for literal, name, family, _ in Formatter().parse(template))


def _one_line(value: object) -> str:
    """Return a student's text on one line, short, without control characters or surrogates."""
    text = value if isinstance(value, str) else str(value)
    if text.isprintable() and len(text) <= LONGEST_DETAIL:
        return text
    shown = "".join(c if c.isprintable() else " " for c in text[: LONGEST_DETAIL + 1])
    return shown if len(shown) <= LONGEST_DETAIL else shown[: LONGEST_DETAIL - 1] + "…"


@cache
def _catalogue(lang: str) -> dict[str, str]:
    if lang not in LANGUAGES:
        raise ValueError(f"The language must be one of {', '.join(LANGUAGES)}, not {lang!r}.")
    catalogue: dict[str, str] = {}
    folder = files("autograder.reporting") / "words"
    for file in sorted(folder.iterdir(), key=lambda f: f.name):
        if file.name.endswith(f".{lang}.toml"):
            for code, table in tomllib.loads(file.read_text(encoding="utf-8")).items():
                catalogue |= {f"{code}.{field}": text for field, text in table.items()}
    return catalogue
