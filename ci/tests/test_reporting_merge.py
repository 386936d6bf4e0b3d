"""Merging CPU and GPU results, in any order and any number of times."""

from dataclasses import replace

import pytest
from reporting_samples import FULL, GPU, MIXED, REJECTED

from autograder.findings import Finding
from autograder.reporting.merge import MergeError, merge, merge_all
from autograder.reporting.results import TestResult
from autograder.reporting.schema import row, to_bytes

LACKING = replace(
    GPU,
    tests=(*GPU.tests[:3], TestResult("g4.basic", "g4", "could not run", 0, 5, Finding("device.missing"))),
)


def bytes_of(result):
    return to_bytes(row(result))


def test_pending_becomes_graded():
    merged = merge(FULL, GPU)
    assert (merged.points, merged.max_points, merged.pending_points) == (100, 100, 0)
    assert list(merged.questions) == ["q1", "q2", "q3", "q4", "q5", "g1", "g2", "g3", "g4"]
    assert merged.device == "cpu+cuda"


@pytest.mark.parametrize("cpu", [FULL, MIXED, REJECTED])
@pytest.mark.parametrize("gpu", [GPU, LACKING, replace(REJECTED, device="cuda"), replace(MIXED, device="cuda")])
def test_order_and_repetition_do_not_matter(cpu, gpu):
    merged = merge(cpu, gpu)
    assert bytes_of(merge(gpu, cpu)) == bytes_of(merged)
    assert bytes_of(merge(merged, gpu)) == bytes_of(merge(cpu, merged)) == bytes_of(merged)
    assert bytes_of(merge(merged, merged)) == bytes_of(merged)


def test_a_file_that_one_side_could_not_grade_keeps_what_the_other_gave():
    refused = replace(REJECTED, student=FULL.student, file=FULL.file, sha256=FULL.sha256, versions=FULL.versions)
    merged = merge(FULL, replace(refused, device="cuda"))
    assert (merged.status, merged.points) == ("graded", 80)
    assert refused.rejected in merged.notes
    assert merge(refused, replace(refused, device="cuda")).status == "not gradable"


def test_a_fault_of_the_machine_stays_pending_and_is_named():
    merged = merge(FULL, LACKING)
    assert (merged.points, merged.max_points, merged.pending_points) == (95, 95, 5)
    assert [note.code for note in merged.notes] == ["device.missing"]


def test_of_two_contradictory_outcomes_the_worse_is_kept_and_named():
    other = replace(FULL, device="cuda", tests=(replace(FULL.tests[0], status="failed", points=0),))
    other = replace(other, gradescope={"tests": [{"name": "q1", "score": 0}]})
    merged = merge(FULL, other)
    assert merged.questions["q1"].points == 0
    assert merged.gradescope["tests"][0]["score"] == 0
    assert merged.notes == (Finding("merge.contradiction", {"case": "q1.basic"}),)


def test_the_machines_facts_are_kept_apart():
    merged = merge(FULL, replace(GPU, confinement={"landlock": "off: old kernel"}))
    assert merged.confinement["cpu.landlock"] == "on"
    assert merged.confinement["cuda.landlock"] == "off: old kernel"
    assert merged.versions["tests"] == "t1"


def test_another_submission_is_refused():
    with pytest.raises(MergeError, match=r"merge\.submission"):
        merge(FULL, replace(GPU, sha256="cd" * 32))


@pytest.mark.parametrize("name", ["autograder", "tests"])
def test_other_versions_are_refused_but_another_torch_is_not(name):
    with pytest.raises(MergeError, match=r"merge\.version"):
        merge(FULL, replace(GPU, versions=GPU.versions | {name: "2"}))
    assert merge(FULL, replace(GPU, versions=GPU.versions | {"torch": "2.14"})).max_points == 100


def test_a_run_is_merged_student_by_student_and_faults_keep_the_cpu_result():
    cpu = [replace(FULL, student=s) for s in ("ada", "bob", "cleo")]
    gpu = [replace(GPU, student="ada"), replace(GPU, student="bob", sha256="00" * 32)]
    merged, problems = merge_all(cpu, gpu)
    assert [(r.student, r.points, r.pending_points) for r in merged] == [
        ("ada", 100, 0),
        ("bob", 80, 20),
        ("cleo", 80, 20),
    ]
    assert [problem.details["student"] for problem in problems] == ["bob"]
    assert merge_all(gpu, cpu) == (merged, problems)


def test_a_file_that_neither_side_could_grade_stays_not_gradable():
    assert merge(REJECTED, replace(REJECTED, device="cuda")).status == "not gradable"
