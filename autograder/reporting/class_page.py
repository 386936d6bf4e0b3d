"""The page a TA opens first: one row per enrolled student, and what the class says about the cases."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from autograder.reporting.gradebook import QUESTIONS, ClassList, Listed
from autograder.reporting.report import case_title, template
from autograder.reporting.results import GradeLine, SubmissionResult
from autograder.reporting.standing import STATES
from autograder.reporting.statistics import BINS, broken_rules, statistics
from autograder.reporting.words import Words


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table, ready to show; ``rules`` are the numbers of the rules that the submission breaks.

    ``requests`` says of which cases another look was asked for, and what became of it.
    """

    name: str
    id: str
    status: str
    questions: tuple[str, ...]
    points: str
    final: str
    received: str
    late: bool
    why: str = ""
    requests: str = ""
    rules: str = ""
    folder: str = ""
    bundled: bool = False


def render_class(
    results: Mapping[str, SubmissionResult],
    lines: Collection[GradeLine],
    listed: ClassList,
    bundled: Collection[str],
    words: Words,
) -> str:
    """Return the page, one row per person; ``bundled`` are the students of whom there is a bundle."""
    figures = statistics(results.values())
    order = {code: number for number, (code, _) in enumerate(figures.rules)}
    asked = [name for name in QUESTIONS if any(name in line.questions for line in lines)]
    rows = [
        _row(line, person, results[line.student], asked, order, line.student in bundled, words)
        for line in lines
        for person in listed.behind(line)
    ]
    rows += [_missing(person, asked) for person in listed.missing]
    states = Counter(request.state for line in lines for request in line.requests)
    tests = {test.id: test for result in results.values() for test in result.tests}
    return template("class.html", words.lang).render(
        rows=sorted(rows, key=lambda row: row.name),
        asked=asked,
        figures=figures,
        bins=[(n * 100 // BINS, count) for n, count in enumerate(figures.histogram)],
        highest=max((*figures.histogram, 1)),
        titles={name: case_title(test, words) for name, test in tests.items()},
        rules=[(number, code, count, words.rule(code)) for number, (code, count) in enumerate(figures.rules)],
        statuses=sorted(Counter(row.status for row in rows).items()),
        requests=[(state, states[state]) for state in STATES if states[state]],
    )


def _row(
    line: GradeLine,
    person: Listed,
    result: SubmissionResult,
    asked: Collection[str],
    order: Mapping[str, int],
    bundled: bool,
    words: Words,
) -> Row:
    graded = line.status != "not gradable"
    rules = broken_rules(result)
    earned = (line.questions.get(name) for name in asked)
    return Row(
        person.name or line.student,
        person.id or person.login,
        line.status,
        tuple(str(question.points) if question and question.max_points else "" for question in earned),
        f"{line.points}" if graded else "",
        "" if line.final is None else f"{line.final:g}",
        line.who.received[:16].replace("T", " "),
        line.who.late,
        _why(line, rules, words),
        "; ".join(f"{request.case}: {words.text(f'stand.{request.state}')}" for request in line.requests),
        " ".join(str(order[code]) for code in rules if code in order),
        line.student,
        bundled,
    )


def _why(line: GradeLine, rules: list[str], words: Words) -> str:
    if line.rejected:
        return words.sentence(line.rejected)
    asked = line.questions.items()
    untouched = [name for name, question in asked if question.status == "not attempted" and not question.points]
    open_todos = f"{', '.join(untouched)}: {words.text('status.not attempted')}" if untouched else ""
    return "; ".join(filter(None, (", ".join(rules), open_todos)))


def _missing(person: Listed, asked: Collection[str]) -> Row:
    return Row(person.name or person.id, person.id, "missing", ("",) * len(asked), "", "", "", late=False)
