"""Asking one child for every question at once: each reply stands for itself, and one found right is known again."""

from dataclasses import replace

import pytest
from classes import CEILING, solution
from sandbox_samples import CASE, LEDGER, NEW, RIGHT, SHORT, shared_server, spawn

from autograder.contract.scenarios import scenarios
from autograder.grading.one.judge import SubmissionHandle
from autograder.sandbox.client import Died, ForkServer
from autograder.sandbox.protocol import Message, ProtocolError, pack
from autograder.sandbox.trusted.request import request_for

HANG = "while True: pass"


@pytest.fixture(scope="module")
def server():
    with ForkServer() as server:
        yield server


def verdicts(server, source):
    """Return the status of every case of a submission."""
    handle = SubmissionHandle(server, [source], lambda _, finding: finding.code)
    try:
        return {case: verdict.status for case, verdict in handle.verdicts.items()}
    finally:
        handle.close()


def lost(statuses):
    """Return the questions that did not pass in full."""
    return {case.partition(".")[0] for case, status in statuses.items() if status != "passed"}


def replies(source, *requests):
    """Return what a fresh child with this source answers."""
    with spawn() as child:
        child.load([source])
        return list(child.answers(requests))


def test_a_reply_found_right_is_known_again_and_no_other_is():
    request, other = request_for([CASE]), request_for([CASE])
    [first] = replies(RIGHT, request)
    assert first.traces is not None
    request.found_right(first)
    assert [reply.traces for reply in replies(RIGHT, request)] == [None]
    assert replies(RIGHT, other)[0].traces == first.traces
    assert replies(RIGHT.replace("pop(0)", "pop()"), request)[0].traces is not None


def test_several_requests_get_a_reply_each_in_their_order():
    requests = [request_for([[LEDGER]]), request_for([CASE, [NEW]]), request_for([[NEW]])]
    assert [[len(trace) for trace in reply.traces] for reply in replies(RIGHT, *requests)] == [[1], [4, 1], [1]]


def test_replies_before_the_end_of_a_child_are_not_lost():
    hang = RIGHT.replace("need = ", f"{HANG}\n        need = ")
    with spawn() as child:
        child.load([hang])
        answers = child.answers([request_for([[LEDGER]]), request_for([CASE])])
        assert next(answers).traces is not None
        with pytest.raises(Died) as died:
            next(answers)
    assert died.value.finding.code == "run.cpu"


def test_every_request_has_the_whole_time():
    busy = "import time\ndef estimate_kv_cache_bytes(*_):\n    end = time.process_time() + 0.2\n"
    busy += "    while time.process_time() < end: pass"
    limits = replace(SHORT, case_cpu_s=0.3)
    with shared_server(limits).spawn() as child:
        child.load([busy])
        assert len(list(child.answers([request_for([[LEDGER]])] * 4))) == 4


def test_one_reply_too_many_is_a_forgery():
    frame = pack({"traces": [[{"returned": 1, "state": None}]]})
    forger = f"import os\ndef estimate_kv_cache_bytes(*_):\n    os.write(4, {frame * 2!r})"
    with spawn() as child:
        child.load([forger])
        with pytest.raises(Died) as died:
            list(child.answers([request_for([[LEDGER]])]))
    assert died.value.finding.code == "run.forged"


def test_wrong_and_right_submissions_in_turn_keep_their_verdicts(server):
    right, wrong = solution(), solution((CEILING, "needed_blocks = req.seq_len // self.block_size + 1"))
    for _ in range(2):
        assert lost(verdicts(server, right)) == set()
        assert "q2" in lost(verdicts(server, wrong)) <= {"q2", "q5"}


@pytest.mark.parametrize(
    ("call", "own"),
    [
        ("allocate_for_prefill(self: KVCacheManager, req: Request) -> None:", "q2"),
        ("allocate_for_decode(self: KVCacheManager, req: Request) -> None:", "q3"),
        ("get_physical_cache(self: KVCacheManager, req: Request) -> torch.Tensor:", "q4"),
    ],
)
@pytest.mark.parametrize("end", [HANG, "import os; os._exit(3)", "bytearray(200 << 20) * 4; import os; os.abort()"])
def test_a_call_that_kills_costs_its_own_question_and_what_rests_on_it(server, call, own, end):
    source = solution()
    assert call in source
    statuses = verdicts(server, source.replace(call, f"{call}\n    {end}"))
    assert own in lost(statuses) <= {own, "q5"}
    assert all(status != "passed" for case, status in statuses.items() if case.startswith(own))


def test_the_border_between_text_and_bytes_is_part_of_what_is_known_again():
    """Else a reply could be forged whose bytes run together as those of a right one do."""
    request = request_for([[LEDGER]])
    whole = b'{"traces":[[{"returned":1,"state":null}]]}'
    known = request.reply(Message(whole, b""))
    request.found_right(known)
    assert request.reply(Message(whole, b"")).traces is None
    for border in range(len(whole)):
        other = Message(whole[:border], whole[border:])
        with pytest.raises(ProtocolError):
            request.reply(other)


LEAVES_TRACES = """

_seen = set()
_prefill = KVCacheManager.allocate_for_prefill


def _once(self, req):
    if req.request_id in _seen and len(req.block_table) == 0:
        raise KeyError("this id was served before, in another case")
    _seen.add(req.request_id)
    return _prefill(self, req)


KVCacheManager.allocate_for_prefill = _once
"""


def test_what_fails_beside_other_cases_alone_and_passes_in_a_fresh_child_passes(server):
    """Some submissions keep state in the class. A case depends on no other, so that costs nothing."""
    source = solution() + LEAVES_TRACES
    with server.spawn() as child:
        child.load([source])
        cases = [scenarios()[case].operations for case in ("q2.basic", "q2.boundaries")]
        [reply] = child.answers([request_for(cases)])
    assert any("raised" in seen for seen in reply.traces[1]), "the cases do not disturb one another"
    statuses = verdicts(server, source)
    assert statuses["q2.basic"] == statuses["q2.block_size_one"] == statuses["q2.second_prefill"] == "passed"
