"""The page a TA opens first: one row per enrolled student, and what the class says about the cases."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from autograder.reporting.gradebook import QUESTIONS, Absent
from autograder.reporting.report import case_title, language, template
from autograder.reporting.results import GradeLine, SubmissionResult
from autograder.reporting.statistics import BINS, broken_rules, statistics
from autograder.reporting.words import Words


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table, ready to show; ``rules`` are the numbers of the rules that the submission breaks."""

    name: str
    id: str
    status: str
    questions: tuple[str, ...]
    points: str
    final: str
    received: str
    late: bool
    why: str
    rules: str
    folder: str
    bundled: bool


def render_class(
    results: Mapping[str, SubmissionResult],
    lines: Collection[GradeLine],
    missing: Iterable[Absent],
    bundled: Collection[str],
    words: Words,
    names: Mapping[str, Sequence[tuple[str, str]]],
) -> str:
    """Return the page, one row per person; ``bundled`` are the students of whom there is a bundle.

    ``names`` has name and id of those who share a submission, as a class list gives them.
    """
    figures = statistics(results.values())
    order = {code: number for number, (code, _) in enumerate(figures.rules)}
    asked = [name for name in QUESTIONS if any(name in line.questions for line in lines)]
    rows = [
        _row(line, results[line.student], asked, order, line.student in bundled, words, *person)
        for line in lines
        for person in names.get(line.student) or _authors(line)
    ]
    rows += [_missing(person, asked) for person in missing]
    tests = {test.id: test for result in results.values() for test in result.tests}
    return template("class.html").render(
        t=words.text,
        language=language(words),
        rows=sorted(rows, key=lambda row: row.name),
        asked=asked,
        figures=figures,
        bins=[(n * 100 // BINS, count) for n, count in enumerate(figures.histogram)],
        highest=max((*figures.histogram, 1)),
        titles={name: case_title(test, words) for name, test in tests.items()},
        rules=[(number, code, count, words.rule(code)) for number, (code, count) in enumerate(figures.rules)],
        statuses=sorted(Counter(row.status for row in rows).items()),
    )


def _row(
    line: GradeLine,
    result: SubmissionResult,
    asked: Collection[str],
    order: Mapping[str, int],
    bundled: bool,
    words: Words,
    name: str,
    id: str,
) -> Row:
    graded = line.status != "not gradable"
    rules = broken_rules(result)
    earned = (line.questions.get(name) for name in asked)
    return Row(
        name or line.who.name or line.student,
        id,
        line.status,
        tuple(str(question.points) if question and question.max_points else "" for question in earned),
        f"{line.points}" if graded else "",
        "" if line.final is None else f"{line.final:g}",
        line.who.received[:16].replace("T", " "),
        line.who.late,
        _why(line, rules, words),
        " ".join(str(order[code]) for code in rules if code in order),
        line.student,
        bundled,
    )


def _authors(line: GradeLine) -> list[tuple[str, str]]:
    """Return name and id of those who handed a submission in, as the download gives them: of members the name alone."""
    first = (line.who.name or line.student, line.who.id or line.who.login)
    return [first, *((member, "") for member in line.who.members)]


def _why(line: GradeLine, rules: list[str], words: Words) -> str:
    if line.rejected:
        return words.sentence(line.rejected)
    asked = line.questions.items()
    untouched = [name for name, question in asked if question.status == "not attempted" and not question.points]
    open_todos = f"{', '.join(untouched)}: {words.text('status.not attempted')}" if untouched else ""
    return "; ".join(filter(None, (", ".join(rules), open_todos)))


def _missing(person: Absent, asked: Collection[str]) -> Row:
    empty = ("",) * len(asked)
    return Row(person.name or person.id, person.id, "missing", empty, "", "", "", False, "", "", "", False)
