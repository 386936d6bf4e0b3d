"""What holds for a whole run of the tests: nothing outside their own folders is different when it ends."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from footprint import Footprint

pytest_plugins = ["lesson_student"]

SLOW = (
    "test_outcomes test_mutants test_hostile test_cluster test_faults test_batch test_pipeline test_gitlab"
    " test_zip_install test_plugin_parity test_device_attacks test_outside test_plugin test_classroom"
    " test_kernel_oracle test_notebooks test_term test_seed test_weak_confinement test_zip test_course test_samples"
    " test_handout test_helpers_kept test_examples test_drawn_examples test_intake_contents test_answers_stay_out"
    " test_footprint test_device_idioms test_device_readiness test_other_systems test_odd_answers test_asking"
    " test_device_threads test_loading_limits test_lying_replies test_docs test_device_grading test_device_process"
    " test_engine test_sandbox_walls test_setup test_small_scope test_workflows"
).split()
"""Files that grade whole classes, build the zip or open a browser; the longest first, so that none ends alone."""

STRAGGLERS_S = 15
BEFORE = pytest.StashKey[Footprint]()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Give a folder of the test's own that every user may enter, and take it away."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        folder.chmod(0o755)
        yield folder


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick", action="store_true", help="leave out the files that take longer than the others together"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    slow = [item for item in items if item.path.stem in SLOW]
    slow.sort(key=lambda item: SLOW.index(item.path.stem))
    others = [item for item in items if item.path.stem not in SLOW]
    if config.getoption("--quick"):
        config.hook.pytest_deselected(items=slow)
        items[:] = others
    else:
        items[:] = slow + others


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):  # of a run in several processes, the one that starts the others
        session.config.stash[BEFORE] = Footprint.now()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    before = session.config.stash.get(BEFORE, None)
    if before is None:
        return
    changes = before.changes_until(Footprint.now())
    for _ in range(STRAGGLERS_S):  # a server of a worker that has just ended may be on its way out
        if not any("lives on" in change for change in changes):
            break
        time.sleep(1)
        changes = before.changes_until(Footprint.now())
    if changes:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        reporter.section("the tests changed what is not theirs", red=True)
        reporter.line("\n".join(changes))
