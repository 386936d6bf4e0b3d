"""The command line: parses, prints, exits."""

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click

from autograder import __version__
from autograder.errors import GraderError

FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
PATH = click.Path(path_type=Path)


class OneSentence(click.ClickException):
    """A set-up or usage error: one sentence, exit code 2."""

    exit_code = GraderError.exit_code

    def show(self, file: Any = None) -> None:
        click.echo(f"autograder: {self.message}", err=True)


def _in_one_sentence(command: Callable[..., None]) -> Callable[..., None]:
    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except GraderError as error:
            raise OneSentence(str(error)) from error
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            raise OneSentence(f"{error.strerror or error}{where}; mend that and run the same command again.") from error

    return wrapped


class Shard(click.ParamType[tuple[int, int]]):
    """The ``i``-th of ``n`` equal parts of a batch, written ``i/n``."""

    name = "i/n"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        part, slash, parts = str(value).partition("/")
        if not (slash and part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
            self.fail(f"{value!r} is not a shard; write for example 2/4.", param, ctx)
        return int(part), int(parts)


DEVICE = click.option(
    "--device",
    type=click.Choice(["cpu", "fakegpu", "cuda"]),
    default="cpu",
    show_default=True,
    help="cpu judges q1 to q5, cuda g1 to g4; fakegpu says whether a submission is ready for a GPU.",
)
LANG = click.option("--lang", type=click.Choice(["en", "zh"]), help="Language of the reports.")


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def main() -> None:
    """Grade the PagedAttention assignment."""


@main.command()
@click.argument("paths", nargs=-1, required=True, type=PATH)
@click.option("-o", "--out", default="out", show_default=True, type=PATH, help="Results go here.")
@click.option("--jobs", type=click.IntRange(1), help="Submissions graded side by side; one per core by default.")
@DEVICE
@LANG
@click.option("--resume", is_flag=True, help="Keep what OUT already holds and grade the rest.")
@click.option("--allow-weak", is_flag=True, help="Grade even where the confinement probe finds a hole.")
@click.option("--shard", type=Shard(), default="1/1", help="Grade only the i-th of n parts of the batch.")
@_in_one_sentence
def grade(
    paths: Sequence[Path],
    out: Path,
    jobs: int | None,
    device: str,
    lang: str | None,
    resume: bool,
    allow_weak: bool,
    shard: tuple[int, int],
) -> None:
    """Grade notebooks, Jupytext files, zips, or folders of them."""
    from autograder.contract.seed import read_seed
    from autograder.grading.many.batch import Settings, grade_batch
    from autograder.grading.many.cores import usable_cores
    from autograder.intake.discover import discover
    from autograder.progress import Progress

    config, words = _course(lang, paths)
    entries = discover(paths)[shard[0] - 1 :: shard[1]]
    if device == "cpu" and read_seed(config.seed_file).is_public:
        click.echo(words.text("progress.public_seed.text"), err=True)
    settings = Settings(config, words.lang, jobs or usable_cores(), resume, allow_weak, device)
    with Progress(len(entries), words) as progress:
        lines = grade_batch(entries, out, settings, progress.advance)
    progress.summary(lines, out)
    if any(line.status != "graded" for line in lines):
        sys.exit(1)


@main.command()
@click.argument("out", type=FOLDER)
@LANG
@_in_one_sentence
def report(out: Path, lang: str | None) -> None:
    """Write every report and grades.csv in OUT again, from its journal."""
    from autograder.grading.many.rerender import render

    config, words = _course(lang)
    lines = render(out, config, words)
    click.echo(words.text("progress.rendered.text", total=len(lines), students=str(out / "students")))


@main.command()
@click.argument("runs", nargs=-1, required=True, type=FOLDER)
@click.option("-o", "--out", required=True, type=PATH, help="The merged run goes here.")
@LANG
@_in_one_sentence
def merge(runs: Sequence[Path], out: Path, lang: str | None) -> None:
    """Merge runs, such as shards or CPU and GPU, into one."""
    from autograder.grading.many.rerender import merge_runs

    config, words = _course(lang)
    lines, problems = merge_runs(runs, out, config, words)
    for problem in problems:
        click.echo(words.sentence(problem), err=True)
    click.echo(words.text("progress.rendered.text", total=len(lines), students=str(out / "students")))
    if problems:
        sys.exit(GraderError.exit_code)


@main.command()
@click.argument("out", type=FOLDER, required=False)
@click.option("--verify", "bundle_zip", type=click.Path(path_type=Path, exists=True), help="Check one bundle instead.")
@click.option("--regrade", is_flag=True, help="With --verify: grade the submission in it again and compare.")
@click.option("--lock", type=PATH, default=Path("ci/requirements.lock"), help="The lock file that was graded with.")
@LANG
@_in_one_sentence
def bundle(out: Path | None, bundle_zip: Path | None, regrade: bool, lock: Path, lang: str | None) -> None:
    """Write OUT/bundles/<student>.zip for everyone, or check one such zip."""
    from autograder.grading.many.rerender import write_bundles
    from autograder.grading.many.verify_bundle import unproven, verify_bundle

    config, words = _course(lang)
    if (out is None) == (bundle_zip is None):
        raise OneSentence("Name a graded OUT, or one bundle with --verify.")
    if out is not None:
        paths = write_bundles(out, lock.read_bytes() if lock.is_file() else b"", config, words)
        click.echo(words.text("progress.bundled.text", total=len(paths), bundles=str(out / "bundles")))
        return
    assert bundle_zip is not None
    problems = verify_bundle(bundle_zip, regrade, config, words)
    for problem in problems:
        click.echo(words.sentence(problem), err=True)
    if problems:
        sys.exit(GraderError.exit_code)
    click.echo(words.text("progress.verified.text", file=bundle_zip.name))
    for note in unproven(bundle_zip):
        click.echo(words.sentence(note))


@main.command()
@click.argument("mutants", nargs=-1, required=True, type=PATH)
@click.option("--jobs", type=click.IntRange(1), help="Mutants graded side by side; one per core by default.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines.")
@_in_one_sentence
def mutation(mutants: Sequence[Path], jobs: int | None, as_json: bool) -> None:
    """Score the hidden tests on wrong submissions: module files, catalogues of patches, or folders of them."""
    import json

    from autograder.grading.many.cores import usable_cores
    from autograder.grading.mutation.mutants import load_mutants
    from autograder.grading.mutation.score import score_mutants, summary

    scores = []
    for score in score_mutants(load_mutants(mutants), jobs or usable_cores()):
        scores.append(score)
        if not as_json:
            click.echo(score.line())
    total = summary(scores)
    click.echo(json.dumps({**total, "mutants": [s.to_json() for s in scores]}, indent=2) if as_json else total["text"])
    if not total["all_killed"] or not total["all_attributed"]:
        sys.exit(1)


@main.command()
@click.option("--zip", "as_zip", is_flag=True, help="Make autograder.zip for Otter and Gradescope instead.")
@click.option("--check", is_flag=True, help="Write nothing; fail where what is there does not come from these sources.")
@click.option("--solution", is_flag=True, help="Make the explained solution instead, to hand out after the deadline.")
@_in_one_sentence
def release(as_zip: bool, check: bool, solution: bool) -> None:
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
    from autograder.release import notebooks

    if solution:
        for path in notebooks.write_solution(root):
            click.echo(path)
    elif not check:
        notebooks.write(root)
    elif changed := notebooks.drift(root):
        raise ReleaseError(f"{', '.join(changed)}: not what the master gives; run `autograder release`.")


@main.command()
@click.argument("file", default="course-seed.txt", type=PATH)
@_in_one_sentence
def seed(file: Path) -> None:
    """Write a fresh course seed into FILE; the drawn cases are drawn from it, and nobody else's are the same."""
    from autograder.contract.seed import write_seed

    _, words = _course(None)
    made = write_seed(file)
    click.echo(words.text("progress.seed.text", file=str(file), sha256=made.sha256))


@main.command()
@LANG
@_in_one_sentence
def cases(lang: str | None) -> None:
    """Print every case with its points, and for those drawn from the course seed what they are drawn from."""
    from autograder.reporting.cases import lines

    _, words = _course(lang)
    for line in lines(words):
        click.echo(line)


@main.command()
@DEVICE
@_in_one_sentence
def doctor(device: str) -> None:
    """Show which confinement layers are active here, and what to do about the rest."""
    from autograder.grading.doctor import examine

    diagnosis = examine(device)
    for line in diagnosis.lines:
        click.echo(line)
    if not diagnosis.safe:
        sys.exit(GraderError.exit_code)


def _course(lang: str | None, handed_in: Sequence[Path] = ()) -> tuple[Any, Any]:
    from autograder.config import load_config
    from autograder.reporting.words import Words

    config = load_config(Path.cwd(), handed_in)
    return config, Words(lang or config.language)
