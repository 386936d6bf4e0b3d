"""What everybody may know about the cases: titles, points, and for drawn ones the ranges. Only the seed is secret."""

from collections.abc import Iterator

from autograder.contract.families.drawn import FAMILIES
from autograder.contract.questions import questions
from autograder.reporting.words import Words


def lines(words: Words) -> Iterator[str]:
    """Yield one line per question and case, and under a drawn case what is drawn and from which ranges."""
    families = {family.case: family for family in FAMILIES}
    for question in questions():
        yield f"{question.id}: {question.points}"
        for case in question.cases:
            yield f"  {case.points}  {case.id}: {words.text(f'{case.id}.title')}"
            if case.id in families:
                yield f"     {words.text(f'{case.id}.about')}"
                ranges = (f"{name} {low} - {high}" for name, (low, high) in families[case.id].ranges.items())
                yield f"     {', '.join(ranges)}"
