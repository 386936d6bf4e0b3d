"""Who pays, on paper: from what every case showed by itself to the verdict on each; no submission is run."""

from collections.abc import Mapping

from autograder.contract.questions import questions
from autograder.findings import Finding
from autograder.grading.one.attribution import attribute
from autograder.grading.one.verdict import PASSED, Outcome, Verdict

TABLE = questions()
CASES = [case.id for question in TABLE.of("cpu") for case in TABLE[question].cases]
WRONG = Finding("pool.lost", {"block": 3})


def verdicts(shown: Mapping[str, Outcome]) -> dict[str, Verdict]:
    """Return the verdicts on all that did not pass where every case passed by itself but these."""
    judged = attribute(TABLE, {case: shown.get(case, PASSED) for case in CASES})
    assert [*judged] == CASES
    return {case: verdict for case, verdict in judged.items() if verdict.status != "passed"}


def died(code: str, **details: object) -> Outcome:
    """Return the outcome of a case whose child came to this end."""
    return Outcome("could not run", Finding(code, details))


def waits_for(*todos: int) -> Verdict:
    """Return the verdict on a case that waits for these TODOs."""
    return Verdict("not attempted", Finding("waiting", {"todos": ", ".join(map(str, todos))}))


def test_where_all_pass_nobody_pays() -> None:
    assert verdicts({}) == {}


def test_a_fault_of_its_own_costs_the_case_and_keeps_its_finding() -> None:
    wrong = Outcome("failed", WRONG, "q3")
    assert verdicts({"q3.last_block": wrong}) == {"q3.last_block": Verdict("failed", WRONG)}


def test_a_fault_of_another_todo_waits_for_it() -> None:
    assert verdicts({"q4.dtypes": Outcome("failed", WRONG, "q2")}) == {"q4.dtypes": waits_for(2)}


def test_the_same_death_is_paid_once_however_much_time_there_was_until_it() -> None:
    """In q3 it had the whole second; what was asked after it, in a hurry, came to the same end sooner."""
    whole, hurried = died("run.cpu", seconds="1"), died("run.cpu", seconds="0.06")
    found = verdicts({"q3.grows_when_full": whole, "q5.report": hurried})
    assert found == {"q3.grows_when_full": Verdict(whole.status, whole.finding), "q5.report": waits_for(3)}


def test_what_two_todos_have_paid_for_waits_for_both() -> None:
    hang = died("run.cpu", seconds="1")
    found = verdicts({"q2.crowd": hang, "q3.grows_when_full": hang, "q5.report": hang})
    assert found["q5.report"] == waits_for(2, 3)


def test_a_fault_of_a_todo_that_its_own_question_does_not_show_is_charged_where_it_shows() -> None:
    assert verdicts({"q5.report": Outcome("failed", WRONG, "q2")}) == {"q5.report": Verdict("failed", WRONG)}


def test_another_death_is_another_fault() -> None:
    hang, greed = died("run.cpu", seconds="1"), died("run.memory", mib=512)
    found = verdicts({"q3.grows_when_full": hang, "q5.report": greed})
    assert found["q5.report"] == Verdict(greed.status, greed.finding)


def test_a_deviation_is_the_same_only_with_the_same_details() -> None:
    other = Finding(WRONG.code, {"block": 4})
    lost = {"q3.last_block": Outcome("failed", WRONG, "q3")}
    assert verdicts({**lost, "q5.release": Outcome("failed", WRONG, "q5")})["q5.release"] == waits_for(3)
    found = verdicts({**lost, "q5.release": Outcome("failed", other, "q5")})
    assert found["q5.release"] == Verdict("failed", other)


def test_a_fault_that_showed_in_company_alone_is_not_paid_twice_either() -> None:
    hang = died("run.cpu", seconds="1")
    late = Outcome("failed", WRONG, "q5", in_company=died("run.cpu", seconds="0.06"))
    assert verdicts({"q3.grows_when_full": hang, "q5.release": late})["q5.release"] == waits_for(3)


def test_a_fault_in_given_code_costs_its_own_question_and_stops_the_others_for_nothing() -> None:
    given = Outcome("failed", WRONG, "q5")
    found = verdicts({"q5.release": given, "q3.retry_after_release": given})
    assert found == {
        "q5.release": Verdict("failed", WRONG),
        "q3.retry_after_release": Verdict("not attempted", Finding("waiting.given")),
    }


def test_a_fault_in_given_code_that_q5_does_not_show_is_charged_where_it_shows() -> None:
    given = Outcome("failed", WRONG, "q5")
    assert verdicts({"q3.retry_after_release": given}) == {"q3.retry_after_release": Verdict("failed", WRONG)}


def test_what_comes_after_another_questions_case_waits_for_its_todo() -> None:
    after = [case for case in CASES if "q2.basic" in TABLE.cases[case].after and not case.startswith("q2.")]
    found = verdicts({"q2.basic": Outcome("failed", WRONG, "q2")})
    assert after
    assert found == {"q2.basic": Verdict("failed", WRONG), **dict.fromkeys(after, waits_for(2))}


def test_what_comes_after_a_case_of_its_own_question_shares_its_end_but_not_its_fault() -> None:
    hang = died("run.cpu", seconds="1")
    own = {case: verdict for case, verdict in verdicts({"q4.basic": hang}).items() if case.startswith("q4.")}
    assert own == {case.id: Verdict(hang.status, hang.finding) for case in TABLE["q4"].cases}
    assert verdicts({"q4.basic": Outcome("failed", WRONG, "q4")}).keys() & own.keys() == {"q4.basic"}


def test_given_guards_count_once_something_of_the_questions_own_has_passed() -> None:
    wrong = Outcome("failed", WRONG, "q1")
    own = {case.id: wrong for case in TABLE["q1"].cases if not case.given}
    guards = {case.id: waits_for(1) for case in TABLE["q1"].cases if case.given}
    assert guards
    found = verdicts(own)
    assert {case: found[case] for case in guards} == guards
    del own["q1.shapes"]
    assert verdicts(own).keys() == own.keys()
