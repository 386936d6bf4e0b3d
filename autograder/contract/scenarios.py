"""The scenarios of q1 to q5: at least one per ruling of the contract, and beside them those drawn at real size."""

from functools import cache

from autograder.contract.families.drawn import drawn_scenarios
from autograder.contract.ledger import BLOCK, LAYOUT, TOKEN, TOTAL
from autograder.contract.questions import questions
from autograder.contract.scenario import Scenario, Script
from autograder.contract.seed import PUBLIC, Seed
from autograder.contract.walk import walks


@cache
def scenarios(seed: Seed = PUBLIC) -> dict[str, Scenario]:
    """Return every CPU scenario by its id, in the order of the table: the fixed ones, and those that ``seed`` draws."""
    known = {s.id: s for s in [*_ledger(), *_prefill(), *_decode(), *_read(), *_lifecycle()]} | drawn_scenarios(seed)
    for walk in walks():
        known[walk.id] = known[walk.id].followed_by(walk) if walk.id in known else walk
    listed = {id: known.pop(id) for id in questions().cases if id in known}
    return listed | known


def _ledger() -> list[Scenario]:
    plain = (5, 16, 3, 7, 11, 4)
    refusals = Script()
    for position in range(6):
        for bad in (0, -1):
            refusals.ledger(*(bad if i == position else d for i, d in enumerate(plain)))
    refusals.ledger(-5, -16, 3, 7, 11, 4).ledger(5, 16, 3, -7, -11)
    return [
        Script().ledger(*plain).ledger(3, 8, 13, 5, 64).scenario("q1.per_token", [TOKEN]),
        Script().ledger(*plain).ledger(3, 8, 13, 5, 64).ledger(5, 8, 3, 7, 11, 4).scenario("q1.per_block", [BLOCK]),
        Script().ledger(*plain).ledger(3, 8, 13, 5, 64).ledger(5, 16, 2, 7, 11, 4).scenario("q1.total", [TOTAL]),
        Script().ledger(7, 4, 2, 8, 16, 1).ledger(7, 4, 2, 8, 16, 2).ledger(7, 4, 2, 8, 16, 4).ledger(7, 4, 2, 8, 16)
        .ledger(6, 3, 5, 2, 10, 8).scenario("q1.dtype_bytes", [TOKEN]),
        Script().ledger(2_000_017, 4093, 127, 131, 8191, 4).ledger(2**40 + 3, 17, 9, 3, 257, 2)
        .ledger(3, 2, 1009, 1013, 4099)
        .scenario("q1.exact_integers", [TOKEN, BLOCK, TOTAL]),
        Script().ledger(*plain).scenario("q1.layout", [LAYOUT]),
        refusals.scenario("q1.refuses_non_positive"),
    ]  # fmt: skip


def _prefill() -> list[Scenario]:
    boundaries = Script()
    for size, lengths in ((4, (3, 4, 5)), (4, (7, 8, 9)), (3, (6, 10)), (16, (17, 31))):
        boundaries.new(11, size, 1)
        for r, length in zip("ABCD", lengths, strict=False):
            boundaries.arrive(r, length)
    boundaries.new(4, 91, 1).request("A", 273, 0).prefill("A")
    with boundaries.quietly():
        boundaries.new(520, 4, 1).arrive("W", 2049)  # a length that half precision rounds
    return [
        Script().new(8, 4).arrive("A", 6).scenario("q2.basic"),
        boundaries.scenario("q2.boundaries"),
        Script().new(8, 1).arrive("A", 1).arrive("B", 3).arrive("C", 2).scenario("q2.block_size_one"),
        _long_table().new(3, 4).arrive("A", 12).new(2, 5).arrive("B", 3).arrive("C", 5)
        .new(6, 4).hold("D", [1], 4).hold("E", [4], 4).arrive("F", 16).new(41, 4, 1).arrive("G", 164)
        .scenario("q2.exact_fit"),
        Script().new(4, 4).fill().arrive("A", 5).request("B", 9).prefill("B", "B").arrive("C", 8).arrive("D", 1)
        .new(2, 4).arrive("F", 100).new(4, 3).hold("G", [0, 2], 6).vacate("G").arrive("H", 13)
        .new(2, 4).hold("I", [0], 4).arrive("J", 5).vacate("I").prefill("J").release("J").arrive("K", 7)
        .scenario("q2.refusal_changes_nothing"),
        Script().new(4, 4).arrive("A", 6).prefill("A").new(2, 4).arrive("B", 8).prefill("B")
        .scenario("q2.second_prefill"),
        _many_at_a_time().new(6, 4).new(6, 4, m="n").on("m").arrive("A", 6).fill(1).arrive("B", 4).on("n")
        .arrive("C", 9).on("m").arrive("D", 3).attributes("D").new(2, 1).new(2, 1, m="n").arrive("E", 2)
        .on("m").arrive("F", 1).arrive("G", 1).new(1, 2).new(8, 4, m="n").request("H", 8, 2**40 + 7)
        .on("m").prefill("H").on("n").prefill("H").attributes("H").scenario("q2.requests_apart"),
        Script().new(8, 4).arrive("A", 4).arrive("B", 16).scenario(
            "q2.table_can_grow",
            calls=Script().new(8, 4).request("A", 4).report("A").prefill("A").decode("A").arrive("B", 24)
            .arrive("C", 1),
        ),
    ]  # fmt: skip


