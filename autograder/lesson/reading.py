"""What a read brought back: the numbers of the pool's rows, or in which way it is no such thing."""

from dataclasses import dataclass
from typing import Any

from autograder.lesson.speech import say


@dataclass(frozen=True)
class Misshapen:
    """A read that is not ``[seq_len, head_dim]`` in the pool's dtype: wanted and got, in words."""

    words: str
    shape: tuple[int, ...] = ()
    nothing: bool = False
    mixed: bool = False


def number_pool(manager: Any) -> Any:
    """Give each row of the pool its number, in every feature; return a copy of the pool as it is then."""
    import torch  # not above: examples are judged where there is none

    pool = manager.physical_kv_cache
    rows = torch.arange(pool.shape[0] * pool.shape[1]).reshape(*pool.shape[:2], 1)
    pool.copy_(rows.expand_as(pool))
    return pool.clone()


def what_was_read(manager: Any, req: Any, cache: Any, numbered: Any) -> object:
    """Return the numbers of the rows that were read, in order, or a Misshapen."""
    import torch

    pool = manager.physical_kv_cache
    wanted = [req.seq_len, pool.shape[2]]
    if not isinstance(cache, torch.Tensor):
        kind = type(cache).__name__
        words = say(f"{kind}; wanted a tensor of shape {wanted}", f"{kind}；应是形状 {wanted} 的张量")
        return Misshapen(words, nothing=cache is None)
    if list(cache.shape) != wanted:
        got = list(cache.shape)
        return Misshapen(say(f"shape {got}; wanted {wanted}", f"形状 {got}；应为 {wanted}"), tuple(got))
    if cache.dtype != pool.dtype:
        return Misshapen(
            say(f"dtype {cache.dtype}; the pool has {pool.dtype}", f"dtype {cache.dtype}；池是 {pool.dtype}")
        )
    if not torch.equal(pool, numbered):
        return Misshapen(say("the read has changed the pool", "读取时改动了池"))
    if not torch.equal(cache, cache[:, :1].expand_as(cache)):
        mixed = say("rows put together from several rows of the pool", "一行里混进了池中好几行的数")
        return Misshapen(mixed, mixed=True)
    return [int(row) for row in cache[:, 0].tolist()]
