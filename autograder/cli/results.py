"""Commands on what a run left behind: report, merge, bundle, hold."""

from collections.abc import Sequence
from pathlib import Path

import click

import autograder
from autograder.cli.common import (
    FILE,
    FOLDER,
    LANG,
    PATH,
    OneSentence,
    complain,
    course,
    in_one_sentence,
    say_where_settings_are_from,
)
from autograder.system import demand_linux

LOCK = Path(autograder.__file__).parents[1] / "ci" / "requirements.lock"


@click.command()
@click.argument("out", type=FOLDER)
@click.option("--roster", type=FILE, help="The class list: who is missing, and who is not on it.")
@click.option("--anonymous", is_flag=True, help="Write OUT/anonymous under pseudonyms instead.")
@LANG
@in_one_sentence
def report(out: Path, roster: Path | None, anonymous: bool, lang: str | None) -> None:
    """Write every report, grades.csv and the class page in OUT again, from its journal."""
    from autograder.grading.many.hand_out import write_anonymous
    from autograder.grading.many.outdated import needs_a_new_run
    from autograder.grading.many.rerender import render, usable

    config, words = course(lang)
    if anonymous:
        click.echo(write_anonymous(out, config, words))
        return
    found = usable(out)
    lines, problems = render(out, config, words, roster, found)
    click.echo(words.text("progress.rendered.text", total=len(lines), students=str(out / "students")))
    say_where_settings_are_from(words)
    for note in needs_a_new_run(found.results.values(), config):
        click.echo(f"{words.sentence(note)} {words.advice(note)}", err=True)
    complain(problems, exit_code=1)


@click.command()
@click.argument("runs", nargs=-1, required=True, type=FOLDER)
@click.option("-o", "--out", required=True, type=PATH, help="The merged run goes here.")
@LANG
@in_one_sentence
def merge(runs: Sequence[Path], out: Path, lang: str | None) -> None:
    """Merge runs, such as shards or CPU and GPU, into one."""
    from autograder.grading.many.rerender import merge_runs

    config, words = course(lang)
    lines, problems = merge_runs(runs, out, config, words)
    click.echo(words.text("progress.rendered.text", total=len(lines), students=str(out / "students")))
    complain(problems, words)


@click.command()
@click.argument("out", type=FOLDER, required=False)
@click.option("--verify", "bundle_zip", type=click.Path(path_type=Path, exists=True), help="Check one bundle instead.")
@click.option("--regrade", is_flag=True, help="With --verify: grade the submission in it again and compare.")
@click.option("--lock", type=FILE, default=None, help="The lock file that was graded with; the checkout's by default.")
@click.option("--anonymous", is_flag=True, help="Write OUT/anonymous/bundles under pseudonyms instead.")
@LANG
@in_one_sentence
def bundle(
    out: Path | None, bundle_zip: Path | None, regrade: bool, lock: Path | None, anonymous: bool, lang: str | None
) -> None:
    """Write OUT/bundles/<student>.zip for everyone, or check one such zip."""
    from autograder.findings import Finding
    from autograder.grading.many.hand_out import write_bundles
    from autograder.grading.many.rerender import refresh
    from autograder.grading.many.verify_bundle import unproven, verify_bundle

    config, words = course(lang)
    if (out is None) == (bundle_zip is None):
        raise OneSentence("Name a graded OUT, or one bundle with --verify.")
    if out is not None:
        paths, without = write_bundles(out, (lock or LOCK).read_bytes(), config, words, anonymous)
        refresh(out, config, words)
        say_where_settings_are_from(words)
        click.echo(words.text("progress.bundled.text", total=len(paths), bundles=str(out / "bundles")))
        complain([Finding("bundle.no_file", {"student": student}) for student in without], words)
        return
    assert bundle_zip is not None
    if regrade:
        demand_linux("Grading again")
    problems = verify_bundle(bundle_zip, regrade, config, words)
    complain(problems, words)
    click.echo(words.text("progress.verified.text", file=bundle_zip.name))
    for note in unproven(bundle_zip):
        click.echo(words.sentence(note))


@click.command()
@click.argument("out", type=FOLDER)
@click.argument("students", nargs=-1)
@click.option("--reason", default="", help="Why; for the staff alone.")
@click.option("--by", default="", help="Who says so.")
@click.option("--release", "free", is_flag=True, help="Give the results out again.")
@LANG
@in_one_sentence
def hold(out: Path, students: Sequence[str], reason: str, by: str, free: bool, lang: str | None) -> None:
    """Keep STUDENTS' results (by id, login or folder) out of reports, bundles and exports, or show who is held."""
    from autograder.classroom import holds
    from autograder.grading.many.hand_out import take_back
    from autograder.grading.many.rerender import current_results, render_some, standings_of

    config, words = course(lang)
    results = current_results(out, config)
    if students and free:
        found = holds.release(out, results, students)
        render_some(out, found, config, words)
    elif students:
        found = holds.hold(out, results, students, reason, by)
        take_back(out, found, config, words)
        render_some(out, found, config, words)
    held = {s: standing.held for s, standing in standings_of(out, results, config).items() if standing.held}
    for student, why in held.items():
        click.echo(f"{student}: {why}")
    click.echo(words.text("progress.holding.text", count=len(held)))
