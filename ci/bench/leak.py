#!/usr/bin/env python3
"""How much leaves with a verdict: bits per push under each policy, and pushes until the drawn cases have left.

    .venv/bin/python ci/bench/leak.py

A submission that fails as it likes chooses what is said of every case. This counts what it can choose from: the forms
of a finding, all codes and words together, and how the cases of a question share the few that are told. Against it
stand the operations of the cases that a course seed draws, compressed.
"""

import json
import lzma
from collections.abc import Iterator
from math import comb, log2
from string import Formatter

from autograder.contract.closed_lists import CONTRACT_NAMES, DTYPES, EXCEPTIONS, KINDS
from autograder.contract.families.drawn import drawn_scenarios
from autograder.contract.operations import LEDGER_KEYS
from autograder.contract.questions import questions
from autograder.contract.seed import PUBLIC
from autograder.reporting.feedback import MOST_TOLD
from autograder.reporting.words import Words

STATES = 4
BY_OTHERS = (
    "bundle.",
    "cell.",
    "compare.",
    "device.",
    "grading.",
    "intake.",
    "late.",
    "merge.",
    "outdated.",
    "unknown",
)
"""Findings about something else than a case of the CPU part; those of cells are noted before anything is asked."""
CLOSED = {
    "exception": len(EXCEPTIONS) + 1,
    "outcome": len(EXCEPTIONS) + 2,
    "kind": len(KINDS) + 1,
    "dtype": len(DTYPES) + 1,
}
NAMES = len(CONTRACT_NAMES) + len(LEDGER_KEYS)
ONE = ("todo", "todos", "cell", "line", "error", "magic", "seconds", "mib")
"""Blanks that are filled without asking the child, or once for all."""


def forms() -> int:
    """Return in how many ways the finding of one case can be worded."""
    catalogue = Words("en").catalogue
    codes = [key.removesuffix(".sentence") for key in catalogue if key.endswith(".sentence")]
    return sum(_forms(catalogue, code) for code in codes if not code.startswith(BY_OTHERS))


def _forms(catalogue: dict[str, str], code: str) -> int:
    count = 1
    for name, family in _blanks(catalogue[f"{code}.sentence"]):
        if family:
            count *= CLOSED.get(family) or sum(key.startswith(f"{family}.") for key in catalogue)
        elif name not in ONE:
            count *= NAMES
    return count


def _blanks(template: str) -> Iterator[tuple[str, str]]:
    for _, name, family, _ in Formatter().parse(template):
        if name:
            yield name, family or ""


def bits_with_hints(worded: int) -> float:
    """Return the bits of a push whose cases are told which rule they broke, a few different ones of a question."""
    bits = 0.0
    for question in questions().of("cpu"):
        cases = len(questions()[question].cases)
        told = (
            comb(worded, MOST_TOLD) * (MOST_TOLD + STATES) ** cases
        )  # which findings, and which of them each case has
        bits += min(log2(told), cases * log2(worded + STATES))
    return bits


def main() -> None:
    """Count, and print a table in Markdown."""
    cases = [case for question in questions().of("cpu") for case in questions()[question].cases]
    drawn = {id: [o.to_wire() for o in scenario.operations] for id, scenario in drawn_scenarios(PUBLIC).items()}
    secret = 8 * len(lzma.compress(json.dumps(drawn).encode(), preset=9))
    worded = forms()
    rows = {"score": len(cases) * log2(STATES), "hint": bits_with_hints(worded)}
    print(f"{worded} forms of a finding, {len(cases)} cases; the drawn cases, compressed, have {secret:,} bits.\n")
    print("| feedback | bits a push | pushes |\n|---|---|---|")
    for policy, bits in rows.items():
        print(f"| {policy} | {bits:.0f} | {secret / bits:.0f} |")


if __name__ == "__main__":
    main()
