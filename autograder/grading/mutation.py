"""The mutation score: which wrong submissions the hidden tests catch, and whether they blame the right question."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any

from autograder.contract.finding import Finding
from autograder.contract.scenarios import scenarios
from autograder.grading.confined import confined_server
from autograder.grading.handle import SubmissionHandle
from autograder.grading.mutants import Mutant
from autograder.grading.verdict import Verdict
from autograder.sandbox.client import ForkServer


@dataclass(frozen=True)
class Score:
    """What became of one mutant; ``lost`` are the questions in which a case failed for the mutant's own fault."""

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
        cases = [c for c in self.killed_by if (f := self.verdicts[c].finding) is None or f.code != "waiting"]
        return frozenset(case.partition(".")[0] for case in cases)

    @property
    def attributed(self) -> bool:
        """Whether exactly the questions that the mutant names lost points; True where it names none."""
        return self.mutant.loses is None or self.needs_device or self.lost == self.mutant.loses

    @property
    def needs_device(self) -> bool:
        """Whether only a device can show the fault, and none was asked."""
        return self.mutant.on_device and not self.killed

    def line(self) -> str:
        """Return the score on one line."""
        outcome = "needs device" if self.needs_device else "killed" if self.killed else "SURVIVED"
        blame = "" if self.attributed else f", MISATTRIBUTED: should lose {_names(self.mutant.loses or ())}"
        shown = ", ".join(self.killed_by[:3]) + (", ..." if len(self.killed_by) > 3 else "")
        return f"{self.mutant.name}: {outcome}, loses {_names(self.lost)}{blame}" + (f" ({shown})" if shown else "")

    def to_json(self) -> dict[str, Any]:
        """Return the score as plain JSON data."""
        return {
            "name": self.mutant.name,
            "lesson": self.mutant.lesson,
            "killed": self.killed,
            "needs_device": self.needs_device,
            "killed_by": self.killed_by,
            "lost": sorted(self.lost),
            "loses": sorted(self.mutant.loses) if self.mutant.loses is not None else None,
            "attributed": self.attributed,
        }


def summary(scores: Sequence[Score]) -> dict[str, Any]:
    """Return the totals, as numbers and in one sentence."""
    killed, device = sum(s.killed for s in scores), sum(s.needs_device for s in scores)
    attributed = sum(s.attributed for s in scores)
    text = f"{killed} of {len(scores)} killed, {device} need a device, {attributed} of {len(scores)} attributed"
    return {
        "total": len(scores),
        "killed": killed,
        "needs_device": device,
        "attributed": attributed,
        "all_killed": killed + device == len(scores),
        "all_attributed": attributed == len(scores),
        "text": text,
    }


def _names(questions: Iterable[str]) -> str:
    return " ".join(sorted(questions)) or "nothing"


def score_mutants(mutants: Sequence[Mutant], jobs: int, allow_weak: bool = False) -> Iterator[Score]:
    """Yield the score of every mutant, in the order given."""
    servers: SimpleQueue[ForkServer] = SimpleQueue()
    with ExitStack() as stack:
        jobs = min(jobs, len(mutants))
        for _ in range(jobs):
            servers.put(stack.enter_context(confined_server(allow_weak)))
        with ThreadPoolExecutor(jobs) as threads:
            yield from threads.map(partial(_score, servers), mutants)


def _score(servers: "SimpleQueue[ForkServer]", mutant: Mutant) -> Score:
    server = servers.get()
    handle = SubmissionHandle(server, mutant.cells, _silent)
    try:
        return Score(mutant, {case: handle.verdict(case) for case in scenarios()})
    finally:
        handle.close()
        servers.put(server)


def _silent(finding: Finding) -> str:
    return finding.code