def _many_at_a_time() -> Script:
    """Let two score of requests live beside one another, two with ids that are the same as floats."""
    script = Script()
    with script.quietly():
        script.new(60, 2, 1)
        for i in range(20):
            script.request(f"r{i}", 1 + i % 3, 2**53 + i).prefill(f"r{i}")
    with script.quietly():
        for i in range(20, 40):
            script.arrive(f"r{i}", 1 + i % 3)
    return script


def _vast_block() -> Script:
    """Fill a block whose end neither 16 bits nor the tolerance of a comparison of floats can tell."""
    script = Script()
    with script.quietly():
        script.new(1, 2**17, 1).hold("V", [0], 2**17 - 2).decode("V", 2)
    return script


def _long_table() -> Script:
    """Prefill a prompt of more blocks than calls may stand inside one another."""
    script = Script()
    with script.quietly():
        script.new(1100, 1, 1).arrive("L", 1100)
    return script


def _long_growth() -> Script:
    """Grow over the end of a block at a length that half precision rounds."""
    script = Script()
    with script.quietly():
        script.new(520, 4, 1).hold("W", [*range(513)], 2049, 14).decode("W", 5)
    return script


def _among_other_calls() -> Script:
    """Let requests grow after reports, reads, refusals and releases, beside others with the same id elsewhere."""
    script = Script().new(9, 2)
    with script.quietly():
        for i in range(12):
            script.arrive(f"t{i}", 1).release(f"t{i}")
    script.arrive("L", 2).decode("L", 3).new(12, 4).new(12, 4, m="n").on("m").fill(1).request("A", 4, 7).prefill("A")
    script.arrive("B", 6).on("n").request("C", 3, 7).prefill("C").on("m").report("A").decode("A", 5).read("B")
    script.decode("B", 3).on("n").decode("C", 2).on("m").decode("A").new(4, 2).arrive("E", 6).request("F", 4)
    script.prefill("F").release("E").prefill("F").decode("F", 2).new(6, 4).request("G", 3, 4).prefill("G").decode("G")
    script.release("G").request("H", 2, 4).prefill("H").decode("H", 3).new(9, 2).request("I", 2, 4).prefill("I")
    return script.decode("I", 3).release("I").arrive("J", 6).request("K", 2, 4).prefill("K").decode("K", 3)


