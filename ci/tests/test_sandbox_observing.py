"""What a submission's objects look like from outside: by exact type, and untouched by the looking."""

import struct

import pytest
from sandbox_samples import CASE, LEDGER, NEW, PREFILL, READ, REQUEST, RIGHT, answer, spawn, trace

from autograder.contract.observations import open_todo
from autograder.contract.operations import DTYPE_BYTES, Operation

VALUES = {
    "return 3": 3,
    "return 10 ** 300": 10**300,
    "return 1 << 5000": {"other": "int"},
    "import numpy; return numpy.int64(3)": 3,
    "import numpy; return numpy.uint8(3)": 3,
    "return None": None,
    "return True": {"other": "bool"},
    "return 0.5": {"float": "0x1.0000000000000p-1"},
    "return float('nan')": {"other": "float"},
    "import numpy; return numpy.float64(3)": {"float": "0x1.8000000000000p+1"},
    "return 'x' * 500": {"str": "x" * 200},
    "return '\\ud800'": {"str": "?"},
    "return b'x'": {"other": "bytes"},
    "return [1, (2, None)]": {"list": [1, {"tuple": [2, None]}]},
    "return [True, 1]": {"list": [{"other": "bool"}, 1]},
    "return {'a': [1]}": {"dict": {"a": {"list": [1]}}},
    "return {2: 3, 1: 2}": {"set": [1, 2]},
    "return {3, 1, 2}": {"set": [1, 2, 3]},
    "return frozenset({2, 1})": {"set": [1, 2]},
    "return {2: 'x', 1: 'y'}.keys()": {"set": [1, 2]},
    "import array; return array.array('H', [3, 1])": {"sequence": [3, 1]},
    "class Bag:\n    def __len__(self): return 2\n    def __iter__(self): return iter((2, 1))\nreturn Bag()": {
        "set": [1, 2]
    },
    "import collections; return collections.deque([1, 2])": {"sequence": [1, 2]},
    "return range(3)": {"sequence": [0, 1, 2]},
    "import numpy; return numpy.array([1, 2])": {"sequence": [1, 2]},
    "import collections; return collections.OrderedDict(a=1)": {"dict": {"a": 1}},
    "import collections; return collections.defaultdict(int, a=1)": {"dict": {"a": 1}},
    "class Liar(dict):\n    def __iter__(self): return iter('b')\n    def items(self): return [('b', 2)]\n"
    "    __len__ = lambda self: 7\n    __getitem__ = lambda self, key: 2\nreturn Liar(a=1)": {"dict": {"a": 1}},
    "return [0] * 5000": {"other": "list"},
    "return lambda: 0": {"other": "function"},
    "class Liar(int):\n    __class__ = bool\n    __int__ = __index__ = __add__ = lambda *_: 4\nreturn Liar(3)": 3,
    "class Vast(int): pass\nreturn Vast(1 << 5000)": {"other": "int"},
    "import enum\nclass Id(enum.IntEnum): A = 3\nreturn [Id.A]": {"list": [3]},
    "class Liar(list):\n    def __iter__(self): return iter([1, 2])\nreturn Liar()": {"sequence": [1, 2]},
    "class Endless(list):\n    def __iter__(self):\n        while True: yield 1\nreturn Endless()": {
        "other": "Endless"
    },
    "class Rude(list):\n    def __iter__(self): raise ValueError\nreturn Rude()": {"other": "Rude"},
    "class Mine(torch.Tensor): pass\nreturn Mine()": {"other": "Mine"},
    "return torch.zeros(1).to_sparse()": {"other": "Tensor"},
    "return torch.zeros(1).expand(1 << 40)": {"other": "Tensor"},
    "return torch.empty(2, 3, device='meta')": {"tensor": {"dtype": "float32", "shape": [2, 3], "device": "meta"}},
}


@pytest.mark.parametrize("body", VALUES)
def test_a_value_is_told_by_its_exact_type(body: str) -> None:
    assert answer(body)["returned"] == VALUES[body]


