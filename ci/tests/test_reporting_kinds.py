"""Results with known numbers go through merging, statuses, verification and publication, and come out as they must."""

from dataclasses import replace

import pytest
from reporting_samples import FULL, GPU, MIXED, REJECTED, result

from autograder.findings import Finding
from autograder.reporting.merge import merge, merge_all
from autograder.reporting.received_bundle import differences
from autograder.reporting.results import SubmissionResult, TestResult
from autograder.reporting.schema import to_json
from autograder.reporting.summary import pseudonyms, render_summary, who_is_who
from autograder.reporting.words import Words

WORDS = Words("en")
ORDER = ("failed", "could not run", "not attempted", "passed")


def case(status: str, points: int = 0, name: str = "basic", question: str = "q1") -> TestResult:
    return TestResult(f"{question}.{name}", question, status, points, 5, Finding("x") if status != "passed" else None)


# The status of a question


@pytest.mark.parametrize("first", ORDER)
@pytest.mark.parametrize("second", ORDER)
def test_a_question_has_the_worst_status_of_its_cases_whatever_their_order(first: str, second: str) -> None:
    tests = case(first, name="a"), case(second, name="b")
    worst = min(first, second, key=ORDER.index)
    assert result(*tests).questions["q1"].status == result(*tests[::-1]).questions["q1"].status == worst


def test_points_and_maximum_are_sums_over_cases_and_questions() -> None:
    tests = case("passed", 5, "a"), case("failed", 0, "b"), case("passed", 5, "a", "q2")
    told = result(*tests)
    assert (told.points, told.max_points) == (10, 15)
    assert {q: (r.points, r.max_points) for q, r in told.questions.items()} == {"q1": (5, 10), "q2": (5, 5)}


# Merging


CUDA_REJECTED = replace(REJECTED, device="cuda", pending_points=0)
FAILED_ON_GPU = replace(
    GPU, tests=(*GPU.tests[:3], TestResult("g4.basic", "g4", "failed", 0, 5, Finding("read.order")))
)
LACKING = replace(GPU, tests=(*GPU.tests[:3], TestResult("g4.x", "g4", "could not run", 0, 5, Finding("run.machine"))))
MERGED: dict[str, tuple[SubmissionResult, SubmissionResult, tuple[object, ...]]] = {
    "both full": (FULL, GPU, ("graded", 100, 100, 0)),
    "half right and full": (MIXED, GPU, ("graded", 35, 100, 0)),
    "full and a fault on the device": (FULL, FAILED_ON_GPU, ("graded", 95, 100, 0)),
    "a fault of the machine": (FULL, LACKING, ("graded", 95, 95, 5)),
    "not gradable on the device alone": (FULL, CUDA_REJECTED, ("graded", 80, 80, 20)),
    "not gradable on the CPU alone": (REJECTED, GPU, ("graded", 20, 20, 0)),
    "not gradable anywhere": (REJECTED, CUDA_REJECTED, ("not gradable", 0, 0, 20)),
    "the same twice": (FULL, FULL, ("graded", 80, 80, 20)),
    "readiness": (
        FULL,
        replace(
            GPU, device="fakegpu", pending_points=20, tests=tuple(replace(t, points=0, max_points=0) for t in GPU.tests)
        ),
        ("graded", 80, 80, 20),
    ),
}


@pytest.mark.parametrize("kind", MERGED)
@pytest.mark.parametrize("turned", [False, True])
def test_a_merged_result_has_these_points(kind: str, turned: bool) -> None:
    cpu, gpu, expected = MERGED[kind]
    merged = merge(gpu, cpu) if turned else merge(cpu, gpu)

    assert (merged.status, merged.points, merged.max_points, merged.pending_points) == expected


@pytest.mark.parametrize("turned", [False, True])
def test_a_rejection_on_one_side_alone_is_a_note_and_no_more(turned: bool) -> None:
    merged = merge(CUDA_REJECTED, FULL) if turned else merge(FULL, CUDA_REJECTED)
    assert (merged.rejected, [note.code for note in merged.notes]) == (None, ["intake.truncated"])


def test_the_worse_of_two_contradictory_outcomes_counts_in_every_question() -> None:
    worse = replace(FULL, tests=tuple(replace(t, status="failed", points=0) for t in FULL.tests))
    for merged in (merge(FULL, worse), merge(worse, FULL)):
        assert (merged.points, merged.max_points) == (0, 80)
        assert [note.details["case"] for note in merged.notes] == [t.id for t in FULL.tests]


