"""serve-check against a small server that speaks vLLM's protocol, and the sentences for runs that prove nothing."""

import json
import os
import re
import signal
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from commands import ENVIRONMENT, PROGRAM, ROOT, autograder
from engines import CACHE, CONFIG, changed, engine, guidellm
from kills import is_alive, levels, wait_until
from ports import ANSWERS, taken

from autograder.serving.ledger import Shape, shape_of


def check(folder: Path, url: str, *options: object, program: Path | None = None):
    return autograder(*check_arguments(folder, url, *options, program=program))


def check_arguments(folder: Path, url: str, *options: object, program: Path | None = None) -> list[str]:
    model = folder / "tiny"
    model.mkdir(exist_ok=True)
    (model / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    out = ("--bytes", 1 << 30, "--prompt-tokens", 32, "--output-tokens", 8, "--concurrency", "2", "-o", folder / "out")
    made = program or guidellm(folder)
    return [str(one) for one in ("serve-check", model, "--url", url, "--guidellm", made, *out, *options)]


@pytest.mark.parametrize(
    ("shape", "capacity", "block_size", "blocks"),
    [
        (Shape(2, 2, 32, "float16"), 1073741824, 32, 65536),
        (Shape(4, 8, 64, "float16"), 100000001, 64, 190),
        (Shape(3, 1, 128, "float32"), 67108863, 32, 682),
        (Shape(4, 8, 64, "float32"), 500000000, 128, 238),
    ],
)
def test_the_ledger_counts_the_blocks_that_vllm_0_32_made(shape, capacity, block_size, blocks):
    assert shape.blocks(capacity, block_size) == blocks


def test_evidence_is_a_table_and_a_plot(tmp_path):
    with engine() as url:
        done = check(tmp_path, url)
    assert (done.returncode, done.stderr) == (0, "")
    assert "| blocks | 65536 | 65536 |" in done.stdout
    assert "| blocks for requests (one is the null block) | 65535 | 65535 |" in done.stdout
    assert "count the same" in done.stdout
    assert (
        f"vLLM 0.32.0, guidellm 0.8.1; measured on {date.today()} from a machine of {os.cpu_count()} cores"
        in done.stdout
    )
    assert "| 2 | 32 | 0 | 0 | 21.5 | 4.25 |" in done.stdout.splitlines()
    assert (tmp_path / "out" / "serving.md").read_text(encoding="utf-8") == done.stdout
    assert "<svg" in (tmp_path / "out" / "serving.svg").read_text(encoding="utf-8")


def test_a_ledger_that_differs_ends_with_one(tmp_path):
    with engine(blocks=65535) as url:
        done = check(tmp_path, url)
    assert done.returncode == 1
    assert "| blocks | 65536 | 65535 |" in done.stdout
    assert "NOT the same" in done.stdout


@pytest.mark.parametrize(
    ("report", "said"),
    [
        (changed("request_totals", "successful", to=0), "no request was done"),
        (changed("request_totals", "successful", to=31), "guidellm tells of 31 requests where 32 were asked for"),
        (changed("time_to_first_token_ms", "successful", "mean", to=0.0), "times measured are zero"),
        (changed("inter_token_latency_ms", "successful", "mean", to=0.0), "times measured are zero"),
        (changed("time_to_first_token_ms", "successful", "mean", to=float("nan")), "times measured are zero"),
        (changed("time_to_first_token_ms", "successful", to=None), "times measured are zero"),
        (changed("output_token_count", "successful", "mean", to=3.0), "answers had 3.0 tokens on average where 8"),
        (changed("prompt_token_count", "successful", "mean", to=64.0), "prompts had 64.0 tokens on average where 32"),
        ({"benchmarks": []}, "is no report of guidellm"),
        ([], "is no report of guidellm"),
    ],
)
def test_a_run_that_proves_nothing_is_refused(tmp_path, report, said):
    with engine() as url:
        done = check(tmp_path, url, program=guidellm(tmp_path, report))
    assert_one_sentence(done, said)
    assert not (tmp_path / "out" / "serving.md").exists()


def test_the_lesson_shows_a_run_that_the_page_records():
    def rows(path: str) -> list[str]:
        return re.findall(
            r"^(?:# )?(\| \d+ \| \d+ \| \d+ \| \d+ \| [\d.]+ \| [\d.]+ \|)$", (ROOT / path).read_text("utf-8"), re.M
        )

    for page, lesson in (("docs/serving.md", "en"), ("docs/zh/serving.md", "zh")):
        shown = rows(f"assignment/paged_attention.{lesson}.py")
        assert shown
        assert set(shown) <= set(rows(page))


def test_a_refused_run_does_not_stand_beside_the_table_of_another(tmp_path):
    with engine() as url:
        assert check(tmp_path, url, "--concurrency", "2,4").returncode == 0
        nothing = guidellm(tmp_path, changed("request_totals", "successful", to=0))
        assert check(tmp_path, url, program=nothing).returncode == 2
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["guidellm-2.json"]


def test_an_interrupted_run_is_one_sentence_and_leaves_no_process(tmp_path):
    asleep = [sys.executable, "-c", "import pathlib, time; pathlib.Path('asleep').touch(); time.sleep(60)"]
    with engine() as url:
        program = guidellm(tmp_path, before=f"subprocess.run({asleep})")
        command = [*PROGRAM, *check_arguments(tmp_path, url, program=program)]
        running = subprocess.Popen(command, cwd=tmp_path, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: (tmp_path / "asleep").exists())
        below = [pid for level in levels(running.pid)[1:] for pid in level]
        running.send_signal(signal.SIGINT)
        complained = running.communicate(timeout=60)[1]
    assert (running.returncode, len(complained.splitlines()), len(below)) == (130, 1, 2), complained
    assert "there is no table; run the same command again" in complained
    wait_until(lambda: not [pid for pid in below if is_alive(pid)])


def test_a_folder_s_name_is_only_a_name(tmp_path):
    with engine() as url:
        done = check(tmp_path, url, "-o", tmp_path / "a, b=c: 'd'")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "a, b=c: 'd'" / "guidellm-2.json").exists()


