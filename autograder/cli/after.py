"""Commands after the grade: compare, replay, feedback."""

import sys
from pathlib import Path

import click

from autograder.cli.common import FILE, FOLDER, LANG, course, in_one_sentence


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
