"""Commands between a run and the platform's gradebook: export."""

import sys
from pathlib import Path
from typing import Any, Literal

import click

from autograder.cli.common import FILE, FOLDER, LANG, PATH, course, in_one_sentence

WORTH = click.Choice(["refuse", "skip", "zero"])


@click.command()
@click.argument("out", type=FOLDER)
@click.option("--fill", "gradebook", type=FILE, required=True, help="The file that the platform exported.")
@click.option("--to", type=PATH, help="The filled file; OUT/gradebook-<name of the file> by default.")
@click.option("--column", default="", help="The column, or nbgrader's assignment, where several are.")
@click.option("--pending", type=WORTH, default="refuse", show_default=True, help="What points still pending are worth.")
@click.option(
    "--ungradable", type=WORTH, default="refuse", show_default=True, help="What a file not gradable is worth."
)
@click.option("--missing", type=click.Choice(["skip", "zero"]), default="skip", show_default=True, help="Nothing in.")
@click.option("--scale/--no-scale", default=None, help="Convert points to another total.")
@click.option("--match", "settled", type=FILE, help="A CSV with student,id that settles whose a submission is.")
@LANG
@in_one_sentence
def export(out: Path, gradebook: Path, to: Path | None, lang: str | None, **terms: Any) -> None:
    """Fill a run's points into the gradebook file that the platform exported."""
    from autograder.classroom.enrolled import kept_list
    from autograder.classroom.export import Terms
    from autograder.classroom.export import export as fill_in
    from autograder.grading.many.rerender import current_results, standings_of
    from autograder.reporting.files import write_atomic

    config, words = course(lang)
    results = current_results(out, config)
    filled = fill_in(results, standings_of(out, results, config), gradebook, Terms(**terms), kept_list(out))
    target = to or out / f"gradebook-{gradebook.name}"
    write_atomic(target, filled.content)
    click.echo(words.text("progress.filled.text", filled=filled.filled, file=str(target)))
    unsaid: tuple[tuple[Literal["missing", "stranger", "held"], list[str]], ...] = (
        ("missing", [person.label for person in filled.matches.missing]),
        ("held", filled.held),
        ("stranger", filled.matches.strangers),
    )
    for kind, names in unsaid:
        if names:
            click.echo(words.text(f"progress.{kind}.text", count=len(names), names=", ".join(names[:10])), err=True)
    if filled.matches.strangers:
        sys.exit(1)