def test_a_class_merges_student_by_student_to_known_points() -> None:
    names = ("ada", "bob", "cleo", "dan")
    cpu = [replace(FULL, student=n) for n in names[:3]]
    gpu = [replace(GPU, student=names[0]), replace(CUDA_REJECTED, student=names[1]), replace(GPU, student=names[3])]
    for merged, problems in (merge_all(cpu, gpu), merge_all(gpu, cpu)):
        assert problems == []
        assert [(r.student, r.points, r.pending_points) for r in merged][:3] == [
            ("ada", 100, 0),
            ("bob", 80, 20),
            ("cleo", 80, 20),
        ]
        assert (merged[3].student, merged[3].points) == ("dan", 20)


def test_scores_for_gradescope_are_the_lower_ones_and_every_test_is_there_once() -> None:
    cpu = replace(FULL, gradescope={"tests": [{"name": "q1", "score": 15}, {"name": "q2", "score": 3}], "output": "a"})
    other = replace(GPU, gradescope={"tests": [{"name": "q2", "score": 20}, {"name": "g", "score": 20}]})
    for merged in (merge(cpu, other), merge(other, cpu)):
        assert {t["name"]: t["score"] for t in merged.gradescope["tests"]} == {"q1": 15, "q2": 3, "g": 20}
        assert len(merged.gradescope["tests"]) == 3
        assert merged.gradescope["output"] == "a"


# Grading again


def differing(stored: SubmissionResult, again: SubmissionResult) -> list[tuple[str, object]]:
    found = differences(to_json(stored, WORDS), to_json(again, WORDS))
    return [(finding.code, finding.details.get("case")) for finding in found]


CHANGES = {
    "points": {"points": 14},
    "status": {"status": "could not run", "finding": Finding("run.cpu")},
    "both": {"points": 0, "status": "failed", "finding": Finding("ledger.token")},
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_case_that_differs_in_points_or_in_status_alone_is_named(change: str) -> None:
    zero = replace(FULL, tests=(replace(FULL.tests[0], points=0, status="failed"), *FULL.tests[1:]))
    start = zero if change == "status" else FULL
    other = replace(start, tests=(replace(start.tests[0], **CHANGES[change]), *start.tests[1:]))
    assert differing(start, other) == differing(other, start) == [("bundle.differs", "q1.basic")]


def test_a_case_that_is_on_one_side_alone_is_named() -> None:
    fewer = replace(FULL, tests=FULL.tests[:-1])
    assert differing(FULL, fewer) == differing(fewer, FULL) == [("bundle.differs", "q5.basic")]


def test_a_file_that_became_gradable_or_not_is_named_first() -> None:
    assert differing(FULL, REJECTED)[0] == ("bundle.status", None)
    assert differing(REJECTED, FULL)[0] == ("bundle.status", None)
    assert differing(REJECTED, REJECTED) == differing(FULL, FULL) == differing(MIXED, MIXED) == []


# The page for many eyes


def test_the_summary_shows_points_under_pseudonyms_and_no_name() -> None:
    lines = [replace(FULL, student="Ada Lovelace", sha256="1" * 64), replace(REJECTED, student="bob", sha256="2" * 64)]
    names = pseudonyms(lines)
    text = render_summary(lines, names, WORDS)
    assert len(set(names.values())) == 2
    assert not [line.student for line in lines if line.student in text]
    [row] = [line for line in text.splitlines() if names["Ada Lovelace"] in line]
    assert [cell.strip() for cell in row.split("|")][3:8] == ["15", "20", "20", "15", "10"]
    assert "80 of 80" in row
    listed = who_is_who(names).decode().splitlines()
    assert listed[0] == "pseudonym,student"
    assert f"{names['bob']},bob" in listed


def test_a_pseudonym_depends_on_the_class_so_that_a_list_of_names_does_not_lead_to_it() -> None:
    one, other = replace(FULL, sha256="1" * 64), replace(FULL, sha256="2" * 64)
    assert pseudonyms([one]) == pseudonyms([one])
    assert pseudonyms([one])["ada"] != pseudonyms([other])["ada"]
