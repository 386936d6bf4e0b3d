"""A result as JSON: results.json for readers, and the journal's row from which everything can be rendered again."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import msgspec

from autograder.findings import Finding
from autograder.reporting.describe import describe
from autograder.reporting.results import SCHEMA, SubmissionResult, TestResult
from autograder.reporting.standing import Standing
from autograder.reporting.words import Words

ROW = "autograder-row/1"


def to_json(result: SubmissionResult, words: Words, standing: Standing | None = None) -> dict[str, Any]:
    """Return results.json's content, always in the same order of keys; ``final`` only where points were changed."""
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "student": result.student,
        "submission": {"file": result.file, "sha256": result.sha256}
        | ({"helpers": result.helpers} if result.helpers else {}),
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
    if standing and standing.changed:
        data["final"] = {
            "points": standing.final,
            "overrides": [asdict(override) for override in standing.overrides],
            "late": words.sentence(standing.late) if standing.late else "",
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


class RowError(Exception):
    """A journal row that cannot be used; the text says why, in the middle of a sentence."""


def row(result: SubmissionResult) -> dict[str, Any]:
    """Return plain JSON data that holds all of ``result``, in no language."""
    data = msgspec.to_builtins(result, enc_hook=dict)
    assert isinstance(data, dict)
    return {"schema": ROW, **data}


def from_row(data: object) -> SubmissionResult:
    """Rebuild the result from what :func:`row` returned; unknown fields are passed over; else RowError."""
    if isinstance(data, dict) and data.get("schema", ROW) != ROW:
        raise RowError(f"it is of the kind {str(data['schema'])[:40]!r}, which this version does not read")
    try:
        return msgspec.convert(data, SubmissionResult)
    except (msgspec.ValidationError, UnicodeError) as error:  # half a surrogate pair where no text belongs
        raise RowError(str(error)[:200]) from error


def to_bytes(data: Mapping[str, Any]) -> bytes:
    """Return ``data`` as readable JSON, the same bytes every time; lone surrogates become question marks."""
    try:
        return msgspec.json.format(msgspec.json.encode(data, enc_hook=dict), indent=2) + b"\n"
    except UnicodeEncodeError:
        text = json.dumps(data, ensure_ascii=False, indent=2) + "\n"
        return text.encode("utf-8", errors="replace")