def test_a_list_that_holds_itself_ends_somewhere() -> None:
    seen = answer("x = []; x.append(x); return x")["returned"]
    assert "other" in str(seen)


@pytest.mark.parametrize(
    "expression",
    ["t", "t.t().contiguous().t()", "torch.nn.Parameter(t)", "t.clone().requires_grad_()", "torch.cat([t, t])[:2]"],
)
def test_a_tensor_arrives_with_its_bytes_whatever_its_strides(expression: str) -> None:
    seen = answer(f"t = torch.arange(6.).reshape(2, 3); return {expression}")["returned"]
    data = struct.pack("6f", *range(6))
    assert seen == {"tensor": {"dtype": "float32", "shape": [2, 3], "device": "cpu", "bytes": data}}


def test_an_open_blank_is_named() -> None:
    raised = answer("return 2 * ____")["raised"]
    assert (raised["name"], raised["blank"], raised["missing"]) == ("NameError", "____", None)
    assert answer("x = x + 1; return x")["raised"]["blank"] == "x"


def test_an_error_tells_its_builtin_bases_and_whether_it_says_oom() -> None:
    raised = answer("class Full(RuntimeError): pass\nraise Full('pool OOM')")["raised"]
    assert raised["name"] == "Full"
    assert raised["bases"] == ["RuntimeError", "Exception", "BaseException"]
    assert raised["oom"]
    assert not answer("raise NotImplementedError")["raised"]["oom"]
    assert "RuntimeError" in answer("raise NotImplementedError")["raised"]["bases"]


@pytest.mark.parametrize("leave", ["raise SystemExit", "import sys; sys.exit(0)", "raise KeyboardInterrupt"])
def test_leaving_from_within_a_call_is_an_error_like_any_other(leave: str) -> None:
    assert "raised" in answer(leave)


def test_what_is_not_there_is_named() -> None:
    names = [seen.get("raised", {}).get("missing") for seen in trace(["x = 1"], [*CASE, LEDGER])]
    assert names == ["KVCacheManager", "Request", None, None, "estimate_kv_cache_bytes"]
    without_method = RIGHT.replace("def get_physical_cache", "def another")
    assert trace([without_method])[-1]["raised"]["missing"] == "get_physical_cache"


def test_the_state_follows_every_operation() -> None:
    states = [seen["state"] for seen in trace([RIGHT])]
    assert [s["requests"].get("r", {}).get("table") for s in states] == [
        None,
        {"list": []},
        {"list": [0, 1]},
        {"list": [0, 1]},
    ]
    assert states[-1]["managers"]["m"]["free"] == {"list": [2, 3]}
    assert states[-1] is states[-2]


@pytest.mark.parametrize("dtype", DTYPE_BYTES)
@pytest.mark.parametrize("signature", ["head_dim", "head_dim, *, dtype=torch.float32, device='cpu'"])
def test_the_pool_takes_any_dtype_and_holds_exactly_the_bytes_sent(dtype: str, signature: str) -> None:
    source = RIGHT.replace("block_size, head_dim):\n        self", f"block_size, {signature}):\n        self")
    if "dtype" in signature:
        source = source.replace("block_size, head_dim)\n", "block_size, head_dim, dtype=dtype, device=device)\n")
    payload = bytes(i % 251 for i in range(4 * 2 * 3 * DTYPE_BYTES[dtype]))
    operations = [
        Operation("new", ("m", 4, 2, 3, dtype, "cpu")),
        Operation("fill", ("m",), payload),
        REQUEST,
        PREFILL,
        READ,
    ]
    seen = trace([source], operations)
    pool = seen[1]["state"]["managers"]["m"]["pool"]["tensor"]
    assert (pool["dtype"], pool["bytes"]) == (dtype, payload)
    result = seen[-1]["returned"]["tensor"]
    assert (result["dtype"], result["bytes"]) == (dtype, payload[: 3 * 3 * DTYPE_BYTES[dtype]])