def _decode() -> list[Scenario]:
    return [
        Script().new(8, 4).hold("A", [5, 2], 6).decode("A").scenario("q3.basic"),
        _vast_block().new(8, 4).fill().hold("A", [1], 3).decode("A", 6).new(9, 3).hold("B", [0, 1], 4).decode("B", 3)
        .new(3, 17, 1).hold("D", [2], 16).decode("D", 2)
        .new(2, 300, 1).hold("E", [1], 300).decode("E").new(5, 200, 1).hold("G", [3], 71).decode("G", 2)
        .new(50, 4, 1).hold("F", [7], 2).decode("F", 4)
        .scenario("q3.grows_when_full").followed_by(_long_growth().scenario("q3.grows_when_full")),
        Script().new(5, 1).hold("A", [3], 1).hold("B", [1], 1).decode("A", 2).decode("B")
        .new(6, 1).hold("C", [2, 0], 2).decode("C", 3).scenario("q3.block_size_one"),
        Script().new(8, 4).hold("A", [6, 1, 4], 12).decode("A", 5).new(6, 2).hold("B", [5, 0], 3).decode("B", 2)
        .scenario("q3.keeps_places", calls=Script().new(8, 4).arrive("F", 8).arrive("A", 12).release("F").decode("A", 5)
        .new(7, 2).arrive("F", 4).arrive("B", 3).arrive("C", 2).release("F").decode("B", 4)),
        Script().new(2, 4).hold("A", [1], 4).decode("A", 4).new(1, 4).hold("B", [0], 2).decode("B", 2)
        .scenario("q3.last_block"),
        Script().new(2, 4).fill().hold("A", [1], 4).hold("B", [0], 3).decode("A", 2).decode("B").decode("B")
        .new(1, 3).hold("C", [0], 2).decode("C", 3)
        .new(3, 4).hold("D", [0], 4).hold("E", [1, 2], 8).decode("D", 2)
        .new(2, 4).fill().hold("F", [0], 3).hold("G", [1], 4).decode("F")
        .new(2, 4).fill().hold("H", [1], 4).hold("I", [0], 3).decode("I").scenario("q3.refusal_changes_nothing"),
        Script().new(3, 4).hold("A", [2, 0], 8).hold("B", [1], 2).decode("A").vacate("B").decode("A", 2)
        .scenario("q3.retry_after_release"),
        Script().new(6, 4).new(6, 4, m="n").on("m").fill(1).hold("A", [4], 4).hold("B", [1, 0], 7).on("n")
        .hold("C", [3], 3).on("m").decode("A").decode("B", 2).on("n").decode("C", 2).on("m").decode("A")
        .new(5, 3).hold("D", [0], 3).hold("E", [1, 2], 5).decode("E", 3).decode("D", 2)
        .new(6, 4).hold("F", [0], 3, 4).decode("F").vacate("F").hold("G", [1], 2, 4).decode("G", 3)
        .scenario("q3.requests_apart", calls=_among_other_calls()),
    ]  # fmt: skip


def _read() -> list[Scenario]:
    def table(script: Script, r: str, ids: list[int], seq_len: int) -> Script:
        return script.request(r, max(seq_len, 1)).place(r, ids, seq_len).read(r)

    def scattered(num_blocks: int, size: int, dim: int, dtype: str = "float32", **lengths: int) -> Script:
        return Script(dtype).new(num_blocks, size, dim).scattered(lengths)

    tail = Script().new(6, 4, 3).fill(1).request("A", 9)
    for seq_len in (9, 11, 12):
        tail.place("A", [4, 1, 3], seq_len).read("A")
    tail.place("A", [5], 1).read("A")
    own_tail = scattered(7, 4, 3, A=9, B=6).fill(1).read("A").decode("A", 2).fill(2).read("A").decode("A").fill(3)
    own_tail.read("A").arrive("C", 1).fill(4).read("C")
    shapes, own_shapes = Script(), Script()
    for size, dim in ((1, 5), (3, 1), (5, 4)):
        seq_len = 3 * size - (size > 1)
        table(shapes.new(6, size, dim).fill(), "A", [4, 0, 2], seq_len)
        own_shapes.new(7, size, dim).scattered({"A": seq_len, "B": 2 * size}, filler=1).fill().read("A").read("B")
    for blocks in (1, 2):
        shapes.new(blocks, 4, 2).fill().request("A", 4 * blocks - 1).place("A", [*range(blocks)], 4 * blocks - 1).read(
            "A"
        )
        own_shapes.new(blocks, 4, 2).arrive("A", 4 * blocks - 1).fill().read("A")
    dtypes, own_dtypes = Script(), Script()
    for dtype in ("float16", "bfloat16", "float64"):
        dtypes.operations += table(Script(dtype).new(5, 3, 20).fill(), "A", [3, 0, 4], 8).operations
        own_dtypes.operations += scattered(7, 3, 20, dtype, A=8, B=5).fill().read("A").operations
    nan = Script().new(6, 4, 3).fill_only([5, 0, 3], 10)
    table(nan, "A", [5, 0, 3], 10)
    nan.place("A", [0, 1, 3], 12).read("A")
    table(nan.new(5, 4, 1).fill(), "B", [2, 0], 7)
    own_nan = scattered(7, 4, 3, A=10, B=7).fill().poison("A").read("A").read("B")
    for order in ("ac", "ca"):  # two blocks with another's between them, in the pool of the notebook's own pictures
        own_nan.new(5, 4, 1)
        with own_nan.quietly():
            for r in "abcde":
                own_nan.arrive(r, 1)
            for r in order:
                own_nan.release(r)
        own_nan.arrive("G", 7).fill().read("G")
    current = Script().new(6, 4, 3).fill(1).request("A", 7).place("A", [4, 1], 7).read("A").fill(2).read("A")
    current.place("A", [0, 4, 2], 9).read("A").new(4, 3, 5, m="n").fill(1).request("B", 5).place("B", [3, 0], 5)
    current.read("B").on("m").read("A")
    own_current = scattered(7, 4, 3, A=7, B=5).fill(1).read("A").fill(2).read("A").decode("A", 2).fill(3).read("A")
    own_current.new(4, 3, 5, m="n").arrive("C", 5).fill(1).read("C").on("m").read("A").read("B").clear().read("A")
    own_current.new(1, 2, 2).arrive("D", 2).fill(1).read("D").decode("D").fill(2).read("D")
    table(current.clear().read("A").new(1, 2, 2).fill(1), "C", [0], 2)
    still = Script().new(6, 4, 3).fill(1).request("A", 10).place("A", [4, 1, 3], 10).read("A").read("A").read("A")
    own_still = scattered(7, 4, 3, A=10, B=6).fill(1).read("A").read("A").read("B").read("A")
    refusals = Script().new(6, 4, 3).fill().request("A", 6).read("A")
    for ids in ([2, -1], [-1, 2], [2, 6], [0, -1, 2], [0, 6, 2]):
        refusals.place("A", ids, 6).read("A")
    basic = table(Script().new(6, 4, 3).fill(), "A", [4, 1, 3], 10)
    return [
        basic.scenario("q4.basic", calls=scattered(7, 4, 3, A=10, B=6).fill().read("A")),
        tail.scenario("q4.cuts_the_tail", calls=own_tail),
        shapes.scenario("q4.sizes", calls=own_shapes),
        dtypes.scenario("q4.dtypes", calls=own_dtypes),
        nan.scenario("q4.foreign_blocks", calls=own_nan),
        current.scenario("q4.current_values", calls=own_current),
        still.scenario("q4.changes_nothing", calls=own_still),
        refusals.scenario("q4.refuses_bad_tables"),
    ]


