"""No hostile sample gains a point, outlives its grading, leaves anything behind or disturbs the next one."""

import functools

import pytest
from hostile_suite import ENVIRONMENTS, HOSTILE, MEMORY_GROWTH, Run, expected_points, run_suite

from autograder.sandbox.client import Limits

MAX_CPU_S = Limits().submission_s  # what a whole submission may use, whatever it does
SAMPLES = sorted(expected_points())


def share(environment: str) -> list[str]:
    """Return the samples that are tried in one environment; the bench tries all of them everywhere."""
    return SAMPLES[ENVIRONMENTS.index(environment) :: len(ENVIRONMENTS)]


@functools.cache
def run(environment: str) -> Run:
    """Return the run of one environment over its share of the samples."""
    return run_suite(environment, share(environment))


def test_every_sample_is_tried_somewhere() -> None:
    assert len(SAMPLES) >= 80
    assert sorted(o.name for environment in ENVIRONMENTS for o in run(environment).outcomes) == SAMPLES


def test_every_sample_on_disk_has_an_expected_verdict() -> None:
    assert sorted(path.name for path in HOSTILE.iterdir() if path.suffix != ".toml") == SAMPLES


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_every_sample_earns_what_it_must(environment: str) -> None:
    earned = {outcome.name: outcome.points for outcome in run(environment).outcomes}
    assert earned == {name: expected_points()[name] for name in share(environment)}


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_no_process_outlives_its_submission(environment: str) -> None:
    assert {o.name: o.survivors for o in run(environment).outcomes if o.survivors} == {}


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_no_file_is_left_behind(environment: str) -> None:
    assert {o.name: o.files for o in run(environment).outcomes if o.files} == {}


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_next_submission_gets_the_same_bytes_of_results(environment: str) -> None:
    assert [o.name for o in run(environment).outcomes if not o.neighbour_same] == []


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_grader_does_not_grow(environment: str) -> None:
    assert run(environment).memory_growth < MEMORY_GROWTH


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_the_probe_finds_no_hole(environment: str) -> None:
    assert run(environment).breaches == []


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_no_sample_costs_more_than_a_bounded_time(environment: str) -> None:
    assert {o.name: o.cpu_s for o in run(environment).outcomes if o.cpu_s > MAX_CPU_S} == {}
