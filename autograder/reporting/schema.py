"""A result as JSON: results.json for readers, and the journal's row from which everything can be rendered again."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from autograder.findings import Finding
from autograder.reporting.describe import describe
from autograder.reporting.results import SCHEMA, SubmissionResult, TestResult
from autograder.reporting.words import Words


def to_json(result: SubmissionResult, words: Words) -> dict[str, Any]:
    """Return results.json's content, always in the same order of keys."""
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "student": result.student,
        "submission": {"file": result.file, "sha256": result.sha256},
        "device": result.device,
        "status": result.status,
    }
    if result.rejected is not None:
        data["reason"] = _in_words(result.rejected, words)
    data |= {
        "points": result.points,
        "max_points": result.max_points,
        "pending_points": result.pending_points,
        "questions": {name: asdict(question) for name, question in result.questions.items()},
        "tests": [_test(test, words) for test in result.tests],
        "notes": [_in_words(note, words) for note in result.notes],
        "confinement": dict(sorted(result.confinement.items())),
        "versions": dict(sorted(result.versions.items())),
    }
    return data


def _test(test: TestResult, words: Words) -> dict[str, Any]:
    data: dict[str, Any] = {
        "id": test.id,
        "question": test.question,
        "status": test.status,
        "points": test.points,
        "max_points": test.max_points,
        "message": words.sentence(test.finding) if test.finding else "",
    }
    if test.finding:
        data["code"] = test.finding.code
        data["advice"] = words.advice(test.finding)
    if test.example:
        steps = [describe(operation, words) for operation in test.example["operations"]]
        data["example"] = {"steps": steps, **{side: test.example[side] for side in ("before", "after")}}
    return data


def _in_words(finding: Finding, words: Words) -> dict[str, str]:
    return {
        "code": finding.code,
        "message": words.sentence(finding),
        "advice": words.advice(finding),
    }


def row(result: SubmissionResult) -> dict[str, Any]:
    """Return plain JSON data that holds all of ``result``, in no language."""
    return {
        "student": result.student,
        "file": result.file,
        "sha256": result.sha256,
        "device": result.device,
        "tests": [test_row(test) for test in result.tests],
        "rejected": result.rejected.to_json() if result.rejected else None,
        "notes": [note.to_json() for note in result.notes],
        "pending_points": result.pending_points,
        "confinement": dict(result.confinement),
        "versions": dict(result.versions),
        "gradescope": dict(result.gradescope),
    }


def test_row(test: TestResult) -> dict[str, Any]:
    """Return one test's part of the row."""
    return {
        "id": test.id,
        "question": test.question,
        "status": test.status,
        "points": test.points,
        "max_points": test.max_points,
        "finding": test.finding.to_json() if test.finding else None,
        "example": dict(test.example) if test.example else None,
    }


def from_row(data: Mapping[str, Any]) -> SubmissionResult:
    """Rebuild the result from what :func:`row` returned."""
    return SubmissionResult(
        **{
            **data,
            "tests": tuple(TestResult(**{**test, "finding": _finding(test["finding"])}) for test in data["tests"]),
            "rejected": _finding(data["rejected"]),
            "notes": tuple(Finding.from_json(note) for note in data["notes"]),
        }
    )


def _finding(data: dict[str, object] | None) -> Finding | None:
    return Finding.from_json(data) if data else None


def to_bytes(data: Mapping[str, Any]) -> bytes:
    """Return ``data`` as readable JSON, the same bytes every time; lone surrogates become question marks."""
    text = json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    return text.encode("utf-8", errors="replace")
