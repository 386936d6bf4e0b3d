"""The mutation score: which wrong submissions the hidden tests catch, and whether they blame the right question."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any

from autograder.contract.questions import question_of, questions
from autograder.contract.seed import PUBLIC, Seed
from autograder.findings import Finding
from autograder.grading.confined import confined_server
from autograder.grading.mutation.mutants import Mutant
from autograder.grading.one.judge import SubmissionHandle
from autograder.grading.one.verdict import Verdict
from autograder.sandbox.client import Server

STAND_IN = "fakegpu"


@dataclass(frozen=True)
class Score:
    """What became of one mutant; ``lost`` are the questions in which a case failed for the mutant's own fault.

    A mutant that passes every CPU case is tried on the stand-in device, and a GPU case it fails counts for its TODO.
    """

    mutant: Mutant
    verdicts: dict[str, Verdict]

    @property
    def killed_by(self) -> list[str]:
        """The cases that did not pass."""
        return [case for case, verdict in self.verdicts.items() if verdict.status != "passed"]

    @property
    def killed(self) -> bool:
        """Whether any case did not pass."""
        return bool(self.killed_by)

    @property
    def lost(self) -> frozenset[str]:
        """The questions that lost points, those that merely wait for a TODO left out."""
        cases = [
            c for c in self.killed_by if (f := self.verdicts[c].finding) is None or not f.code.startswith("waiting")
        ]
        return frozenset(questions().judged_as(question_of(case)).id for case in cases)

    @property
    def attributed(self) -> bool:
        """Whether exactly the questions that the mutant names lost points; True where it names none."""
        named = self.mutant.loses
        if named is None:
            return True
        return bool(self.lost) and self.lost <= named if self.mutant.either else self.lost == named

    @property
    def only_on_device(self) -> bool:
        """Whether the CPU cases let it pass and a device case does not."""
        return self.killed and all(questions()[question_of(case)].part == "gpu" for case in self.killed_by)

    def line(self) -> str:
        """Return the score on one line."""
        outcome = "killed" if self.killed else "SURVIVED"
        blame = "" if self.attributed else f", MISATTRIBUTED: should lose {_names(self.mutant.loses or ())}"
        shown = ", ".join(self.killed_by[:3]) + (", ..." if len(self.killed_by) > 3 else "")
        return f"{self.mutant.name}: {outcome}, loses {_names(self.lost)}{blame}" + (f" ({shown})" if shown else "")

    def to_json(self) -> dict[str, Any]:
        """Return the score as plain JSON data."""
        return {
            "name": self.mutant.name,
            "lesson": self.mutant.lesson,
            "killed": self.killed,
            "only_on_device": self.only_on_device,
            "killed_by": self.killed_by,
            "lost": sorted(self.lost),
            "loses": sorted(self.mutant.loses) if self.mutant.loses is not None else None,
            "attributed": self.attributed,
        }


def summary(scores: Sequence[Score]) -> dict[str, Any]:
    """Return the totals, as numbers and in one sentence."""
    killed, device = sum(s.killed for s in scores), sum(s.only_on_device for s in scores)
    attributed = sum(s.attributed for s in scores)
    text = f"{killed} of {len(scores)} killed ({device} by a device only), {attributed} of {len(scores)} attributed"
    return {
        "total": len(scores),
        "killed": killed,
        "only_on_device": device,
        "attributed": attributed,
        "all_killed": killed == len(scores),
        "all_attributed": attributed == len(scores),
        "text": text,
    }


def _names(questions: Iterable[str]) -> str:
    return " ".join(sorted(questions)) or "nothing"


def score_mutants(
    mutants: Sequence[Mutant], jobs: int, allow_weak: bool = False, seed: Seed = PUBLIC, stand_in: str = STAND_IN
) -> Iterator[Score]:
    """Yield the score of every mutant on the cases of ``seed``, in the order given; without a stand-in on CPU alone."""
    desks: SimpleQueue[Desk] = SimpleQueue()
    with ExitStack() as stack:
        jobs = min(jobs, len(mutants))
        for _ in range(jobs):
            desks.put(Desk(stack, allow_weak))
        with ThreadPoolExecutor(jobs) as threads:
            yield from threads.map(partial(_score, desks, seed, stand_in), mutants)


class Desk:
    """The servers that one mutant at a time is judged on, each started when it is first needed."""

    def __init__(self, stack: ExitStack, allow_weak: bool) -> None:
        self._stack, self._allow_weak = stack, allow_weak
        self._servers: dict[str, Server] = {}

    def verdicts(self, mutant: Mutant, device: str, seed: Seed) -> dict[str, Verdict]:
        """Return the verdict on every case of the part that ``device`` judges."""
        if device not in self._servers:
            self._servers[device] = self._stack.enter_context(confined_server(self._allow_weak, device))
        handle = SubmissionHandle(self._servers[device], mutant.cells, _silent, seed)
        try:
            return dict(handle.verdicts)
        finally:
            handle.close()


def _score(desks: "SimpleQueue[Desk]", seed: Seed, stand_in: str, mutant: Mutant) -> Score:
    desk = desks.get()
    try:
        verdicts = desk.verdicts(mutant, "cpu", seed)
        if stand_in and all(verdict.status == "passed" for verdict in verdicts.values()):
            verdicts |= desk.verdicts(mutant, stand_in, seed)
        return Score(mutant, verdicts)
    finally:
        desks.put(desk)


def _silent(question: str, finding: Finding) -> str:
    return finding.code
