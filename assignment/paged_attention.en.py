# ---
# jupyter:
#   jupytext:
#     cell_metadata_filter: tags,-all
#     formats: ipynb,py:percent
#     notebook_metadata_filter: kernelspec,lang,jupytext,-jupytext.text_representation.jupytext_version
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
#   lang: en
# ---

# %% [markdown]
# # PagedAttention: the block allocator inside a serving engine
#
# A chat service answers many people at once. One sends ten words, another a whole contract; one answer ends after a
# line, the next runs for pages. Every token that has been read or written leaves a key and a value behind, the **KV
# cache**, and that cache has to live in GPU memory until its answer is finished.
#
# Reserve the longest possible answer for everybody and most of that memory stays empty, and the GPU idles for want of
# requests that would fit. vLLM's **PagedAttention** cuts the memory into equal **blocks** instead. A request owns a
# short list, its **block table**, that says which blocks hold its tokens; blocks are handed out when needed and
# handed back at the end.
#
# In this notebook you build that allocator on the CPU. You will
#
# 1. work out how many bytes a token costs,
# 2. give a new request its blocks, all of them or none,
# 3. let a request grow one token at a time,
# 4. read a scattered request back in order.
#
# Each of the four is a few lines marked `TODO`. Everything else is given.
#
# | Difficulty | You need | You do not need | Time |
# |---|---|---|---|
# | medium; little code, sharp edges | Python, a little PyTorch indexing, an idea of keys and values | a GPU, vLLM | about two hours: Steps 1 to 3 take 30 minutes, TODO 1 to 4 take 15, 20, 25 and 15, the end 15 |
#
# **How to work.** Run the cells from top to bottom; after a restart of the kernel, begin at the top again (a
# `NameError` says that a cell above has not been run). Where you are asked to *predict*, type a guess first. A wrong
# guess costs nothing, and your own code will answer it. After each TODO a check tells you how it went, and hands you a
# line that shows any failure. Its cases are public and few. Grading uses other, hidden cases, so a passed check is a
# good sign and not a mark.

# %% [markdown]
# ## Set up
#
# On your own machine: `pip install otter-grader torch jupyterlab matplotlib`. On Colab the next cell fetches what is
# missing. `paged_lesson.py` holds the pictures and checks; it lies beside this notebook, and you need not read it.

# %%
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import torch

LANGUAGE = "en"  # of pictures and checks: en or zh
if "google.colab" in sys.modules:  # Colab opens the notebook alone
    from urllib.request import urlretrieve

    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "otter-grader"], check=True)

# Not found? Put paged_lesson.py, which came with this notebook, into the same folder (Colab: the folder icon).
from paged_lesson import examples, follow, grader, guess, invariants, life, play, serve, show, stretch, waste, when_ready

grader.begin(globals(), LANGUAGE)

# %% [markdown]
# ## Step 1: why pages
#
# Early servers worked in **static batches**: a handful of requests start together, and the batch is over when the
# longest answer is. The others have long finished, their memory waits with them, and so does everybody in the queue.
# Modern servers let each request come and go on its own, which needs memory that can come and go, too.
#
# But nobody knows how long an answer will be. A server that wants each request's cache in one piece must set aside
# `max_len` slots at the start, one slot for each token that could come, and most of them are never used. If it reserves
# less for requests that promise to be short, pieces of unequal length come and go, and holes remain between them: too
# small for the next big one, although together they would do.
#
# An operating system had the same trouble with programs and solved it with virtual memory: a program sees addresses
# in a row, a table says where they really are. PagedAttention does this to the KV cache.
#
# | Idea | How memory is given out | What it costs or brings |
# |---|---|---|
# | One reservation | `max_len` slots in a row, at once | unused ends; with unequal lengths, holes between neighbours |
# | Virtual memory | positions are logical, a table finds the physical place | the two can be moved apart |
# | Block of fixed size | a unit of, say, 16 tokens | every piece fits every hole |
# | Paging | a block when one is needed, anywhere in the pool | no need to be adjacent; reuse is easy |
# | Block table | entry `i` names the block that holds logical block `i` | reading still goes token by token, in order |
#
# **Predict.** Five requests have 37, 512, 130, 1900 and 64 tokens, and `max_len` is 2048. What share of the memory is
# used if everyone gets one reservation? And with blocks of 16? Type two percentages over the `...`, then run the cell.
# (Guesses stay in your notebook and are never graded.)

# %%
guess("step 1", contiguous_percent=..., paged_percent=...)

# %%
waste(lengths=[37, 512, 130, 1900, 64], max_len=2048, block_size=16)

