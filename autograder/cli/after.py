"""Commands after the grade: compare, replay, feedback, similar."""

import sys
from pathlib import Path

import click

from autograder.cli.common import FILE, FOLDER, LANG, PATH, course, in_one_sentence, on_linux


@click.command()
@click.argument("old", type=FOLDER)
@click.argument("new", type=FOLDER)
@click.option("--never-lower", is_flag=True, help="Where the same file got fewer points in NEW, put the old back.")
@LANG
@in_one_sentence
def compare(old: Path, new: Path, never_lower: bool, lang: str | None) -> None:
    """Say who changed between two runs, in which case, up or down, and why."""
    from autograder.classroom import compare as comparing
    from autograder.grading.many.rerender import current_results, put_back, standings_of

    config, words = course(lang)
    sides = []
    for out in (old, new):
        results = current_results(out, config)
        standings = standings_of(out, results, config)
        sides.append({student: (result, standings[student]) for student, result in results.items()})
    changes, gone, come = comparing.compare(sides[0], sides[1])
    for line in (line for change in changes for line in change.lines()):
        click.echo(line)
    up = sum(change.after > change.before for change in changes)
    down = sum(change.after < change.before for change in changes)
    click.echo(words.text("compare.summary", changed=len(changes), up=up, down=down))
    for key, names in (("compare.gone", gone), ("compare.come", come)):
        if names:
            click.echo(words.text(key, count=len(names), names=", ".join(names[:10])))
    if never_lower:
        kept = comparing.never_lower(sides[0], sides[1], changes)
        put_back(new, kept, config, words)
        click.echo(words.text("compare.put_back", count=len(kept)))


@click.command()
@click.argument("block", type=FILE)
@click.argument("out", type=FOLDER)
@LANG
@in_one_sentence
@on_linux
def replay(block: Path, out: Path, lang: str | None) -> None:
    """Grade the file that a student's request block speaks of again, alone, and show what happens."""
    from autograder.grading.many.replay import replay as show_again
    from autograder.reporting.request import read_block

    config, words = course(lang)
    request = read_block(block.read_text(encoding="utf-8", errors="replace"))
    shown, same = show_again(request, out, config, words)
    click.echo(shown)
    click.echo(words.text("replay.same" if same else "replay.differs"))
    if not same:
        sys.exit(1)


@click.command()
@click.argument("out", type=FOLDER)
@click.option(
    "--for", "platform", type=click.Choice(["moodle", "mail"]), required=True, help="Moodle's zip, or letters."
)
@click.option("--roster", type=FILE, help="The class list that knows the addresses.")
@LANG
@in_one_sentence
def feedback(out: Path, platform: str, roster: Path | None, lang: str | None) -> None:
    """Pack the reports so that a platform, or mail, takes them back to the students."""
    from autograder.classroom.enrolled import addresses
    from autograder.classroom.feedback import REPORT, letters, moodle_zip
    from autograder.grading.many.rerender import current_results
    from autograder.reporting.files import write_atomic

    config, words = course(lang)
    results = current_results(out, config)
    reports = {student: out / "students" / student / REPORT for student in results}
    written = {student: path.read_bytes() for student, path in reports.items() if path.is_file()}
    if platform == "moodle":
        content, count = moodle_zip((results[student].who, report) for student, report in written.items())
        target = out / "feedback-moodle.zip"
        write_atomic(target, content)
    else:
        known = addresses(out, roster, results)
        files = letters({s: (known[s], report) for s, report in written.items() if s in known}, words)
        target = out / "mail"
        target.mkdir(exist_ok=True)
        for name, content in files.items():
            write_atomic(target / name, content)
        count = len(files) - 1
    click.echo(words.text("progress.packed.text", count=count, total=len(results), file=str(target)))


@click.command()
@click.argument("out", type=FOLDER)
@click.option("--starter", type=FILE, default="assignment/paged_attention.en.py", show_default=True, help="Subtracted.")
@click.option("--to", type=PATH, help="The folder to write; OUT/similar by default.")
@in_one_sentence
def similar(out: Path, starter: Path, to: Path | None) -> None:
    """Write what students put into the TODOs in the folder form that JPlag and Dolos compare; no score of our own."""
    from autograder.grading.many.similar import write_bodies

    target = to or out / "similar"
    click.echo(f"{write_bodies(out, starter, target)} written into {target}.")
