"""Allocators to try examples on: right ones that choose differently, and wrong ones, each with one typical mistake.

They count tokens one by one and know nothing of the student's code. Which mistake a black box makes is told only after
an example has caught it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from autograder.lesson.speech import say
from autograder.lesson.story import Step

Result = tuple[int, int] | str


@dataclass
class Box:
    """One allocator: ``mistake`` names what it gets wrong, "" for a right one."""

    num_blocks: int
    block_size: int
    mistake: str = ""
    last_first: bool = False
    free: list[int] = field(default_factory=list)
    held: dict[str, list[int]] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.free = list(range(self.num_blocks))

    def tell(self, step: Step) -> Result:
        """Carry out a step; return (tokens, blocks) of its request, or "OOM" or "ValueError"."""
        name, number = step.name, step.numbers[0] if step.numbers else 0
        if step.verb in ("prefill", "hold") and number:
            self.held[name], self.tokens[name] = [], number
        try:
            {"hold": self._hold, "prefill": self._prefill, "decode": self._decode, "release": self._release}[step.verb](
                step
            )
        except MemoryError:
            return "OOM"
        except ValueError:
            return "ValueError"
        return self.tokens[name], len(self.held[name])

    def _take(self, name: str) -> None:
        if not self.free:
            raise MemoryError
        self.held[name].append(self.free.pop(-1 if self.last_first else 0))

    def _hold(self, step: Step) -> None:
        self.held[step.name] = list(step.numbers[1:])
        self.free = [block for block in self.free if block not in step.numbers[1:]]

    def _prefill(self, step: Step) -> None:
        name = step.name
        if self.held[name] and self.mistake != "prefills twice":
            raise ValueError
        tokens = self.tokens[name]
        wanted = len({token // self.block_size for token in range(tokens)})
        wanted += {
            "one block too many when full": tokens % self.block_size == 0,
            "rounds down": -(tokens % self.block_size > 0),
        }.get(self.mistake, 0)
        if wanted > len(self.free) - (self.mistake == "never uses the last block"):
            if self.mistake == "keeps blocks on OOM":
                self.free.clear()
            raise MemoryError
        for _ in range(wanted):
            self._take(name)

    def _decode(self, step: Step) -> None:
        name, room = step.name, len(self.held[step.name]) * self.block_size
        if not self.held[name]:
            raise ValueError
        if self.mistake == "counts the token before the OOM":
            self.tokens[name] += 1
        new = self.tokens[name] + (self.mistake != "counts the token before the OOM")
        full = {
            "asks too early": new >= room,
            "asks too late": new > room + 1,
            "modulo one": new % self.block_size == 1,
        }.get(self.mistake, new > room)
        if full:
            self._take(name)
        self.tokens[name] = new

    def _release(self, step: Step) -> None:
        if not self.held[step.name] and self.mistake != "releases twice":
            raise ValueError
        if self.mistake != "loses blocks on release":
            self.free += self.held[step.name]
        self.held[step.name] = []


def mistakes() -> dict[str, str]:
    """Return every mistake of a wrong box, with its words."""
    return {
        "one block too many when full": say(
            "takes a block too many for a prompt of whole blocks", "prompt 恰好装满整块时多拿一块"
        ),
        "rounds down": say("rounds the number of blocks down", "块数向下取整"),
        "never uses the last block": say("never gives out the last free block", "最后一个空闲块永远不发"),
        "keeps blocks on OOM": say("keeps what it took when a prefill is refused", "prefill 被拒绝时不归还已拿的块"),
        "prefills twice": say("prefills a request twice", "同一个请求可以 prefill 两次"),
        "asks too early": say("takes a block one token early", "早一个 token 取块"),
        "asks too late": say("takes a block one token late", "晚一个 token 取块"),
        "modulo one": say("asks whether the new length modulo the size is 1", "判断新长度对块大小取余是否为 1"),
        "counts the token before the OOM": say("counts the token before the OOM", "OOM 之前就把 token 算进去了"),
        "loses blocks on release": say("loses the blocks of a release", "释放时把块弄丢了"),
        "releases twice": say("releases a request twice", "同一个请求可以释放两次"),
    }


def right_boxes() -> list[Callable[[int, int], Box]]:
    """Return makers of right allocators that choose different blocks."""
    return [lambda n, size: Box(n, size), lambda n, size: Box(n, size, last_first=True)]
