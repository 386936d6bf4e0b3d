"""A result, the course's rules and what TAs wrote become the grade as it stands."""

from collections.abc import Collection

from autograder.classroom.late import Extension, after, lateness
from autograder.classroom.records import Records
from autograder.config import Config
from autograder.findings import Finding
from autograder.reporting.results import SubmissionResult
from autograder.reporting.standing import Standing, number

NO_TERMS = Extension()


def stand(result: SubmissionResult, records: Records, config: Config) -> Standing:
    """Return how ``result`` stands."""
    student = result.student
    overrides = tuple(records.overrides.get(student, ()))
    changed = {override.question: override.points for override in overrides}
    points: float = sum(changed.get(name, question.points) for name, question in result.questions.items())
    examples, earned = _examples(result, config)
    points += earned
    late, final = _late(result, records.extensions.get(student, NO_TERMS), config, points)
    rules = {test.finding.code for test in result.tests if test.finding}
    return Standing(
        points,
        final,
        overrides,
        late,
        records.comments.get(student, ""),
        {rule: sentence for rule, sentence in records.pins.items() if rule in rules},
        tuple(records.requests.get(student, ())),
        records.holds.get(student, ""),
        examples,
    )


def _examples(result: SubmissionResult, config: Config) -> tuple[Finding | None, float]:
    """Return what the student's examples earn on top, where the course gives points for them."""
    judged = next((note for note in result.notes if note.code == "examples.judged"), None)
    if not config.examples_points or judged is None:
        return None, 0.0
    caught, of = int(judged.details["caught"]), int(judged.details["of"])
    earned = round(config.examples_points * caught / of, 2)
    return Finding("examples.points", {"caught": caught, "of": of, "points": number(earned)}), earned


def _late(result: SubmissionResult, own: Extension, config: Config, points: float) -> tuple[Finding | None, float]:
    if config.late is None or result.rejected:
        return None, points
    possible = result.max_points + result.pending_points
    found = lateness(result.who.received, config.late, own, possible)
    if found is None:
        return None, points
    final = after(points, found)
    details: dict[str, str | int] = {
        "begun": found.begun,
        "interval": found.interval,
        "free": found.free,
        "before": number(points),
        "after": number(final),
    }
    return Finding("late.refused" if found.refused else "late.penalty", details), final


def undated(results: Collection[SubmissionResult], records: Records, config: Config) -> list[str]:
    """Return what to say where the late rule has nothing to go by: a time that neither download nor table tells."""
    if config.late is None or not results:
        return []
    told = {r.student for r in results if r.who.received or records.extensions.get(r.student, NO_TERMS).received}
    marked = [result.student for result in results if result.who.late and result.student not in told]
    if marked:
        names = ", ".join(marked[:10])
        return [f"{len(marked)} late without a time, so nothing was deducted; add received to extensions.csv: {names}"]
    if not told and not any(result.who.late for result in results):
        return ["No submission has a time, so nobody counts as late; add received to extensions.csv for who was."]
    return []
