"""A bundle that somebody brings: what is wrong with it, and what is in it once nothing is.

Its maker may have chosen every byte, hashes included: that they agree tells of accidents, and of whoever changed a file
without making the manifest anew. Nothing in it is written to disk under a name of its own.
"""

import json
import stat
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from autograder.findings import Finding
from autograder.outside import zips
from autograder.outside.helpers_file import HELPERS, read_helpers
from autograder.outside.names import file_name, shown
from autograder.reporting.bundle import MANIFEST, RESULTS, SCHEMA, SUBMISSION

MOST_MEMBERS = 64
LARGEST_MANIFEST, LARGEST_MEMBER = 1_000_000, 100_000_000
UNREADABLE = (OSError, zips.BadZip, zips.TooMany, zips.TooBig)
_OF_A_TEST = {"id": str, "question": str, "status": str, "points": int, "max_points": int}


def verify(path: Path) -> list[Finding]:
    """Return what is wrong with the bundle at ``path``: nothing when every file is what its manifest says."""
    try:
        return _verify(_members(path))
    except UNREADABLE as error:
        return [Finding("bundle.unreadable", {"file": shown(path.name), "error": type(error).__name__})]


def submission_of(path: Path) -> tuple[str, bytes]:
    """Return name and content of the submission inside a verified bundle, so that it can be graded again."""
    member = next(m for m in _members(path) if m.name.startswith(SUBMISSION))
    return member.name.removeprefix(SUBMISSION), member.read(LARGEST_MEMBER)


def helpers_of(path: Path) -> bytes:
    """Return the file of modules that lay beside the submission of a verified bundle, empty where there were none."""
    return next((m.read(LARGEST_MEMBER) for m in _members(path) if m.name == HELPERS), b"")


def results_of(path: Path) -> dict[str, Any]:
    """Return results.json inside a verified bundle."""
    results = _results({member.name: member for member in _members(path)})
    assert results is not None
    return results


def _members(path: Path) -> list[zips.Member]:
    if not stat.S_ISREG(path.stat().st_mode):
        raise zips.BadZip
    return list(zips.members(path))


def _verify(found: Sequence[zips.Member]) -> list[Finding]:
    members = {member.name: member for member in found}
    if len(found) > MOST_MEMBERS or len(members) < len(found):
        return [Finding("bundle.members")]
    if strange := [member.name for member in found if member.problem or not _belongs(member.name)]:
        return [Finding("bundle.strange", {"file": shown(name)}) for name in strange]
    if large := [member.name for member in found if member.size > LARGEST_MEMBER]:
        return [Finding("bundle.large", {"file": shown(name)}) for name in large]
    listed = _listed(members)
    if listed is None:
        return [Finding("bundle.manifest")]
    problems = [Finding("bundle.unlisted", {"file": name}) for name in members if name not in {*listed, MANIFEST}]
    for name, expected in listed.items():
        if name not in members:
            problems.append(Finding("bundle.missing", {"file": shown(name)}))
        elif sha256(members[name].read(LARGEST_MEMBER)).hexdigest() != expected:
            problems.append(Finding("bundle.changed", {"file": name}))
    submissions = [name for name in members if name.startswith(SUBMISSION)]
    if not problems and (len(submissions) != 1 or _results(members) is None):
        problems.append(Finding("bundle.parts"))
    return problems or [*_unproven(members, submissions[0]), *_unproven_helpers(members)]


def _unproven(members: Mapping[str, zips.Member], submission: str) -> list[Finding]:
    """Return what is wrong where the submission is not the file that the results speak of."""
    results = _results(members)
    content = members[submission].read(LARGEST_MEMBER)
    expected = results["submission"].get("sha256") if results else None
    rejected = results is not None and results["status"] != "graded"
    proven = sha256(content).hexdigest() == expected or (rejected and not (content and expected))
    return [] if proven else [Finding("bundle.other_file", {"file": submission})]


def _unproven_helpers(members: Mapping[str, zips.Member]) -> list[Finding]:
    """Return what is wrong where the modules beside the submission are not those that the results speak of."""
    results = _results(members)
    expected = results["submission"].get("helpers", "") if results else ""
    content = members[HELPERS].read(LARGEST_MEMBER) if HELPERS in members else b""
    try:
        read_helpers(content)
        proven = (sha256(content).hexdigest() if HELPERS in members else "") == expected
    except ValueError:
        proven = False
    return [] if proven else [Finding("bundle.other_file", {"file": HELPERS})]


def _belongs(name: str) -> bool:
    """Whether a bundle may hold such a name: files side by side, and the submission in the one folder there is."""
    plain = name.removeprefix(SUBMISSION)
    return file_name(plain) == plain


def _listed(members: Mapping[str, zips.Member]) -> dict[str, str] | None:
    manifest = _json(members, MANIFEST)
    if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA:
        return None
    listed = manifest.get("files")
    return listed if isinstance(listed, dict) and all(type(value) is str for value in listed.values()) else None


def _results(members: Mapping[str, zips.Member]) -> dict[str, Any] | None:
    """Return the results where they have the parts that are compared."""
    results = _json(members, RESULTS)
    if not isinstance(results, dict) or type(results.get("status")) is not str:
        return None
    tests = results.get("tests")
    whole = isinstance(tests, list) and all(_is_test(test) for test in tests)
    return results if whole and isinstance(results.get("submission"), dict) else None


def _is_test(test: object) -> bool:
    return isinstance(test, dict) and all(type(test.get(name)) is kind for name, kind in _OF_A_TEST.items())


def _json(members: Mapping[str, zips.Member], name: str) -> object:
    if name not in members:
        return None
    try:
        return json.loads(members[name].read(LARGEST_MANIFEST))
    except (ValueError, RecursionError, zips.TooBig):
        return None


def differences(stored: Mapping[str, Any], again: Mapping[str, Any]) -> list[Finding]:
    """Return which tests of two results.json came out differently."""
    sides = [{t["id"]: (t["status"], t["points"]) for t in side["tests"]} for side in (stored, again)]
    ids: Iterable[str] = dict.fromkeys((*sides[0], *sides[1]))
    changed = [Finding("bundle.differs", {"case": i}) for i in ids if sides[0].get(i) != sides[1].get(i)]
    if stored["status"] != again["status"]:
        changed.insert(0, Finding("bundle.status", {"first": stored["status"], "second": again["status"]}))
    if stored["submission"].get("sha256") != again["submission"]["sha256"]:
        changed.insert(0, Finding("bundle.changed", {"file": stored["submission"].get("file", "?")}))
    return changed