def test_a_level_is_measured_once_and_reached(tmp_path):
    with engine() as url:
        assert check(tmp_path, url, "--concurrency", "2,02").stdout.count("| 2 | 32 |") == 1
        assert_one_sentence(
            check(tmp_path, url, "--requests", 3, "--concurrency", "1,4"), "3 requests are never 4 at once"
        )


def assert_one_sentence(done, said: str) -> None:
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
    assert said in done.stderr


def test_a_request_that_is_too_long_is_a_refusal(tmp_path):
    with engine(longest=39) as url:
        assert_one_sentence(check(tmp_path, url), "takes requests of at most 39 tokens and refuses those of 32 and 8")


@pytest.mark.parametrize(
    ("server", "said"),
    [
        ({"model": "other"}, "serves other and not tiny"),
        ({"metrics": "python_info 1.0\n"}, "does not tell the KV cache's size"),
        ({"metrics": CACHE.replace('block_size="32"', 'block_size="0"')}, "does not tell the KV cache's size"),
        ({"metrics": CACHE.replace("{blocks}", "None")}, "does not tell the KV cache's size"),
        ({"metrics": "vllm:up yes\n" + CACHE}, "is not written as Prometheus has it"),
        ({"metrics": CACHE.partition("vllm:num")[0]}, "does not count preempted requests"),
        ({"metrics": CACHE.replace(" 3.0", " NaN")}, "does not count preempted requests"),
        ({"metrics": CACHE.replace("block_size", 'cache_dtype="fp8",block_size')}, "float64 and not fp8"),
    ],
)
def test_a_server_of_another_kind_is_refused(tmp_path, server, said):
    with engine(**server) as url:
        assert_one_sentence(check(tmp_path, url), said)


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_port_that_another_service_has_is_one_sentence(tmp_path, answer):
    with taken(ANSWERS[answer]) as port:
        assert_one_sentence(check(tmp_path, f"http://127.0.0.1:{port}"), "does not answer (")


def test_no_server_no_program_and_a_failing_one(tmp_path):
    assert_one_sentence(check(tmp_path, "http://127.0.0.1:9"), "does not answer")
    with engine() as url:
        assert_one_sentence(check(tmp_path, url, program=Path("no-such-guidellm")), "is not to be found")
        failing = guidellm(tmp_path, before="sys.exit('no tokenizer here')")
        assert_one_sentence(check(tmp_path, url, program=failing), "guidellm ended with 1: no tokenizer here")


def test_what_the_server_tells_of_bytes_is_enough(tmp_path):
    metrics = CACHE.replace("block_size", 'kv_cache_memory_bytes="1073741824",block_size')
    with engine(metrics=metrics) as url:
        model = tmp_path / "tiny"
        model.mkdir()
        (model / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
        made = ("--guidellm", guidellm(tmp_path), "--concurrency", "2", "-o", tmp_path / "out")
        lengths = ("--prompt-tokens", 32, "--output-tokens", 8)
        done = autograder("serve-check", model, "--url", url, *made, *lengths)
    assert done.returncode == 0, done.stderr
    assert "| bytes | 1073741824 | 1073741824 |" in done.stdout


@pytest.mark.parametrize(
    "content",
    [
        *("{", "[]", "{}", '{"num_hidden_layers": 2, "num_attention_heads": 2}'),
        json.dumps(CONFIG | {"num_attention_heads": 0, "head_dim": None, "hidden_size": 64}),
        json.dumps(CONFIG | {"num_hidden_layers": 0}),
        json.dumps(CONFIG | {"head_dim": float("inf")}),
    ],
)
def test_a_model_folder_without_its_numbers_is_named(tmp_path, content):
    from autograder.serving.server import ServingError

    (tmp_path / "config.json").write_text(content, encoding="utf-8")
    with pytest.raises(ServingError, match="does not tell layers, heads and dtype"):
        shape_of(tmp_path)


@pytest.mark.parametrize("dtype", ["float8", None])
def test_a_dtype_that_the_ledger_does_not_count_is_named(tmp_path, dtype):
    from autograder.serving.server import ServingError

    (tmp_path / "config.json").write_text(json.dumps(CONFIG | {"dtype": dtype, "torch_dtype": None}), encoding="utf-8")
    with pytest.raises(ServingError, match=f"float64 and not {dtype}; serve one of them"):
        shape_of(tmp_path)