def test_a_constructor_without_dtype_leaves_the_default_as_it_was() -> None:
    probe = "\ndef estimate_kv_cache_bytes(*a): return torch.zeros(1)"
    seen = trace([RIGHT + probe], [Operation("new", ("m", 1, 1, 1, "float64", "cpu")), LEDGER])
    assert seen[-1]["returned"]["tensor"]["dtype"] == "float32"


def test_a_pool_is_filled_where_it_lies_and_keeps_its_dtype() -> None:
    pinned = RIGHT.replace("block_size, head_dim)\n", "block_size, head_dim, dtype=torch.float32)\n")
    pinned += """
class KVCacheManager(KVCacheManager):
    def __init__(self, *args):
        super().__init__(*args)
        self.flat = self.physical_kv_cache.view(-1)
    def get_physical_cache(self, req):
        return self.flat[:3]
"""
    new, payload = Operation("new", ("m", 4, 2, 3, "float64", "cpu")), struct.pack("24d", *range(24))
    seen = trace([pinned], [new, Operation("fill", ("m",), payload), REQUEST, READ])
    tensor = seen[-1]["returned"]["tensor"]
    assert (tensor["dtype"], tensor["bytes"]) == ("float32", struct.pack("3f", 0, 1, 2))


def test_the_numbers_that_objects_keep_are_told() -> None:
    attributes = [Operation("attributes", (label,)) for label in ("m", "r")]
    manager, request = trace([RIGHT], [NEW, REQUEST, *attributes])[-2:]
    assert manager["returned"] == {"dict": {"num_blocks": 4, "block_size": 2, "head_dim": 3}}
    assert request["returned"] == {"dict": {"request_id": 7, "seq_len": 3}}


@pytest.mark.parametrize("blank", ["return ...", "return 2 * ...", "x = ...; return x > 3"])
def test_a_blank_of_the_starter_is_known_wherever_it_got(blank: str) -> None:
    assert open_todo(answer(blank), frozenset()) is not None


def test_each_case_starts_from_fresh_objects() -> None:
    with spawn() as child:
        child.load([RIGHT])
        assert child.run(CASE) == child.run(CASE)
        [seen] = child.run([READ])
    assert seen["raised"]["name"] == "Missing"


REBOUND = {
    "another dtype": "self.physical_kv_cache.view(torch.int32)",
    "another shape": "self.physical_kv_cache.reshape(-1)",
    "other bytes": "self.physical_kv_cache + 1",
    "no tensor": "None",
    "a part": "self.physical_kv_cache[:2]",
}


@pytest.mark.parametrize("change", REBOUND)
def test_a_pool_that_becomes_another_tensor_is_seen_whatever_of_it_stays(change: str) -> None:
    source = RIGHT.replace("        need = ", f"        self.physical_kv_cache = {REBOUND[change]}\n        need = ")
    states = [seen["state"]["managers"]["m"]["pool"] for seen in trace([source])]
    assert states[0] == states[1] != states[2]


@pytest.mark.parametrize(
    ("statement", "field"),
    [
        ("self.num_blocks += 1", "num_blocks"),
        ("self.num_blocks = float(self.num_blocks)", "num_blocks"),
        ("self.block_size = True", "block_size"),
        ("self.free_blocks.reverse()", "free"),
        ("self.free_blocks = tuple(self.free_blocks)", "free"),
        ("self.free_blocks = [float(b) for b in self.free_blocks]", "free"),
    ],
)
def test_a_change_of_a_manager_is_seen_in_its_value_its_order_and_its_kind(statement: str, field: str) -> None:
    source = RIGHT.replace(
        "        return self.physical_kv_cache[", f"        {statement}\n        return self.physical_kv_cache["
    )
    before, after = (seen["state"]["managers"]["m"] for seen in trace([source])[-2:])
    assert {name for name in before if before[name] != after[name]} == {field}
