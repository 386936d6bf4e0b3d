"""The command line: parses, prints, exits."""

import click

from autograder import __version__
from autograder.cli import after, course, gradebook, grading, results, serving


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def main() -> None:
    """Grade the PagedAttention assignment."""


for _command in (
    grading.list_students,
    grading.grade,
    results.report,
    results.merge,
    results.bundle,
    results.hold,
    gradebook.export,
    after.compare,
    after.replay,
    after.feedback,
    after.similar,
    course.mutation,
    course.release,
    course.seed,
    course.cases,
    grading.doctor,
    serving.serve_check,
):
    main.add_command(_command)
