"""The alternative solutions are ready for a GPU, but for those with a reason beside their name."""

from pathlib import Path

import pytest
from device_samples import verdicts

from autograder.intake.discover import discover
from autograder.intake.read import read
from autograder.intake.submission import Submission

ALTERNATIVE = Path(__file__).resolve().parents[2] / "solutions" / "submissions" / "alternative"
NOT_READY = {
    "noisy-prints": {"device.copy"},  # it prints its tensors, which copies them to the host
    "wipes-blocks": {"device.memory"},  # it writes into the pool when it hands blocks out (ruling F7)
}
NAMES = sorted(path.name for path in ALTERNATIVE.iterdir() if path.suffix != ".toml")


@pytest.mark.parametrize("name", NAMES)
def test_an_alternative_solution_is_ready(name: str) -> None:
    [entry] = discover([ALTERNATIVE / name])
    submission = read(entry)
    assert isinstance(submission, Submission)
    found = {v.finding.code for v in verdicts(tuple(submission.cells)).values() if v.finding}
    assert found == NOT_READY.get(Path(name).stem, set())
