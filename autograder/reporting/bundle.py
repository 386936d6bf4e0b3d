"""One zip per student that proves itself: reports, results, the submission as received, and a manifest of hashes.

The same content gives the same bytes on every machine: members are sorted, carry a fixed date and are stored as is,
because what a compressor writes depends on its version.
"""

import json
import zipfile
import zlib
from collections.abc import Iterable, Mapping
from hashlib import sha256
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import Any

from autograder.findings import Finding
from autograder.reporting.results import SubmissionResult
from autograder.reporting.schema import to_bytes

SCHEMA = "autograder-bundle/1"
MANIFEST = "MANIFEST.json"
SUBMISSION = "submission/"
FIXED_DATE = (1980, 1, 1, 0, 0, 0)
LARGEST_MEMBER = 256 * 2**20
MOST_MEMBERS = 64
UNREADABLE = (OSError, EOFError, ValueError, RuntimeError, zipfile.BadZipFile, zlib.error)


def digest(content: Mapping[str, bytes]) -> str:
    """Return one SHA-256 over named contents, whatever their order; names and lengths count."""
    total = sha256()
    for name in sorted(content):
        total.update(f"{name}\0{len(content[name])}\0".encode())
        total.update(content[name])
    return total.hexdigest()


def make_bundle(
    result: SubmissionResult, files: Mapping[str, bytes], submission: bytes, hidden_tests: str, lock: str
) -> bytes:
    """Return the zip of one student.

    ``files`` are the student's files by name, ``submission`` is the file as received, ``hidden_tests`` and ``lock`` are
    the SHA-256 of what it was graded with.
    """
    members = dict(files) | {SUBMISSION + PurePosixPath(result.file).name: submission}
    manifest = {
        "schema": SCHEMA,
        "student": result.student,
        "files": {name: sha256(members[name]).hexdigest() for name in sorted(members)},
        "hidden_tests": hidden_tests,
        "lock": lock,
        "versions": dict(sorted(result.versions.items())),
        "devices": result.device.split("+"),
        "confinement": dict(sorted(result.confinement.items())),
    }
    return _zip({MANIFEST: to_bytes(manifest)} | members)


def _zip(members: Mapping[str, bytes]) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in sorted(members):
            info = zipfile.ZipInfo(name.encode("utf-8", "replace").decode(), FIXED_DATE)
            info.create_system, info.external_attr = 3, 0o100644 << 16
            archive.writestr(info, members[name])
    return buffer.getvalue()


def verify(path: Path) -> list[Finding]:
    """Return what is wrong with the bundle at ``path``: nothing when every file is what its manifest says."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _verify(archive)
    except UNREADABLE as error:
        return [Finding("bundle.unreadable", {"file": path.name, "error": type(error).__name__})]


def _verify(archive: zipfile.ZipFile) -> list[Finding]:
    infos = archive.infolist()
    names = [info.filename for info in infos]
    if len(names) > MOST_MEMBERS or len(set(names)) < len(names):
        return [Finding("bundle.members", {})]
    large = [info.filename for info in infos if info.file_size > LARGEST_MEMBER]
    if large:
        return [Finding("bundle.large", {"file": name}) for name in large]
    manifest = _manifest(archive) if MANIFEST in names else None
    if manifest is None:
        return [Finding("bundle.manifest", {})]
    listed = manifest["files"]
    problems = [Finding("bundle.unlisted", {"file": name}) for name in names if name not in {*listed, MANIFEST}]
    for name, expected in listed.items():
        if name not in names:
            problems.append(Finding("bundle.missing", {"file": name}))
        elif sha256(archive.read(name)).hexdigest() != expected:
            problems.append(Finding("bundle.changed", {"file": name}))
    return problems


def _manifest(archive: zipfile.ZipFile) -> dict[str, Any] | None:
    try:
        data = json.loads(archive.read(MANIFEST))
    except (ValueError, RecursionError):
        return None
    usable = isinstance(data, dict) and data.get("schema") == SCHEMA and isinstance(data.get("files"), dict)
    return data if usable else None


def submission_of(path: Path) -> tuple[str, bytes]:
    """Return name and content of the submission inside a verified bundle, so that it can be graded again."""
    with zipfile.ZipFile(path) as archive:
        name = next(n for n in archive.namelist() if n.startswith(SUBMISSION))
        return name.removeprefix(SUBMISSION), archive.read(name)


def results_of(path: Path) -> dict[str, Any]:
    """Return results.json inside a verified bundle."""
    with zipfile.ZipFile(path) as archive:
        data = json.loads(archive.read("results.json"))
    assert isinstance(data, dict)
    return data


def differences(stored: Mapping[str, Any], again: Mapping[str, Any]) -> list[Finding]:
    """Return which tests of two results.json came out differently."""
    sides = [{t["id"]: (t["status"], t["points"]) for t in side["tests"]} for side in (stored, again)]
    ids: Iterable[str] = dict.fromkeys((*sides[0], *sides[1]))
    changed = [Finding("bundle.differs", {"case": i}) for i in ids if sides[0].get(i) != sides[1].get(i)]
    if stored["status"] != again["status"]:
        changed.insert(0, Finding("bundle.status", {"first": stored["status"], "second": again["status"]}))
    return changed
