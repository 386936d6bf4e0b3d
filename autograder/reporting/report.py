"""One submission's report: a self-contained page and the same as Markdown."""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from autograder.outside.text import for_markdown
from autograder.reporting import blockview, tableview
from autograder.reporting.broken_cells import NO_PYTHON, broken_cells
from autograder.reporting.describe import describe
from autograder.reporting.play_line import play_line
from autograder.reporting.request import block
from autograder.reporting.results import GradeLine, QuestionResult, SubmissionResult, TestResult
from autograder.reporting.standing import Standing, number
from autograder.reporting.words import Words

FOLLOWED = ("prefill", "decode", "read")
"""After these, it is worth looking at the way of the request's last token."""
UNGRADED = "engine."
"""Notes that have a section of their own, since they say nothing about the file."""


@dataclass(frozen=True)
class Trouble:
    """One broken rule of a question, with the titles of the checks that showed it; a TODO that is open is no fault."""

    sentence: str
    advice: str
    cases: tuple[str, ...]
    fault: bool
    code: str = ""


@dataclass(frozen=True)
class Frame:
    """A step of an example: what was done, and the state after it and before."""

    step: str
    state: object
    before: object


@dataclass(frozen=True)
class Example:
    """The shortest failing example: step by step, the line that plays it, and whose tokens to follow at its end."""

    frames: tuple[Frame, ...]
    play: str
    followed: str


@dataclass(frozen=True)
class Section:
    """What the report says about one question."""

    name: str
    result: QuestionResult
    tests: tuple[TestResult, ...]
    titles: Mapping[str, str]
    troubles: tuple[Trouble, ...]
    example: Example | None

    @property
    def state(self) -> str:
        """The status to show: a question that earned points was attempted, and what is left of it waits for a TODO."""
        waits = self.result.status == "not attempted" and self.result.points > 0
        return "waiting" if waits else self.result.status


def render_report(result: SubmissionResult, words: Words, standing: Standing | None = None) -> tuple[str, str]:
    """Return the report as one HTML page that needs nothing else, and as Markdown."""
    content = _content(result, words, standing)
    return template("report.html", words.lang).render(content), template("report.md", words.lang).render(content)


def render_html(result: SubmissionResult, words: Words, standing: Standing | None = None) -> str:
    """Return the report as one HTML page alone."""
    return template("report.html", words.lang).render(_content(result, words, standing))


def render_markdown(result: SubmissionResult, words: Words, standing: Standing | None = None) -> str:
    """Return the report as Markdown alone."""
    return template("report.md", words.lang).render(_content(result, words, standing))


def render_index(bundles: Iterable[tuple[SubmissionResult | GradeLine, str]], words: Words) -> str:
    """Return the TA's page of a run: every student's result with the SHA-256 of the bundle."""
    rows = sorted(bundles, key=lambda bundle: bundle[0].student)
    counts = {
        "count": len(rows),
        "pending": sum(result.pending_points > 0 for result, _ in rows),
        "rejected": sum(result.rejected is not None for result, _ in rows),
    }
    return template("bundles.html", words.lang).render(rows=rows, count=words.text("bundles.count", **counts))


def _content(result: SubmissionResult, words: Words, standing: Standing | None) -> Mapping[str, Any]:
    return {
        "standing": standing or Standing(result.points, result.points),
        "request": block(result),
        "result": result,
        "broken_cells": broken_cells(result.notes, words),
        "notes": [n for n in result.notes if n.code not in NO_PYTHON and not n.code.startswith(UNGRADED)],
        "sections": [_section(name, question, result, words) for name, question in result.questions.items()],
        "headline": _headline(result, words),
        "tone": _tone(result, words),
        "beside": [note for note in result.notes if note.code.startswith(UNGRADED)],
    }


def _earned(words: Words, part: SubmissionResult | QuestionResult | TestResult) -> str:
    """Return the points of a part in words; readiness for a GPU has none."""
    return _of_points(part.points, part.max_points, words.lang)


@lru_cache(4096)
def _of_points(points: int, max_points: int, lang: str) -> str:
    if max_points:
        return Words(lang).text("page.of", points=points, max_points=max_points)
    return Words(lang).text("readiness.points")


def _cases(words: Words, section: Section) -> Markup:
    rows = tuple((section.titles[test.id], test.status, _earned(words, test)) for test in section.tests)
    return _cases_table(rows, words.lang)


