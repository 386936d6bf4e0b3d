"""The command that asks a real serving engine: serve-check."""

import sys
from pathlib import Path

import click

from autograder.cli.common import FOLDER, PATH, Interrupted, demand, in_one_sentence


class Levels(click.ParamType[tuple[int, ...]]):
    """Levels of concurrency, written ``1,2,4``."""

    name = "n,n,..."

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        parts = str(value).split(",")
        if not all(part.isdecimal() and int(part) for part in parts):
            self.fail(f"{value!r} is no list of levels; write for example 1,2,4.", param, ctx)
        return tuple(dict.fromkeys(map(int, parts)))


@click.command("serve-check")
@click.argument("model", type=FOLDER)
@click.option("--url", default="http://127.0.0.1:8000", show_default=True, help="The running server.")
@click.option("--dtype", help="What the server was started with, where config.json says another.")
@click.option("--bytes", "capacity", type=click.IntRange(1), help="Of the KV cache, where the server does not tell.")
@click.option("--prompt-tokens", type=click.IntRange(1), default=128, show_default=True, help="Of every request.")
@click.option("--output-tokens", type=click.IntRange(1), default=32, show_default=True, help="Of every answer.")
@click.option("--requests", type=click.IntRange(1), default=32, show_default=True, help="At each level.")
@click.option("--concurrency", type=Levels(), default="1,2,4,8", show_default=True, help="Levels, one after another.")
@click.option("--guidellm", default="guidellm", show_default=True, help="The program that makes the load.")
@click.option("-o", "--out", default="serving", show_default=True, type=PATH, help="The evidence goes here.")
@in_one_sentence
def serve_check(
    model: Path,
    url: str,
    dtype: str | None,
    capacity: int | None,
    prompt_tokens: int,
    output_tokens: int,
    requests: int,
    concurrency: tuple[int, ...],
    guidellm: str,
    out: Path,
) -> None:
    """Compare the ledger with a running vLLM server of MODEL, and measure it under load."""
    demand("matplotlib", "serving")
    from autograder.serving.check import serve_check as check
    from autograder.serving.evidence import table
    from autograder.serving.load import Load

    load = Load(prompt_tokens, output_tokens, requests, concurrency)
    try:
        evidence = check(model, url, dtype, capacity, load, guidellm, out)
    except KeyboardInterrupt:
        raise Interrupted("Stopped before the last level, so there is no table; run the same command again.") from None
    click.echo(table(evidence), nl=False)
    if not evidence.agrees:
        sys.exit(1)
