"""What all commands share: one sentence for an error, the types of arguments, the course's settings."""

import importlib.util
import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click

from autograder.errors import GraderError
from autograder.system import demand_linux

FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)
FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
PATH = click.Path(path_type=Path)
LANG = click.option("--lang", type=click.Choice(["en", "zh"]), help="Language of the reports.")
DEVICE = click.option(
    "--device",
    type=click.Choice(["cpu", "fakegpu", "cuda"]),
    default="cpu",
    show_default=True,
    help="cpu judges q1 to q5, cuda g1 to g4; fakegpu says whether a submission is ready for a GPU.",
)


class OneSentence(click.ClickException):
    """A set-up or usage error: one sentence, exit code 2."""

    exit_code = GraderError.exit_code

    def show(self, file: Any = None) -> None:
        click.echo(f"autograder: {self.message}", err=True)


class Interrupted(OneSentence):
    """Somebody pressed Ctrl-C; the exit code is the shell's for that."""

    exit_code = 130


def in_one_sentence(command: Callable[..., None]) -> Callable[..., None]:
    """Turn a known error of ``command`` into one sentence and exit code 2."""

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


def on_linux(command: Callable[..., None]) -> Callable[..., None]:
    """Refuse ``command``, which runs what students wrote, in one sentence on any other system."""

    @wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        demand_linux("Grading")
        command(*args, **kwargs)

    return wrapped


def course(lang: str | None, handed_in: Sequence[Path] = ()) -> tuple[Any, Any]:
    """Return the settings that hold here, none of what was handed in, and the words in the language asked for."""
    from autograder.config import load_config
    from autograder.reporting.words import Words

    config = load_config(Path.cwd(), handed_in)
    return config, Words(lang or config.language)


def demand(package: str, extra: str) -> None:
    """End in one sentence where a package is missing that only an extra of ours brings."""
    if importlib.util.find_spec(package) is None:
        raise OneSentence(f"{package} is missing; install it with: pip install 'paged-attention-autograder[{extra}]'")


def say_where_settings_are_from(words: Any, handed_in: Sequence[Path] = ()) -> None:
    """Tell whoever stands outside the course's folder that its settings do not hold here."""
    from autograder.config import settings_file

    if settings_file(Path.cwd(), handed_in) is None:
        click.echo(words.text("progress.defaults.text"), err=True)


def complain(problems: Any, words: Any = None, exit_code: int = GraderError.exit_code) -> None:
    """Print every problem on a line of its own, and end with an exit code where there is one."""
    for problem in problems:
        click.echo(words.sentence(problem) if words else problem, err=True)
    if problems:
        sys.exit(exit_code)