# %% [markdown]
# Change the lengths, `max_len` and `block_size` and run it again. What does `block_size=1` buy you, and what does
# `block_size=256` cost? (A very small block wastes nothing, but makes tables long and every look-up busier.)

# %% [markdown]
# ## Step 2: the life of a request
#
# A request is **prefilled** once with its prompt, **decodes** one token after the other, and is **released**. Its
# blocks then go to whoever comes next.
#
# | Event | What comes in | What changes | Where it can go wrong |
# |---|---|---|---|
# | Prefill | the length of the prompt | several blocks move from the free list into the table | are there enough free blocks? |
# | Decode | one new token | one more block, but only when the last is full | if there is none: is everything as before? |
# | Release | a finished request | blocks return, the table is emptied | releasing twice |
# | Reuse | a new request | it takes blocks that others had | its blocks may lie apart |
#
# Here is such a life, five moments of a pool of five blocks with four slots each. Step through it. A letter is a used
# slot of that request, `·` a slot that is held and still empty (tail waste), a dashed box is free; what the last step
# changed is underlined. `A[1]` means "entry 1 of A's block table". (The states are typed in by hand. Your code will
# make them later.)

# %%
life()

# %% [markdown]
# **Explain.** A decoded three tokens and got one block. At which of the three did it come, and why then? Which moment
# shows that C's blocks need not be neighbours? (Explanations are not graded. Write them into the cell below each
# question; after the deadline the course can hand out model answers.)

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ## Step 3: four invariants
#
# Token `t` of a request lies in logical block `t // block_size`, at place `t % block_size` inside it. The table turns
# the logical block into a physical one. So with `block_size = 4` and table `[0, 1, 3]`, token 8 is the first row of
# physical block 3. (Tokens count from 0.) Follow it, then try other tokens, of A and of C:

# %%
follow("A", token=8)


# %% [markdown]
# These **invariants** hold before and after every call:
#
# | Data | What it is for | What must hold |
# |---|---|---|
# | `physical_kv_cache` | the pool, shape `[num_blocks, block_size, head_dim]` | index `b` is block `b`, and nothing else |
# | `block_table` | where each logical block lies | only blocks that exist, none of them twice |
# | `free_blocks` | the blocks nobody holds | a block is held or free, never both, never neither |
# | `seq_len` | how many tokens the request has | the table has just enough blocks for it, no spare one |
#
# The pool here has one number per token and feature; a real engine keeps keys and values of every layer, in a layout
# made for its kernels. The bookkeeping is the same.
#
# `invariants(manager, requests)` checks the table above and returns what is broken, in words. `show(manager,
# requests)` draws the state. Call both whenever you like. In a picture, `!` marks a block claimed twice, `?` one that
# is lost, and a token without a slot is red.

# %% [markdown]
# ## Step 4: the code
#
# Two classes are given, with everything that is not a TODO: checks of the arguments, the report, the release.
#
# | Function | You write | It must | The check looks at |
# |---|---|---|---|
# | `estimate_kv_cache_bytes` | TODO 1: bytes per token, per block, in all | count K and V, layers, KV heads and bytes per number | the three numbers |
# | `allocate_for_prefill` | TODO 2: how many blocks, and which | change nothing on OOM or on a second prefill | block counts, OOM |
# | `allocate_for_decode` | TODO 3: the new length; is a block needed? | take a block only at the boundary; change nothing on OOM | growth, OOM, growth after a release |
# | `get_physical_cache` | TODO 4: gather the blocks | follow the table, not the block numbers; cut the tail | rows and their order |
#
# If you run the next cell again later, also run the TODO cells below it again: they add their methods to this class.

# %%
class Request:
    """One sequence: its length in tokens and its blocks in logical order."""

    def __init__(self, request_id: int, prompt_len: int) -> None:
        if request_id < 0 or prompt_len <= 0:
            raise ValueError("need request_id >= 0 and prompt_len > 0")
        self.request_id = request_id
        self.seq_len = prompt_len
        self.block_table: list[int] = []


