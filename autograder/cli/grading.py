"""Commands that read submissions: grade, list, doctor."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from autograder.cli.common import (
    DEVICE,
    FILE,
    LANG,
    PATH,
    Interrupted,
    OneSentence,
    complain,
    course,
    demand,
    in_one_sentence,
    on_linux,
    say_where_settings_are_from,
)
from autograder.errors import GraderError


class Shard(click.ParamType[tuple[int, int]]):
    """The ``i``-th of ``n`` equal parts of a batch, written ``i/n``."""

    name = "i/n"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        part, slash, parts = str(value).partition("/")
        if not (slash and part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
            self.fail(f"{value!r} is not a shard; write for example 2/4.", param, ctx)
        return int(part), int(parts)


def who_is_there(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say how a download is laid out."""
    from autograder.intake.layout import LAYOUTS

    for option in (
        click.option("--roster", type=FILE, help="The class list: who is missing, and who is not on it."),
        click.option("--choose", type=FILE, help="A CSV with id,file: which of a student's files counts."),
        click.option("--pattern", default="", help="A regular expression with groups id, name, login, email, attempt."),
        click.option(
            "--layout", type=click.Choice(LAYOUTS), default="auto", help="Whose download it is; found by itself."
        ),
    ):
        command = option(command)
    return command


def _entries(paths: Sequence[Path], layout: str, pattern: str, choose: Path | None) -> list[Any]:
    from autograder.intake.choices import choose_files
    from autograder.intake.discover import discover

    entries = discover(paths, layout, pattern)
    return choose_files(entries, choose) if choose else entries


@click.command("list")
@click.argument("paths", nargs=-1, required=True, type=PATH)
@who_is_there
@LANG
@in_one_sentence
def list_students(
    paths: Sequence[Path], layout: str, pattern: str, choose: Path | None, roster: Path | None, lang: str | None
) -> None:
    """Show who is found in PATHS, from which file and attempt, and what is left out, without grading."""
    from autograder.classroom.enrolled import on_list
    from autograder.classroom.roster import read_roster
    from autograder.progress import show_entries

    _, words = course(lang, paths)
    listed = read_roster(roster) if roster else None
    entries = _entries(paths, layout, pattern, choose)
    show_entries(entries)
    if listed:
        found = on_list(((entry.student, entry.who) for entry in entries), listed)
        names = ", ".join(f"{person.name} ({person.id})".strip() for person in found.listed.missing)
        click.echo(words.text("progress.missing.text", count=len(found.listed.missing), names=names or "-"))
        complain(found.problems, exit_code=1)


@click.command()
@click.argument("paths", nargs=-1, required=True, type=PATH)
@click.option("-o", "--out", default="out", show_default=True, type=PATH, help="Results go here.")
@click.option("--jobs", type=click.IntRange(1), help="Submissions graded side by side; one per core by default.")
@DEVICE
@LANG
@click.option("--resume", is_flag=True, help="Keep what OUT already holds and grade the rest.")
@click.option("--allow-weak", is_flag=True, help="Grade even where the confinement probe finds a hole.")
@click.option("--cluster", default="", metavar="ADDRESS", help="Grade on the Dask cluster of this scheduler.")
@click.option("--shard", type=Shard(), default="1/1", help="Grade only the i-th of n parts of the batch.")
@who_is_there
@in_one_sentence
@on_linux
def grade(
    paths: Sequence[Path],
    out: Path,
    jobs: int | None,
    device: str,
    lang: str | None,
    resume: bool,
    allow_weak: bool,
    cluster: str,
    shard: tuple[int, int],
    layout: str,
    pattern: str,
    choose: Path | None,
    roster: Path | None,
) -> None:
    """Grade notebooks, Jupytext files, zips, or folders of them."""
    from autograder.classroom.roster import read_roster
    from autograder.contract.seed import read_seed
    from autograder.grading.many.batch import Settings, grade_batch
    from autograder.grading.many.rerender import refresh
    from autograder.progress import Progress
    from autograder.system import usable_cores

    if cluster:
        demand("distributed", "cluster")
    config, words = course(lang, paths)
    for path in paths:
        if path.is_dir() and out.resolve().is_relative_to(path.resolve()):
            raise OneSentence(f"{out} lies in {path}, so a later run would take it for a student's; choose another -o.")
    if roster:
        read_roster(roster)  # a list of no use stops here, before anything is graded
    entries = _entries(paths, layout, pattern, choose)[shard[0] - 1 :: shard[1]]
    say_where_settings_are_from(words, paths)
    if device == "cpu" and read_seed(config.seed_file).is_public:
        click.echo(words.text("progress.public_seed.text"), err=True)
    settings = Settings(config, words.lang, jobs or usable_cores(), resume, allow_weak, device, cluster)
    try:
        with Progress(len(entries), words) as progress:
            lines = grade_batch(entries, out, settings, progress.advance)
    except KeyboardInterrupt:
        raise Interrupted(f"Stopped; {out} keeps what was graded: run the same command with --resume.") from None
    problems = refresh(out, config, words, roster)
    progress.summary(lines, out)
    complain(problems, exit_code=1)
    if any(line.status != "graded" for line in lines):
        sys.exit(1)


@click.command()
@DEVICE
@in_one_sentence
@on_linux
def doctor(device: str) -> None:
    """Show which confinement layers are active here, and what to do about the rest."""
    from autograder.grading.doctor import examine

    diagnosis = examine(device)
    for line in diagnosis.lines:
        click.echo(line)
    if not diagnosis.safe:
        sys.exit(GraderError.exit_code)
