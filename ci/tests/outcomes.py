"""What the table of facts means for one way of grading, and short ways to read what a student is shown."""

import json
import re
from collections.abc import Callable, Collection, Sequence
from html import unescape
from pathlib import Path
from typing import Any

from class_of_forty import CPU, GPU, QUESTIONS, facts
from ways import Way

from autograder.reporting.feedback import MOST_TOLD, WITHHELD
from autograder.reporting.words import Words

FACTS = facts()
GRADED = {student: fact for student, fact in FACTS.items() if not fact.reason}
LOST = ("failed", "could not run")


def on_device(way: Way, student: str) -> bool:
    """Tell whether the student's work was on the stand-in device."""
    return way.gpu_part == "counts" or (way.gpu_part == "ready" and student in sorted(FACTS)[::3])


def asked_of(way: Way, student: str) -> dict[str, tuple[int, int, str]]:
    """Return points, maximum and status of each question: the table's, less what this way does not grade."""
    graded = (*CPU, *(GPU if on_device(way, student) else ()))
    counted = {q: q in CPU or way.gpu_part == "counts" for q in graded}
    told = FACTS[student].questions
    return {
        q: (told[q][0] * counts, QUESTIONS[q] * counts, told[q][1])
        for q, counts in counted.items()
        if not FACTS[student].reason
    }


def due_rules(way: Way, broken: Collection[str], asked: Collection[str], lost: Sequence[dict[str, Any]]) -> set[str]:
    """Return what has to be told of the rules that are broken: all, none, or a few of a question and one word more.

    ``lost`` are the cases that lost points. Which rules are told where there are too many is up to the cases' order.
    """
    due: set[str] = set()
    for question in asked if way.feedback != "score" else ():
        rules = {rule for rule in broken if rule.startswith(f"{question}:")}
        told = {f"{question}:{t['code']}": t["message"] for t in lost if t["question"] == question}
        said = {t["message"] for t in lost if t["question"] == question and t["code"] != WITHHELD.code}
        few = way.feedback == "hint" and len(said) == MOST_TOLD
        due |= {*told} & {*rules, f"{question}:{WITHHELD.code}"} if few else rules
    return due


def totals(way: Way, student: str) -> tuple[int, int, int]:
    """Return points, maximum and pending points."""
    parts = asked_of(way, student).values()
    points, maximum = sum(p for p, _, _ in parts), sum(m for _, m, _ in parts)
    pending = 20 if way.gpu == "required" and way.gpu_part != "counts" and parts else 0
    return points, maximum, pending


def results(out: Path, student: str) -> dict[str, Any]:
    data = json.loads((out / "students" / student / "results.json").read_text(encoding="utf-8"))
    assert isinstance(data, dict)
    return data


def in_language(text: str, lang: str) -> bool:
    return bool(re.search("[\u4e00-\u9fff]", text)) == (lang == "zh")


def hidden_sentences(graded: Callable[[str], Path], lang: str) -> dict[str, set[str]]:
    """Return, by student, what a course with hints in this language says of failed cases."""
    open_handed = graded({"en": "device", "zh": "resumed"}[lang])
    return {
        student: {t["message"] for t in results(open_handed, student)["tests"] if t["status"] in LOST} - {""}
        for student in GRADED
    }


def words_of(way: Way, status: str, points: int) -> str:
    """Return the word for a status; a question that earned points and waits for a TODO was attempted."""
    waits = status == "not attempted" and points > 0
    return Words(way.lang).text("status.waiting" if waits else f"status.{status}")


def numbers(cell: str) -> str:
    return "/".join(re.findall(r"\d+", cell))


def read_page(out: Path, student: str, name: str) -> str:
    return unescape((out / "students" / student / name).read_text(encoding="utf-8"))
