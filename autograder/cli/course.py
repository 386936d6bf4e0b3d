"""Commands for whoever makes the course: mutation, release, seed, cases."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from autograder.cli.common import LANG, PATH, course, in_one_sentence, on_linux


@click.command()
@click.argument("mutants", nargs=-1, required=True, type=PATH)
@click.option("--jobs", type=click.IntRange(1), help="Mutants graded side by side; one per core by default.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines.")
@in_one_sentence
@on_linux
def mutation(mutants: Sequence[Path], jobs: int | None, as_json: bool) -> None:
    """Score the hidden tests on wrong submissions: module files, catalogues of patches, or folders of them."""
    import json

    from autograder.grading.mutation.mutants import load_mutants
    from autograder.grading.mutation.score import score_mutants, summary
    from autograder.system import usable_cores

    scores = []
    for score in score_mutants(load_mutants(mutants), jobs or usable_cores()):
        scores.append(score)
        if not as_json:
            click.echo(score.line())
    total = summary(scores)
    click.echo(json.dumps({**total, "mutants": [s.to_json() for s in scores]}, indent=2) if as_json else total["text"])
    if not total["all_killed"] or not total["all_attributed"]:
        sys.exit(1)


@click.command()
@click.option("--zip", "as_zip", is_flag=True, help="Make autograder.zip for Otter and Gradescope instead.")
@click.option("--check", is_flag=True, help="Write nothing; fail where what is there does not come from these sources.")
@click.option("--solution", is_flag=True, help="Make the explained solution instead, to hand out after the deadline.")
@click.option("--students", type=PATH, metavar="DIR", help="Write what students get into the new folder DIR instead.")
@click.option(
    "--grader", type=PATH, metavar="DIR", help="Write the grader without solutions and seed into DIR instead."
)
@in_one_sentence
def release(as_zip: bool, check: bool, solution: bool, students: Path | None, grader: Path | None) -> None:
    """Make what students receive from the master, or autograder.zip from this package."""
    from autograder.release import ReleaseError, checkout

    root = checkout(Path.cwd())
    if as_zip:
        from autograder.release import zip as autograder_zip
        from autograder.release import zip_check

        if check:
            zip_check.check(root)
        else:
            click.echo(autograder_zip.write(root).relative_to(root))
        return
    from autograder.release import handout, notebooks

    if grader:
        handout.write_grader(root, grader)
        click.echo(grader)
    elif students:
        for path in handout.write_students(root, students):
            click.echo(path)
    elif solution:
        for path in notebooks.write_solution(root):
            click.echo(path)
    elif not check:
        click.echo("\n".join(notebooks.write(root)) or "Everything is as the master and the settings give it already.")
    elif changed := notebooks.drift(root):
        raise ReleaseError(f"{', '.join(changed)}: not what the master gives; run `autograder release`.")


@click.command()
@click.argument("file", default="course-seed.txt", type=PATH)
@in_one_sentence
def seed(file: Path) -> None:
    """Write a fresh course seed into FILE; the drawn cases are drawn from it, and nobody else's are the same."""
    from autograder.contract.seed import write_seed

    _, words = course(None)
    made = write_seed(file)
    click.echo(words.text("progress.seed.text", file=str(file), sha256=made.sha256))


@click.command()
@LANG
@in_one_sentence
def cases(lang: str | None) -> None:
    """Print every case with its points, and for those drawn from the course seed what they are drawn from."""
    from autograder.reporting.cases import lines

    _, words = course(lang)
    for line in lines(words):
        click.echo(line)