def _lifecycle() -> list[Scenario]:
    report = Script().new(8, 4).request("A", 5).report("A").prefill("A").report("A").decode("A", 3).report("A")
    report.decode("A").report("A").new(3, 7).arrive("B", 10).report("B")
    report.new(4, 3).new(4, 4, m="n").on("m").request("C", 5, 3).prefill("C").report("C").on("n").request("D", 5, 3)
    report.prefill("D").report("D").new(80, 2, 1).arrive("E", 140).report("E")
    refusals = Script().new(6, 4).request("A", 6).release("A").new(6, 4).hold("A", [1, 2, 4], 10)
    for ids in ([1, 2, 1], [2, 6], [-1, 2], [2, 0], [1, 3], [1, 5, 2]):
        refusals.place("A", ids, 10).release("A")
    refusals.new(4, 4).arrive("B", 6).release("B").release("B")
    return [
        Script().request("A", 2, -1).request("B", 0).request("C", -3).request("D", 1, 0)
        .attributes("D").request("E", 300, 2**40).attributes("E").new(3, 4, 5)
        .new(2, 6, 7, m="n").attributes("m").attributes("n").scenario("q5.request"),
        report.scenario("q5.report"),
        Script().new(3, 4).arrive("A", 5).arrive("B", 4).release("A").arrive("C", 8).release("B").release("C")
        .arrive("D", 12).release("D").again_and_again(160).new(4, 1201, 1)
        .new(4, 1201, 1, m="n").arrive("E", 1202).release("E").arrive("F", 4804)
        .scenario("q5.release"),
        refusals.scenario("q5.release_refusals"),
        Script().new(3, 2, 2).arrive("X", 5).fill(1).new(3, 2, 2, m="n").fill(2).on("m").read("X").new(4, 4, 3).fill(1)
        .arrive("A", 6).arrive("B", 4).decode("A", 3).fill(3).read("A").request("C", 5)
        .prefill("C").decode("B").release("A").decode("B", 1).prefill("C").fill(2).read("B").read("C").report("C")
        .release("B").decode("C", 4).fill(4).read("C").release("C").scenario("q5.lifecycle"),
    ]  # fmt: skip
