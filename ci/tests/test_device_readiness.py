"""On the stand-in for a GPU: right ways of reading pass, whatever leaves the device is named."""

import pytest
from device_reads import RIGHT, WRONG
from device_samples import COUNT, GROWS, JOIN, codes, patched, reading, verdicts

from autograder.findings import Finding
from autograder.reporting.words import Words


@pytest.mark.parametrize("way", RIGHT)
def test_a_right_way_of_reading_passes_every_case(way: str) -> None:
    assert codes(reading(*RIGHT[way])) == set()


@pytest.mark.parametrize("way", WRONG)
def test_what_leaves_the_device_fails_g4_by_name(way: str) -> None:
    line, body, code = WRONG[way]
    found = verdicts(reading(line, body), "g4")
    assert found["g4.basic"].status == "failed"
    assert found["g4.basic"].finding == Finding(code)


@pytest.mark.parametrize("code", sorted({code for _, _, code in WRONG.values()} | {"device.memory", "device.ledger"}))
def test_every_fault_has_a_sentence_of_its_own_in_both_languages(code: str) -> None:
    sentences = [Words(lang).sentence(Finding(code)) for lang in ("en", "zh")]
    assert len({*sentences, *(Words(lang).sentence(Finding("no.such")) for lang in ("en", "zh"))}) == 4


def test_asking_the_device_for_a_count_fails_prefill_and_decode() -> None:
    asking = "bool(torch.tensor(req.seq_len, device=self.physical_kv_cache.device) == "
    prefill = patched((COUNT, f"{COUNT}\n{asking} 3)"))
    decode = patched((GROWS, f"{GROWS}\n{asking} 3)"))
    assert codes(prefill, "g2", "g3") == codes(decode, "g2", "g3") == {"device.sync"}
    assert codes(prefill, "g3") == codes(decode, "g2") == set()


def test_device_memory_for_bookkeeping_fails_prefill() -> None:
    keeping = "self.owned = torch.zeros(self.num_blocks, device=self.physical_kv_cache.device)"
    assert codes(patched((COUNT, f"{COUNT}\n{keeping}"))) == {"device.memory"}


def test_a_refused_prefill_that_clears_the_pool_fails() -> None:
    found = verdicts(patched((COUNT, f"{COUNT}\nself.physical_kv_cache.zero_()")), "g2")
    assert found["g2.refusal"].status == "failed"


def test_a_ledger_that_is_wrong_for_one_dtype_fails_that_dtype() -> None:
    line = "kv_bytes_per_token = 2 * num_layers * num_kv_heads * head_dim * dtype_bytes"
    found = verdicts(patched((line, f"{line} * (2 if dtype_bytes == 1 else 1)")), "g1")
    assert [case for case, verdict in found.items() if verdict.status == "failed"] == ["g1.float8"]
    assert found["g1.float8"].finding == Finding("device.ledger")


def test_an_open_todo_is_not_attempted_and_costs_nothing_elsewhere() -> None:
    found = verdicts(patched((COUNT, "raise NotImplementedError"), (JOIN, "raise NotImplementedError")))
    assert {v.status for case, v in found.items() if case[:2] in ("g2", "g4")} == {"not attempted"}
    assert {v.status for case, v in found.items() if case[:2] in ("g1", "g3")} == {"passed"}
    assert found["g4.vast"].finding == Finding("open.todo", {"todo": 4})


def test_a_wrong_prefill_costs_nothing_in_decode_and_reading() -> None:
    assert codes(patched((COUNT, f"{COUNT} + 1")), "g3", "g4") == set()
    assert codes(patched((COUNT, f"{COUNT} + 1")), "g2") == {"prefill.count"}


def test_a_read_that_is_wrong_everywhere_is_named_as_on_the_cpu() -> None:
    in_pool_order = "cat_blocks = torch.cat([self.physical_kv_cache[b] for b in sorted(req.block_table)])"
    assert "read.order" in codes(reading(JOIN, in_pool_order), "g4")


def test_a_call_that_hangs_costs_its_question_only() -> None:
    found = verdicts(reading(JOIN, "while True: pass"))
    assert {v.status for case, v in found.items() if case[:2] == "g4"} == {"could not run"}
    assert {v.status for case, v in found.items() if case[:2] != "g4"} == {"passed"}


def test_a_constructor_without_device_and_dtype_grades_the_same() -> None:
    given = """        *,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
"""
    plain = patched((given, ""), ("head_dim, dtype=dtype, device=device)", "head_dim)"))
    assert codes(plain) == set()
