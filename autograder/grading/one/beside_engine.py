"""A submission beside a real engine: for the report alone, where prefill and decode lost nothing."""

from collections.abc import Iterable
from functools import cache

from autograder.contract.engine import recorded, same_steps
from autograder.findings import Finding
from autograder.grading.one.loaded_submission import LoadedSubmission
from autograder.reporting.results import TestResult
from autograder.sandbox.client import Died, Request, request_for

NEEDS = ("q2", "q3")
PATIENCE = 0.1
"""Nobody waits for what counts nothing: a part of the usual time, a hundred times what it takes."""


def beside_engine(submission: LoadedSubmission, tests: Iterable[TestResult]) -> tuple[Finding, ...]:
    """Return what comparing with the engine showed, nothing where something is still wrong or nothing came back."""
    if any(test.status != "passed" for test in tests if test.question in NEEDS) or not submission.is_loaded:
        return ()
    engine, recordings = recorded()
    steps = same = sum(len(one.steps) for one in recordings)
    try:
        [reply] = submission.answers([_request()], patience=PATIENCE)
    except Died:
        return ()
    if reply.traces is not None:
        same = same_steps(recordings, reply.traces)
    if same < steps:
        return (Finding("engine.differs", {"engine": engine, "same": same, "steps": steps}),)
    _request().found_right(reply)
    return (Finding("engine.same", {"engine": engine, "same": same, "steps": steps}),)


@cache
def _request() -> Request:
    return request_for([one.operations for one in recorded()[1]])
