"""Print a graded run as Markdown without names, and write pseudonyms.csv into it: ci/summary.py OUT [--junit FILE]."""

import argparse
import sys
from pathlib import Path

from autograder.config import ConfigError, load_config
from autograder.grading.many.journal import JournalError
from autograder.grading.many.rerender import results
from autograder.reporting.feedback import visible
from autograder.reporting.files import write_atomic
from autograder.reporting.junit import junit
from autograder.reporting.results import grade_line
from autograder.reporting.summary import pseudonyms, render_summary, who_is_who
from autograder.reporting.words import Words


def main(out: Path, junit_file: Path | None) -> None:
    """Summarise the run in ``out``; with ``junit_file``, write the only student's checks there as JUnit XML."""
    config = load_config(Path.cwd())
    words = Words(config.language)
    graded = list(results(out).values())
    names = pseudonyms(graded)
    write_atomic(out / "pseudonyms.csv", who_is_who(names))
    if junit_file:
        if len(graded) > 1:
            raise JournalError(f"{out} holds {len(graded)} students, and --junit is for one; leave it out.")
        write_atomic(junit_file, junit(visible(graded[0], config.feedback), words))
    print(render_summary([grade_line(result) for result in graded], names, words), end="")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--junit", type=Path, metavar="FILE")
    arguments = parser.parse_args()
    try:
        main(arguments.out, arguments.junit)
    except (ConfigError, JournalError) as error:
        sys.exit(f"summary: {error}")
