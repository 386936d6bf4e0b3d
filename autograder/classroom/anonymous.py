"""Results without their authors: pseudonyms for folders, reports and bundles."""

from dataclasses import replace
from pathlib import PurePosixPath

from autograder.findings import Finding
from autograder.identity import NOBODY
from autograder.reporting.results import SubmissionResult


def anonymous(result: SubmissionResult, pseudonym: str) -> SubmissionResult:
    """Return ``result`` under a pseudonym; file names go, since platforms write names into them."""
    file = f"submission{PurePosixPath(result.file).suffix}"

    def nameless(finding: Finding) -> Finding:
        named = {key: file if key in ("file", "files", "others", "newest") else v for key, v in finding.details.items()}
        return replace(finding, details=named)

    return replace(
        result,
        student=pseudonym,
        file=file,
        who=NOBODY,
        rejected=nameless(result.rejected) if result.rejected else None,
        notes=tuple(map(nameless, result.notes)),
        gradescope={},
    )