class KVCacheManager:
    """A pool of equal blocks, and the list of those that nobody holds."""

    # The TODO cells add these three methods.
    allocate_for_prefill: Callable[[Request], None]
    allocate_for_decode: Callable[[Request], None]
    get_physical_cache: Callable[[Request], torch.Tensor]

    def __init__(
        self,
        num_blocks: int,
        block_size: int,
        head_dim: int,
        *,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        if min(num_blocks, block_size, head_dim) <= 0:
            raise ValueError("every size must be positive")
        self.num_blocks = num_blocks
        self.block_size = block_size
        self.head_dim = head_dim
        self.physical_kv_cache = torch.zeros(num_blocks, block_size, head_dim, dtype=dtype, device=device)
        self.free_blocks = list(range(num_blocks))

    def allocation_report(self, req: Request) -> dict[str, float]:
        """Return how many tokens the request has room for, and how many it uses."""
        allocated_tokens = len(req.block_table) * self.block_size
        return {
            "logical_tokens": req.seq_len,
            "allocated_tokens": allocated_tokens,
            "unused_tail_tokens": allocated_tokens - req.seq_len,
            "utilization": req.seq_len / allocated_tokens if allocated_tokens else 0.0,
        }

    def release_request(self, req: Request) -> None:
        """Return all blocks of a request to the pool, or refuse and change nothing."""
        blocks = req.block_table
        if not blocks:
            raise ValueError("the request holds no blocks; released twice?")
        if len(set(blocks)) != len(blocks):
            raise ValueError("a block stands twice in the block table")
        if any(not 0 <= block < self.num_blocks for block in blocks):
            raise ValueError("the block table names a block outside the pool")
        if not set(blocks).isdisjoint(self.free_blocks):
            raise ValueError("a block of the table is free already")
        self.free_blocks.extend(blocks)
        self.free_blocks.sort()
        req.block_table.clear()


def add_to_class(cls: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make the function below a method of the class."""

    def attach(function: Callable[..., Any]) -> Callable[..., Any]:
        setattr(cls, function.__name__, function)
        return function

    return attach


# %% [markdown]
# See what broken states look like. Here block 1 has two owners, block 3 is lost, and B has a token too many:

# %%
manager = KVCacheManager(num_blocks=5, block_size=4, head_dim=1)
first, second = Request(0, prompt_len=6), Request(1, prompt_len=5)
first.block_table, second.block_table, manager.free_blocks = [0, 1], [1], [2, 4]
show(manager, [first, second])
invariants(manager, [first, second])

# %% [markdown]
# ### TODO 1: the ledger
#
# How much memory does one token take? It leaves a key and a value, in every layer, for every KV head, `head_dim`
# numbers each, `dtype_bytes` bytes a number. (Models with grouped-query attention have fewer KV heads than query
# heads. Only KV heads are stored.)
#
# **Predict.** A model has 2 layers, 3 KV heads and head dimension 5, in 16 bits. How many bytes is a token? A block
# of 4? Type two numbers into the cell with `guess`; once your code passes its check, it answers.
#
# | Contract | What holds |
# |---|---|
# | Before | every argument is a positive integer; anything else is refused by given code with `ValueError` |
# | After | a dictionary with the three byte counts, exact integers however large, and `layout_shape`, the shape of *one* block |
# | Refused | nothing else |
#
# The cell has three commented lines. Turn each `???` into an expression, remove the `#`, and delete the `raise` line.
# The ledger counts what the tensors take in theory; a running engine needs memory for other things too.

# %%
guess("q1", bytes_per_token=..., bytes_per_block_of_4=...)


# %%
def estimate_kv_cache_bytes(
    num_blocks: int, block_size: int, num_layers: int, num_kv_heads: int, head_dim: int, dtype_bytes: int = 2
) -> dict[str, Any]:
    """Return the bytes that a token, a block and the whole pool take."""
    if min(num_blocks, block_size, num_layers, num_kv_heads, head_dim, dtype_bytes) <= 0:
        raise ValueError("every size must be positive")
    # TODO 1: fill these in, then delete the raise line.
    # kv_bytes_per_token = ???
    # kv_bytes_per_block = ???
    # total_cache_bytes = ???
    raise NotImplementedError("TODO 1")
    return {
        "kv_bytes_per_token": kv_bytes_per_token,
        "kv_bytes_per_block": kv_bytes_per_block,
        "total_cache_bytes": total_cache_bytes,
        "layout_shape": [num_layers, 2, num_kv_heads, block_size, head_dim],
    }


# %%
grader.check("q1")


# %% [markdown]
# <details><summary>Hint 1: a question</summary>
# If a model had one layer, one KV head and a head dimension of one, how many numbers would a token leave behind?
# </details>
# <details><summary>Hint 2: the trap</summary>
# Two tensors are kept, not one. And the second and third quantity build on the one before.
# </details>
# <details><summary>Hint 3: the steps</summary>
# Multiply the count of tensors, layers, heads, numbers per head and bytes per number. A block has that for each of
# its tokens; the pool has that for each of its blocks. No division, no floats.
# </details>

# %% [markdown]
# **Use it.** Two models, with the sizes published in their `config.json`: Llama 3.1 8B (32 layers, 8 KV heads, head
# dimension 128) and Qwen2.5 7B (28 layers, 4 KV heads, head dimension 128), both in 16 bits. How many tokens fit into
# 16 GiB set aside for the cache, in blocks of 16? Guess the ratio of the two before you run it.

# %%
@when_ready
def tokens_that_fit() -> None:
    memory, block_size = 16 * 2**30, 16
    for model, num_layers, num_kv_heads, head_dim in [("Llama 3.1 8B", 32, 8, 128), ("Qwen2.5 7B", 28, 4, 128)]:
        ledger = estimate_kv_cache_bytes(1, block_size, num_layers, num_kv_heads, head_dim)
        blocks = memory // ledger["kv_bytes_per_block"]
        tokens = blocks * block_size
        per_token = ledger["kv_bytes_per_token"]
        print(f"{model:13} {per_token:8,} bytes a token, {tokens:8,} tokens")


# %% [markdown]
# **Explain** in two sentences: why does the cost of a token depend on KV heads and not on query heads, and what does
# that do to the number of people a GPU can serve?

# %% [markdown]
# *Your answer:*

# %% [markdown]
# **Break it.** Forget the factor for K and V on purpose and run the check. Which of the three numbers are wrong?
# Repair it.

# %% [markdown]
# ### Examples before code
#
# TODO 2 and 3 are short, and most mistakes in them are mistakes about **what** should happen. So write that down first:
# small stories with the outcome you expect. They are tried on several right allocators (is your story true?) and on
# eleven wrong ones, each with one typical mistake (how many does it catch?). The first two catch two. Add stories
# until you catch them all; none of them needs more than four steps. (Not graded,
# unless your course says so.)

# %%
examples(
    # (blocks, size, [(step, (tokens, blocks) afterwards, or "OOM" or "ValueError"), ...])
    (4, 3, [("A prefill 7", (7, 3)), ("B prefill 4", "OOM")]),
    (4, 3, [("A prefill 2", (2, 1)), ("A decode", (3, 1))]),
)

# %% [markdown]
# ### TODO 2: prefill, all or nothing
#
# A new request arrives with `seq_len` tokens of prompt and an empty table. It gets exactly as many blocks as it
# needs. If the pool cannot give that many, it gets none: `RuntimeError("OOM")`, and everybody's state is as it was.
#
# **Predict.** In a pool of 5 blocks with 4 slots: how many blocks do prompts of 1, 4, 5 and 8 tokens take? Three
# requests of 5 tokens arrive one after the other. What happens to the third (`"OOM"`, or how many blocks)?
#
# | Contract | What holds |
# |---|---|
# | Before | the table is empty; otherwise `ValueError` (given) |
# | After | the table has the blocks, the free list has lost them, `seq_len` is what it was: the prompt's tokens were counted in it all along |
# | Refused | too few free blocks: `RuntimeError` with `OOM` in its text; free list (its order too) and table unchanged |
#
# `needed_blocks` is an integer. `allocated_blocks` is a list of that many block numbers out of `self.free_blocks`.
# Which ones, and in what order, is up to you. **Choose** them only: the given lines below look whether there are
# enough, then take them out of the free list and put them into the table. When there are too few, your list may be
# shorter; it is thrown away. A prompt that fits exactly must succeed.

# %%
guess("q2", blocks_for_1_4_5_8_tokens=[..., ..., ..., ...], third_request=...)


# %%
@add_to_class(KVCacheManager)
def allocate_for_prefill(self: KVCacheManager, req: Request) -> None:
    """Give a new request the blocks of its prompt, or raise OOM and change nothing."""
    if req.block_table:
        raise ValueError("the request has blocks already; prefill runs once")
    # TODO 2: fill these in, then delete the raise line.
    # needed_blocks = ???
    # allocated_blocks = ???
    raise NotImplementedError("TODO 2")
    if len(self.free_blocks) < needed_blocks:
        raise RuntimeError("OOM")
    for block in allocated_blocks:
        self.free_blocks.remove(block)
    req.block_table.extend(allocated_blocks)


# %% [markdown]
# `play` draws a story with your own code: the number of blocks, their size, then one step each. A request is a capital
# letter.
#
# | Step | Meaning |
# |---|---|
# | `"A prefill 6"` | a new request A with a prompt of 6 tokens; `"A prefill"` prefills it once more |
# | `"A decode"`, `"A decode 3"` | one token more; three, one after the other |
# | `"A release"`, `"A read"` | give the blocks back; read the tokens in order |
# | `"A find 5"` | the diagram of Step 3 for token 5, with the state as it is now |
# | `"A hold 4 2"` | put 4 tokens of A into block 2 by hand, so that you can try TODO 3 while TODO 2 is open |

# %%
play(5, 4, "A prefill 5", "B prefill 5", "C prefill 5", "D prefill 4")

# %%
grader.check("q2")


# %% [markdown]
# <details><summary>Hint 1: a question</summary>
# How many boxes for 4 eggs hold 5 eggs? And 8 eggs? What does plain `//` answer for each?
# </details>
# <details><summary>Hint 2: the edge</summary>
# Look at lengths just below, at and just above a multiple of `block_size`. Only one of the three has no tail waste.
# With `block_size` 1 there is never any.
# </details>
# <details><summary>Hint 3: the steps</summary>
# Divide and round up, staying with integers. Then pick that many entries of the free list without touching it; a copy
# of a part of the list will do. Do not remove anything yourself, the given lines commit.
# </details>

# %% [markdown]
# **Use it.** The five requests of Step 1, given room by your code, and what `allocation_report` says about each. Where
# is the waste now, and can it ever be more than `block_size - 1` slots a request?

# %%
@when_ready
def where_the_waste_is() -> None:
    manager = KVCacheManager(num_blocks=256, block_size=16, head_dim=1)
    for number, prompt_len in enumerate([37, 512, 130, 1900, 64]):
        req = Request(number, prompt_len)
        manager.allocate_for_prefill(req)
        report = manager.allocation_report(req)
        used, held, tail = report["logical_tokens"], report["allocated_tokens"], report["unused_tail_tokens"]
        share = report["utilization"]
        print(f"{used:5} tokens in {held:5} slots, {tail:3} unused: {share:.1%}")


# %% [markdown]
# **Explain** in two sentences: why must nothing be taken before it is known that there is enough? Think of a server
# that retries the request later.

# %% [markdown]
# *Your answer:*

# %% [markdown]
# **Break it.** Change as little as you can so that only prompts of exactly `k * block_size` tokens go wrong. What
# does the check show you? Repair it.

# %% [markdown]
# ### TODO 3: decode, one token more
#
# The model has produced one token, and its key and value need a slot. Most of the time the last block has one left.
# Sometimes it has not, and the request needs a new block, which goes to the **end** of its table.
#
# **When is `seq_len` observed?** At the start of the call `seq_len` does *not* count the new token: it is the number
# of tokens stored so far. At the end it does. So ask about the state **before** the append: are the blocks the
# request holds full? That question has the right answer for every `block_size`, 1 included, where *every* decode
# needs a block. (The often-seen test "new length modulo block size is 1" has not: with `block_size` 1 it is never
# true.)
#
# **Predict.** Blocks of 4, a prompt of 4 tokens in one block. During which of the next five decodes does the table
# grow? And in blocks of 1? Type lists such as `[2, 4]`.
#
# | Contract | What holds |
# |---|---|
# | Before | the request holds blocks; otherwise `ValueError` (given) |
# | After | `seq_len` is one larger; the table is as before, or has one block more at its end |
# | Refused | a block is needed and none is free: `RuntimeError` with `OOM`; `seq_len`, table and free list unchanged, and the same call works once somebody has released blocks |
#
# `new_seq_len` is an integer, `is_new_block_needed` a truth value. The given lines below take the block and set the
# length.

# %%
guess("q3", decodes_that_take_a_block=[...], same_in_blocks_of_1=[...])


# %%
@add_to_class(KVCacheManager)
def allocate_for_decode(self: KVCacheManager, req: Request) -> None:
    """Make room for one more token, or raise OOM and change nothing."""
    if not req.block_table:
        raise ValueError("the request holds no blocks; prefill comes first")
    # TODO 3: fill these in, then delete the raise line.
    # new_seq_len = ???
    # is_new_block_needed = ???
    raise NotImplementedError("TODO 3")
    if is_new_block_needed:
        if not self.free_blocks:
            raise RuntimeError("OOM")
        req.block_table.append(self.free_blocks.pop(0))
    req.seq_len = new_seq_len


# %%
play(3, 4, "A hold 4 2", "A decode", "A find 4", "B hold 4 1", "B decode")

# %%
grader.check("q3")

# %% [markdown]
# <details><summary>Hint 1: a question</summary>
# How many tokens have room in the blocks the request holds now? Compare that with the tokens it has now.
# </details>
# <details><summary>Hint 2: the edge</summary>
# Try `block_size` 1, and the step right after a prompt that filled its last block. Do not count how many blocks the
# new length needs from scratch when a simple comparison is enough.
# </details>
# <details><summary>Hint 3: the steps</summary>
# The new length is the old one and one. Multiply the number of blocks held by their size; a block is needed when the
# old length has reached that product.
# </details>

# %% [markdown]
# **Explain** in two sentences: what would go wrong if `seq_len` were raised before the block is secured?

# %% [markdown]
# *Your answer:*

# %% [markdown]
# **Break it.** With blocks of 16, change your code as little as possible so that the first 16 tokens are fine and
# only the 17th fails. Use `play(4, 16, "A hold 15 0", "A decode", "A decode")` to see it. Repair it.

# %% [markdown]
# ### TODO 4: read it back in order
#
# Attention wants the tokens of a request one after the other. They lie in blocks all over the pool. Follow the table.
#
# **Predict.** Blocks of 3, table `[4, 1, 2]`, `seq_len` 7. Number the rows of the pool from 0 (block 0 has rows 0 to
# 2). Which rows come back, in which order? Type them as a list. Which rows of the last block do not?
#
# | Contract | What holds |
# |---|---|
# | Before | the table is not empty, names only blocks of the pool, and has room for `seq_len` tokens; otherwise `ValueError` (given) |
# | After | a tensor of shape `[seq_len, head_dim]`, in the pool's dtype and on its device, with the values the pool has at this call; nothing has changed |
# | Refused | nothing else |
#
# `blocks` are the pieces in table order, `cat_blocks` is one tensor of shape `[blocks held * block_size, head_dim]`.
# The given last line cuts it at `seq_len`. Never look at how the block numbers are sorted, and do not name a device
# or a dtype: take what the pool has.

# %%
guess("q4", rows=[...])


# %%
@add_to_class(KVCacheManager)
def get_physical_cache(self: KVCacheManager, req: Request) -> torch.Tensor:
    """Return the request's tokens in logical order, shape [seq_len, head_dim]."""
    if not req.block_table:
        raise ValueError("the request holds no blocks")
    if any(not 0 <= block < self.num_blocks for block in req.block_table):
        raise ValueError("the block table names a block outside the pool")
    if len(req.block_table) * self.block_size < req.seq_len:
        raise ValueError("the block table is too short for seq_len")
    # TODO 4: fill these in, then delete the raise line.
    # blocks = ???
    # cat_blocks = ???
    raise NotImplementedError("TODO 4")
    return cat_blocks[: req.seq_len]


# %% [markdown]
# `read` numbers the rows of the pool and returns the numbers your code read; `find` shows where token 5 lies:

# %%
play(5, 3, "A hold 7 4 1 2", "A find 5", "A read")

# %%
grader.check("q4")


# %% [markdown]
# <details><summary>Hint 1: a question</summary>
# What does `self.physical_kv_cache[3]` give you, and what is its shape?
# </details>
# <details><summary>Hint 2: the edge</summary>
# Pieces of shape `[block_size, head_dim]` are to become longer, not wider or deeper. The number of blocks may be one.
# Unused rows at the end may hold anything, also what an earlier request left there.
# </details>
# <details><summary>Hint 3: the steps</summary>
# Go through the table in its own order and take each entry's block from the pool. Join the pieces along the token
# dimension, the first one. Leave the cut to the given line.
# </details>

# %% [markdown]
# **Explain** in two sentences: a real kernel does not copy the blocks together first. What does it use the table for
# instead?

# %% [markdown]
# *Your answer:*

# %% [markdown]
# **Break it.** Make your code read the blocks in the order of their numbers. For which tables does nobody notice?
# Repair it.

# %% [markdown]
# ### The loop closed: attention
#
# Does it matter to the model that its cache lies in pieces? Here are keys and values of 21 tokens, once in a row and
# once scattered over two pools. Attention over what your TODO 4 reads back has to equal attention over the row, to the
# last bit.
#
# A kernel saves even the copy. It looks each token's row up in the table when it needs it, as in Step 3, and keeps a
# running maximum and sum instead of all scores. That changes the order of the additions, so its result agrees to a few
# units in the last place, no better.

# %%
@when_ready
def paged_attention_equals_dense_attention() -> None:
    torch.manual_seed(0)
    tokens, block_size, head_dim = 21, 4, 8
    keys, values, query = torch.randn(tokens, head_dim), torch.randn(tokens, head_dim), torch.randn(head_dim)
    key_pool, value_pool = (KVCacheManager(16, block_size, head_dim) for _ in range(2))
    req = Request(0, prompt_len=tokens)
    req.block_table = [9, 2, 14, 0, 7, 5]
    rows = [req.block_table[t // block_size] * block_size + t % block_size for t in range(tokens)]
    key_rows, value_rows = (pool.physical_kv_cache.view(-1, head_dim) for pool in (key_pool, value_pool))
    key_rows[rows], value_rows[rows] = keys, values

    def attention(k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return torch.softmax(k @ query / head_dim**0.5, dim=0) @ v

    dense = attention(keys, values)
    paged = attention(key_pool.get_physical_cache(req), value_pool.get_physical_cache(req))

    top, total, walked = torch.tensor(-torch.inf), torch.tensor(0.0), torch.zeros(head_dim)
    for row in rows:  # what a kernel does: one look-up per token, nothing is copied together
        score = key_rows[row] @ query / head_dim**0.5
        higher = torch.maximum(top, score)
        walked = walked * torch.exp(top - higher) + torch.exp(score - higher) * value_rows[row]
        total = total * torch.exp(top - higher) + torch.exp(score - higher)
        top = higher
    off = (walked / total - dense).abs().max().item()

    print(f"equal to the last bit: {torch.equal(paged, dense)}")
    print(f"walking the table instead: off by at most {off:.0e}")


# %% [markdown]
# ## All together
#
# Play a life of your own, with the steps listed under TODO 2. Then run all checks; `q5` mixes everything and waits
# until the four TODOs are there.

# %%
play(5, 4, "A prefill 6", "B prefill 4", "A decode", "A decode", "A decode", "B release", "C prefill 7", "C read")

# %%
grader.check_all()


# %% [markdown]
# ## What it is worth, measured by you
#
# A small server runs on your allocator: 2,048 slots of memory, requests of up to 256 tokens, many short and few long.
# At each tick it admits whom it can (TODO 2), gives every running request one more token (TODO 3), and releases who is
# done. If a decode meets a full pool, the newest request is preempted: it gives its blocks back and has to be computed
# again later. Only the size of a block differs. A block of 256 is the old way, one reservation in a row.
#
# **Predict.** How many requests run at once with blocks of 256? And with blocks of 16: twice as many, four times, more?

# %%
@when_ready
def worth_it() -> None:
    serve(block_sizes=(1, 4, 16, 64, 256))


# %% [markdown]
# **Explain.** Blocks of 1 use every slot they hold. Look at the longest table: what would a kernel pay for that? And
# why are there no preemptions at 256?

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ## Is it ready for a GPU?
#
# Part of the grade is measured on a GPU: the same calls, with the pool on the device and in other dtypes. You need no
# GPU to prepare. A pool on PyTorch's `meta` device has shapes and no numbers, so code that copies to the CPU or
# builds a tensor of its own somewhere else fails or answers wrongly here already.

# %%
grader.ready()

# %% [markdown]
# ## Hand it in
#
# Save the notebook (Ctrl+S), run the next cell and submit the zip it writes. It looks into the zip and tells you when
# a TODO is open, a check fails (still broken on purpose?) or the saved file is older than what you ran. On Colab use
# *File > Download > .ipynb* and submit that.
#
# Grading runs your functions, not your outputs: prints, pictures and the cells you added are ignored. The CPU part
# counts 80 points (q1 15, q2 20, q3 20, q4 15, q5 10),
# the GPU part 20. Each TODO is graded apart, so an open one costs only its own points and the cases
# of q5 that use it. The hidden cases test the contracts above, with other sizes and other orders of events.

# %%
grader.export()


# %% [markdown]
# ## Stretch (no points)
#
# Two things that every engine has on top of your allocator. Nothing here is graded; the check is as strict as ever.
#
# **Stretch 1: preempt.** `make_room` releases running requests, the newest first, until `needed` blocks are free, takes
# them off the list `running` and returns them, so that the server can compute them again later. If even that is not
# enough, `OOM`, and nothing has changed.
#
# **Stretch 2: share a prefix.** `fork` makes a request that continues another one, as when one prompt gets two answers.
# Full blocks never change, so parent and child **share** them; `users[block]` counts how many do. A last block that is
# only started is copied, since both will write into it. `release_request` gives back only what nobody uses any more.

# %%
def make_room(manager: KVCacheManager, running: list[Request], needed: int) -> list[Request]:
    """Release the newest running requests until enough blocks are free; return them."""
    raise NotImplementedError("Stretch 1")
    return victims


# %%
class SharingManager(KVCacheManager):
    """A pool whose blocks may have several users."""

    def __init__(self, num_blocks: int, block_size: int, head_dim: int) -> None:
        super().__init__(num_blocks, block_size, head_dim)
        self.users = [0] * num_blocks

    def allocate_for_prefill(self, req: Request) -> None:
        super().allocate_for_prefill(req)
        for block in req.block_table:
            self.users[block] += 1

    def fork(self, parent: Request, request_id: int) -> Request:
        """Return a request that continues the parent's tokens, or raise OOM and change nothing."""
        raise NotImplementedError("Stretch 2")
        return child

    def release_request(self, req: Request) -> None:
        """Give back the blocks that nobody uses any more."""
        raise NotImplementedError("Stretch 2")
        req.block_table = []


# %%
stretch()

# %% [markdown]
# ## Three bugs of 2026 (reading)
#
# The invariants of Step 3 are not school rules. These engines are written by professionals, tested, used by millions,
# and this year each of them broke one. Say for each **which invariant** fell, and play the nearest story you can.
#
# | Where | What happened | What was seen |
# |---|---|---|
# | vLLM, issue 42571 | with sliding windows, one block stood twice in a request's list; releasing the request counted it as free twice | more free blocks than there are, then a crash far away from the cause |
# | TensorRT-LLM, pull request 12834 | a block was moved between GPU and CPU memory before it was taken off the free list, so the wrong list's counter changed | more free blocks than blocks; a negative number in use |
# | vLLM, issue 37076, still open | a random test drove a full pool with shared prefixes; some requests seem to see one token too many, others blocks full of zeros | the same prompt with different answers, no crash at all |
#
# In this notebook the given `release_request` refuses the first one with a `ValueError` **before** anything changes.
# Try it: put a block twice into a table by hand, release, look at `invariants`. The third is the worst kind. Nobody
# notices unless somebody compares results, which is what `q4` and its hidden cases do.
#
# **A line that is right there and wrong here.** nano-vllm, a small and much-read engine, asks for a new block when
# `len(seq) % block_size == 1`, the very test TODO 3 warns of. It is right *there*: the length already counts the new
# token, and the block size has to be a multiple of 256, so it is never 1. Which of the two does not hold here? What
# would happen in blocks of 4 if `seq_len` did not count the new token yet?

# %% [markdown]
# *Your answer:*

# %% [markdown]
# ## From here to a real GPU (reading)
#
# Nothing you measured here says how fast PagedAttention is. You have shown that blocks are given out correctly, that
# logical positions find their physical place, how much the tails waste and that an OOM leaves no trace. Speed is a
# property of a server with real kernels under real load, and can only be seen there.
#
# How such a measurement is read: start a server that supports PagedAttention, **hold four things fixed** (model,
# request lengths, block size, number of concurrent requests), and record four others.
#
# | Record | What it tells | If it is bad, look at |
# |---|---|---|
# | KV capacity, in blocks or tokens | how many requests can be alive at once; compare it with your ledger | memory left for the cache, dtype, KV heads |
# | Failed or preempted requests | whether the pool ran out, your OOM, for real | concurrency, length limits |
# | TTFT, time to first token | waiting in the queue, and prefill | long prompts, a full pool |
# | TPOT, time per output token | the pace of decode | batch size, kernels, memory bandwidth |
#
# An example of the reading: the ledger says a pool has 1,000 blocks of 16, so 16,000 tokens. At 20 concurrent
# requests of 600 tokens (38 blocks each, 760 in all) everything fits. At 40 it would take 1,520 blocks. About 26
# requests can be alive, the others wait in the queue: their TTFT jumps. If running requests are preempted to make room,
# they are computed again later, and their TPOT suffers, too. Change one of the four fixed things at a time, or the
# numbers explain nothing. (vLLM keeps one block back for itself, so its count of usable blocks is one lower than the
# total.)
#
# **One such run, recorded.** `autograder serve-check` wrote it on 2026-12-01: vLLM 0.32.0 (its CPU build) and guidellm
# 0.8.1 on a machine with two cores of AMD EPYC; a tiny model with random weights (2 layers, 2 KV heads of 32, float16),
# blocks of 32, and no more than 163,840 bytes for them. TODO 1 says 16,384 bytes a block, so 10 blocks. The engine
# counted 10, and gave requests 9. At each level 16 requests came with 64 tokens and asked for 64, four blocks in all:
#
# | Concurrency | Done | Failed | Preempted | TTFT ms | TPOT ms |
# |---|---|---|---|---|---|
# | 1 | 16 | 0 | 0 | 289.4 | 70.15 |
# | 4 | 16 | 0 | 14 | 2884.9 | 65.83 |
#
# One request at a time fits. Four would end with 16 blocks where there are 9: somebody is sent back to the queue 14
# times, and the first token takes ten times as long. (The cores were busy with other work, so the times say nothing
# about vLLM's speed. Blocks and preemptions are what the ledger predicts.)
#
# **Read on.** Kwon et al., *Efficient Memory Management for Large Language Model Serving with PagedAttention*, SOSP
# 2023 (arXiv 2309.06180). In vLLM's source, prefill and decode have become one: `allocate_slots` in
# `vllm/v1/core/kv_cache_manager.py` gives a request the blocks for however many tokens come next, out of
# `block_pool.py`. Your ledger is part of the start-up, which measures how much memory is left for blocks. Nobody reads
# a cache back: the kernels follow the block table, as said above. Two questions lead further: when a pool is full,
# whose blocks should be evicted? And if two prompts begin alike, can they share blocks (prefix caching)?
