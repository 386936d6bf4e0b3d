"""Every platform's download of a class with namesakes, packed and unpacked: all found, none merged, none invented."""

import re

import pytest
from downloads import Download, downloads, lay_out

from autograder.intake.discover import discover
from autograder.intake.read import read


def tags_of(cells: tuple[str, ...]) -> list[str]:
    return re.findall(r"# tag: (\S+)", "\n".join(cells))


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
@pytest.mark.parametrize("download", downloads(40), ids=lambda download: download.name)
def test_everyone_is_found_under_the_platforms_id_with_the_attempt_that_counts(
    download: Download, packed: bool, tmp_path
) -> None:
    entries = discover([lay_out(download, tmp_path, packed)], download.packed_layout if packed else "auto")
    tags = [
        (entry.who.id or entry.student, re.findall(r"# tag: (\S+)", "\n".join(read(entry).cells))) for entry in entries
    ]
    assert sorted(tags) == sorted((ident, [tag]) for ident, tag in download.found.items())
