"""The public cases: few, open, and other ones than those that grade."""

from autograder.lesson.speech import say

Expected = tuple[int, int] | list[int] | str  # (tokens, blocks), rows of the pool, or the kind of exception
Case = tuple[int, int, list[tuple[str, Expected]]]  # num_blocks, block_size, (step, what is right) ...

HEAD_DIM = 5  # of the pools in checks and stories: no request there has 5 tokens, so a swapped shape shows

LEDGERS: list[tuple[dict[str, int], tuple[int, int, int] | str]] = [
    (
        {"num_blocks": 1, "block_size": 1, "num_layers": 1, "num_kv_heads": 1, "head_dim": 1, "dtype_bytes": 1},
        (2, 2, 2),
    ),
    ({"num_blocks": 7, "block_size": 5, "num_layers": 3, "num_kv_heads": 2, "head_dim": 11}, (264, 1320, 9240)),
    (
        {"num_blocks": 9, "block_size": 6, "num_layers": 5, "num_kv_heads": 3, "head_dim": 7, "dtype_bytes": 4},
        (840, 5040, 45360),
    ),
    ({"num_blocks": 7, "block_size": 0, "num_layers": 3, "num_kv_heads": 2, "head_dim": 11}, "ValueError"),
]

CASES: dict[str, list[Case]] = {
    "q2": [
        (5, 3, [("A prefill 1", (1, 1))]),
        (5, 3, [("A prefill 7", (7, 3))]),
        (5, 3, [("A prefill 9", (9, 3))]),
        (4, 1, [("A prefill 4", (4, 4))]),
        (2, 3, [("A prefill 7", "OOM")]),
        (3, 5, [("A prefill 6", (6, 2)), ("B prefill 6", "OOM"), ("C prefill 5", (5, 1))]),
        (4, 3, [("A prefill 4", (4, 2)), ("A prefill", "ValueError")]),
    ],
    "q3": [
        (4, 3, [("A hold 4 2 0", (4, 2)), ("A decode", (5, 2))]),
        (4, 3, [("A hold 3 2", (3, 1)), ("A decode", (4, 2)), ("A decode", (5, 2))]),
        (3, 1, [("A hold 1 1", (1, 1)), ("A decode", (2, 2)), ("A decode", (3, 3)), ("A decode", "OOM")]),
        (2, 3, [("A hold 3 1", (3, 1)), ("B hold 2 0", (2, 1)), ("A decode", "OOM"), ("B decode", (3, 1))]),
        (2, 3, [("A hold 3 1", (3, 1)), ("B hold 2 0", (2, 1)), ("B release", (2, 0)), ("A decode", (4, 2))]),
    ],
    "q4": [
        (4, 2, [("A hold 2 3", (2, 1)), ("A read", [6, 7])]),
        (5, 1, [("A hold 3 2 0 1", (3, 3)), ("A read", [2, 0, 1])]),
        (5, 3, [("A hold 7 4 1 2", (7, 3)), ("A read", [12, 13, 14, 3, 4, 5, 6])]),
    ],
    "q5": [
        (2, 3, [("A prefill 0", "ValueError")]),
        (2, 3, [("A prefill 4", (4, 2)), ("A release", (4, 0)), ("A release", "ValueError")]),
        (4, 3, [("A prefill 4", (4, 2)), ("B prefill 6", (6, 2)), ("A decode", (5, 2)), ("A decode", (6, 2)),
                ("A decode", "OOM"), ("B release", (6, 0)), ("A decode", (7, 3)), ("C prefill 3", (3, 1))]),
        (4, 3, [("A hold 5 3 0", (5, 2)), ("B hold 3 1", (3, 1)), ("A decode", (6, 2)), ("A decode", (7, 3)),
                ("A read", [9, 10, 11, 0, 1, 2, 6]), ("B release", (3, 0)), ("C prefill 3", (3, 1)),
                ("C read", [3, 4, 5])]),
    ],
}  # fmt: skip

FUNCTIONS = {
    "q1": "estimate_kv_cache_bytes",
    "q2": "allocate_for_prefill",
    "q3": "allocate_for_decode",
    "q4": "get_physical_cache",
}
QUESTIONS = (*FUNCTIONS, "q5")


def rule(question: str) -> str:
    """Return the rule of a question in one sentence."""
    return {
        "q1": say(
            "A token leaves a key and a value in every layer and KV head; a block is block_size tokens, "
            "a pool num_blocks blocks.",
            "每个 token 在每一层、每个 KV 头都留下一份 key 和一份 value；一块有 block_size 个 token，整个池有 num_blocks 块。",
        ),
        "q2": say(
            "Prefill takes as many blocks as the prompt needs, not one more, or raises OOM and leaves everything "
            "as it was.",
            "prefill 恰好取走 prompt 所需的块，一块不多；不够就抛出 OOM，一切保持原样。",
        ),
        "q3": say(
            "A decode adds one token, and a block at the end of the table only if those held were full before; "
            "on OOM nothing changes.",
            "decode 增加一个 token；只有原来的块已经装满，才在块表末尾添一块；OOM 时什么都不变。",
        ),
        "q4": say(
            "The rows come back in the order of the block table, and only the first seq_len of them.",
            "按块表的顺序读出各行，并且只要前 seq_len 行。",
        ),
        "q5": say(
            "Through any mix of prefill, decode and release every block is either free or held by exactly one request.",
            "无论 prefill、decode、release 怎样交错，每个块要么空闲，要么恰好属于一个请求。",
        ),
    }[question]
