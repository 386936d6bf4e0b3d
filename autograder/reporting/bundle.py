"""One zip per student that proves itself: reports, results, the submission as received, and a manifest of hashes.

The same content gives the same bytes on every machine: members are sorted, carry a fixed date and are stored as is,
because what a compressor writes depends on its version.
"""

import zipfile
from collections.abc import Mapping
from hashlib import sha256
from io import BytesIO
from pathlib import PurePosixPath

from autograder.outside.names import file_name
from autograder.reporting.results import SubmissionResult
from autograder.reporting.schema import to_bytes

SCHEMA = "autograder-bundle/1"
MANIFEST = "MANIFEST.json"
SUBMISSION = "submission/"
FIXED_DATE = (1980, 1, 1, 0, 0, 0)
RESULTS = "results.json"


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
    members = dict(files) | {SUBMISSION + file_name(PurePosixPath(result.file).name): submission}
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