@lru_cache(4096)
def _cases_table(rows: tuple[tuple[str, str, str], ...], lang: str) -> Markup:
    """Return the table of a question's cases; in a large class many students share the same one."""
    return Markup(template("cases.html", lang).render(rows=rows))


def _is_readiness(result: SubmissionResult) -> bool:
    return bool(result.tests) and not result.max_points


def _headline(result: SubmissionResult, words: Words) -> str:
    numbers = {
        "points": result.points,
        "max_points": result.max_points,
        "pending_points": result.pending_points,
    }
    if result.rejected:
        return words.text("headline.rejected")
    if _is_readiness(result):
        passed = sum(test.status == "passed" for test in result.tests)
        return words.text("readiness.headline", passed=passed, count=len(result.tests))
    return words.text("headline.pending" if result.pending_points else "headline.graded", **numbers)


def _tone(result: SubmissionResult, words: Words) -> str:
    if result.rejected:
        return words.text("tone.rejected")
    if _is_readiness(result):
        return words.text("readiness." + ("ready" if all(t.status == "passed" for t in result.tests) else "open"))
    questions = [question for question in result.questions.values() if question.max_points]
    unanswered = {test.question for test in result.tests if test.finding and test.finding.code.startswith("open.")}
    if unanswered:
        return words.text("tone.open", open=len(unanswered), count=len(questions))
    done = sum(q.points == q.max_points for q in questions)
    return words.text("tone.some" if done < len(questions) else "tone.full", done=done, count=len(questions))


def _section(name: str, question: QuestionResult, result: SubmissionResult, words: Words) -> Section:
    tests = tuple(test for test in result.tests if test.question == name)
    titles = {test.id: case_title(test, words) for test in tests}
    seen: dict[tuple[str, str, bool, str], list[str]] = {}
    for test in tests:
        if test.finding:
            fault = test.status == "failed"
            said = words.sentence(test.finding), words.advice(test.finding), fault, test.finding.code
            seen.setdefault(said, []).append(titles[test.id])
    troubles = tuple(
        Trouble(sentence, advice, tuple(cases), fault, code) for (sentence, advice, fault, code), cases in seen.items()
    )
    example = next((_example(test.example, words) for test in tests if test.example), None)
    return Section(name, question, tests, titles, troubles, example)


def _example(example: Mapping[str, Any], words: Words) -> Example:
    operations = example["operations"]
    states = [*example.get("earlier", ()), example["before"], example["after"]][-len(operations) :]
    states = [None] * (len(operations) - len(states)) + states  # a run of an earlier version kept the last two
    frames = tuple(
        Frame(describe(operation, words), state, before)
        for operation, state, before in zip(operations, states, [None, *states], strict=False)
    )
    name, *arguments = operations[-1]
    followed = str(arguments[1]) if name in FOLLOWED and len(arguments) > 1 else ""
    return Example(frames, play_line(operations), followed)


def case_title(test: TestResult, words: Words) -> str:
    """Return what a case is about, in words; its id where the catalogue has none."""
    key = f"{test.id}.title"
    return words.text(key) if key in words else test.id


@cache
def template(name: str, lang: str) -> Template:
    """Return a template in a language, with the styles and scripts that its page needs in it.

    Texts come by filters, which Jinja carries out once where nothing in them varies.
    """
    environment = Environment(
        loader=PackageLoader("autograder.reporting"),
        autoescape=name.endswith(".html"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    for kind, file in (("css", "report.css"), ("js", "class.js")):
        text = (files("autograder.reporting") / "templates" / file).read_text(encoding="utf-8")
        hashed = b64encode(sha256(text.encode()).digest()).decode()
        environment.globals |= {kind: Markup(text), f"{kind}_hash": hashed}
    words = Words(lang)
    environment.globals |= {
        "words": words,
        "language": "zh-CN" if lang == "zh" else "en",
        "svg": blockview.svg,
        "picture": blockview.text,
        "diagram": tableview.svg,
        "way": tableview.way,
    }
    environment.filters |= {
        "t": words.text,
        "sentence": words.sentence,
        "advice": words.advice,
        "earned": partial(_earned, words),
        "cases": partial(_cases, words),
        "number": number,
        "md": for_markdown,
    }
    return environment.get_template(f"{name}.jinja")
