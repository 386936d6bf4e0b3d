"""A run in one Markdown table without names, for pages that more people see than the course staff."""

import csv
import hmac
import io
from collections.abc import Collection, Mapping
from hashlib import sha256

from autograder.contract.questions import questions
from autograder.outside.text import for_csv
from autograder.reporting.results import GradeLine, SubmissionResult
from autograder.reporting.words import Words

LENGTH = 10


def pseudonyms(results: Collection[SubmissionResult]) -> dict[str, str]:
    """Return a pseudonym for every student of a run, the same whenever the same run is shown.

    The key is made of all submissions' hashes, so that a class list alone does not lead from a pseudonym to a name.
    """
    key = sha256("\n".join(sorted(result.sha256 for result in results)).encode()).digest()
    return {r.student: hmac.new(key, _bytes(r.student), sha256).hexdigest()[:LENGTH] for r in results}


def who_is_who(names: Mapping[str, str]) -> bytes:
    """Return the staff's list of pseudonyms as CSV, sorted by pseudonym."""
    table = io.StringIO()
    rows = sorted((pseudonym, for_csv(student)) for student, pseudonym in names.items())
    csv.writer(table, lineterminator="\n").writerows([("pseudonym", "student"), *rows])
    return _bytes(table.getvalue())


def render_summary(lines: Collection[GradeLine], names: Mapping[str, str], words: Words) -> str:
    """Return the run as Markdown, one row per student under the pseudonym in ``names``, sorted by it."""
    count = words.text(
        "bundles.count",
        count=len(lines),
        pending=sum(line.pending_points > 0 for line in lines),
        rejected=sum(line.rejected is not None for line in lines),
    )
    labels = (words.text(f"bundles.{label}") for label in ("student", "status", "points", "pending"))
    student, status, points, pending = labels
    table = [(student, status, *questions().by_id, points, pending), ("---",) * (len(questions().by_id) + 4)]
    table += [_row(line, names[line.student], words) for line in sorted(lines, key=lambda line: names[line.student])]
    rows = (f"| {' | '.join(row)} |" for row in table)
    return "\n".join([f"## {words.text('summary.title')}", "", count, "", *rows, "", words.text("summary.who"), ""])


def _row(line: GradeLine, pseudonym: str, words: Words) -> tuple[str, ...]:
    earned = [str(line.questions[q].points) if q in line.questions else "" for q in questions().by_id]
    points = words.text("page.of", points=line.points, max_points=line.max_points)
    return (f"`{pseudonym}`", words.text(f"status.{line.status}"), *earned, points, str(line.pending_points))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", errors="replace")
