"""What a run proves, as a table and a plot; a run that proves nothing is refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from autograder.serving.ledger import Shape
from autograder.serving.load import Level, Load
from autograder.serving.server import Cache, ServingError

HELD = 0.02
"""How far the mean length of prompts or answers may be from what was asked for."""


@dataclass(frozen=True)
class Evidence:
    """One run on one server; ``preempted`` counts the requests preempted at each level."""

    model: str
    shape: Shape
    cache: Cache
    capacity: int
    load: Load
    levels: Sequence[Level]
    preempted: Sequence[int]
    versions: str
    machine: str
    day: date

    @property
    def predicted(self) -> int:
        """How many blocks the ledger says there are."""
        return self.shape.blocks(self.capacity, self.cache.block_size)

    @property
    def agrees(self) -> bool:
        """Whether ledger and engine count the same blocks."""
        return self.predicted == self.cache.blocks


def demand_possible(load: Load, longest: int | None, url: str) -> None:
    """Raise ServingError for a load that would measure nothing: the server refuses it, or a level is never reached."""
    most = max(load.concurrency)
    if load.requests < most:
        raise ServingError(
            f"{load.requests} requests are never {most} at once; ask for more --requests, or leave that level out."
        )
    asked = load.prompt_tokens + load.output_tokens
    if longest is not None and asked > longest:
        raise ServingError(
            f"{url} takes requests of at most {longest} tokens and refuses those of {load.prompt_tokens} and "
            f"{load.output_tokens}; ask for less, or start it with a larger --max-model-len."
        )


def demand_proof(level: Level, load: Load) -> None:
    """Raise ServingError for a level at which nothing was measured, or not what was asked for."""
    at = f"At concurrency {level.concurrency}"
    if not level.done:
        raise ServingError(
            f"{at} no request was done and {level.failed} failed, so nothing was measured; see the server's log."
        )
    ended = level.done + level.failed
    if ended < load.requests:  # guidellm 0.8.1 now and then forgets its last one
        raise ServingError(f"{at} guidellm tells of {ended} requests where {load.requests} were asked for; run again.")
    if not (level.ttft_ms > 0 and (load.output_tokens == 1 or level.tpot_ms > 0)):
        raise ServingError(f"{at} the times measured are zero, which no server takes; look at guidellm's report.")
    for what, mean, asked in (
        ("prompts", level.prompt_tokens, load.prompt_tokens),
        ("answers", level.output_tokens, load.output_tokens),
    ):
        if not abs(mean - asked) <= HELD * asked:
            raise ServingError(
                f"{at} {what} had {mean:.1f} tokens on average where {asked} were asked for, so levels cannot be "
                "compared; take the server's own tokenizer, and let it ignore ends of text."
            )


def table(evidence: Evidence) -> str:
    """Return the evidence as Markdown."""
    shape, cache, load = evidence.shape, evidence.cache, evidence.load
    verdict = "the same" if evidence.agrees else "NOT the same"
    head = [
        f"# {evidence.model}",
        "",
        f"{evidence.versions}; measured on {evidence.day} from a machine of {evidence.machine}.",
        "",
        "| KV capacity | ledger | engine |",
        "|---|---|---|",
        f"| bytes | {evidence.capacity} | {cache.bytes or 'not told'} |",
        f"| bytes per block of {cache.block_size} | {shape.block_bytes(cache.block_size)} | |",
        f"| blocks | {evidence.predicted} | {cache.blocks} |",
        f"| blocks for requests (one is the null block) | {evidence.predicted - 1} | {cache.usable} |",
        f"| tokens | {(evidence.predicted - 1) * cache.block_size} | {cache.usable * cache.block_size} |",
        "",
        f"Ledger and engine count {verdict}: {shape.layers} layers, {shape.kv_heads} KV heads of {shape.head_dim}, "
        f"{shape.dtype}.",
        "",
        f"{load.requests} requests per level, {load.prompt_tokens} tokens in, {load.output_tokens} out.",
        "",
        "| concurrency | done | failed | preempted | TTFT ms | TPOT ms |",
        "|---|---|---|---|---|---|",
    ]
    rows = [
        f"| {one.concurrency} | {one.done} | {one.failed} | {preempted} | {one.ttft_ms:.1f} | {one.tpot_ms:.2f} |"
        for one, preempted in zip(evidence.levels, evidence.preempted, strict=True)
    ]
    return "\n".join([*head, *rows, ""])


def plot(levels: Sequence[Level], path: Path) -> None:
    """Draw TTFT and TPOT against concurrency as an SVG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3), layout="constrained")
    streams = [level.concurrency for level in levels]
    sides = (("TTFT ms", [one.ttft_ms for one in levels]), ("TPOT ms", [one.tpot_ms for one in levels]))
    for axes, (name, times) in zip(figure.subplots(1, 2), sides, strict=True):
        axes.plot(streams, times, marker="o")
        axes.set(xlabel="concurrency", ylabel=name, ylim=(0, None))
        axes.set_xscale("log", base=2)
        axes.set_xticks(streams, [str(one) for one in streams])
    figure.savefig(path, metadata={"Date": None})
