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
# ---

# %% [markdown] tags=["lang-en"]
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

# %% [markdown] tags=["lang-zh"]
# # PagedAttention：推理引擎里的块分配器
#
# 一个对话服务要同时回答很多人：有人只问十个字，有人贴来整份合同；有的回答一行就完，有的要写好几页。凡是读过或写出的 token 都会留下一份 key 和一份 value，这就是 **KV cache**。回答没结束，它就得一直待在显存里。
#
# 如果给每个人都按“最长的回答”留位置，大部分显存会空着，能同时服务的请求变少，GPU 也就闲了下来。vLLM 的 **PagedAttention** 换了个办法：把显存切成一样大的**块**（block）。每个请求手里有一张很短的清单，叫**块表**（block table），写明自己的 token 放在哪些块里；需要时领块，用完就还。
#
# 这份 notebook 带你在 CPU 上写出这个分配器。你要做四件事：
#
# 1. 算清一个 token 要占多少字节；
# 2. 给新请求分块：要么全给，要么一块不给；
# 3. 让请求一次长一个 token；
# 4. 把散落各处的内容按顺序读回来。
#
# 四件事都只有几行代码，用 `TODO` 标出，其余代码已经写好。
#
# | 难度 | 需要 | 不需要 | 用时 |
# |---|---|---|---|
# | 中等：代码少，坑不少 | 会 Python，懂一点 PyTorch 索引，知道 key 和 value 是什么 | GPU，vLLM | 约两小时：Step 1 到 3 共 30 分钟，TODO 1 到 4 分别 15、20、25、15 分钟，收尾 15 分钟 |
#
# **怎么做。** 从上到下依次运行；重启过内核，就从头再运行一遍（出现 `NameError`，说明上面有单元格还没运行）。遇到“先猜”，请先把猜测填进去：猜错不扣分，答案由你自己的代码揭晓。每个 TODO 后面都有检查，告诉你做得如何；没通过时，还会给你一行可以重现问题的代码。检查用的是少数公开用例，评分用的是另一批隐藏用例，所以通过检查是好兆头，但还不是分数。

# %% [markdown] tags=["lang-en"]
# ## Set up
#
# On your own machine: `pip install otter-grader torch jupyterlab matplotlib`. On Colab the next cell fetches what is
# missing. `paged_lesson.py` holds the pictures and checks; it lies beside this notebook, and you need not read it.

# %% [markdown] tags=["lang-zh"]
# ## 准备
#
# 在自己的电脑上：`pip install otter-grader torch jupyterlab matplotlib`。在 Colab 上，下一个单元格会装好缺少的包。`paged_lesson.py` 里是图示和检查，和这个 notebook 放在一起，不必读它。

# %%
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import torch

LANGUAGE = "en"  # of pictures and checks: en or zh / 图示和检查用的语言：en 或 zh
if "google.colab" in sys.modules:  # Colab opens the notebook alone / Colab 只打开 notebook 这一个文件
    from urllib.request import urlretrieve

    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "otter-grader"], check=True)
    urlretrieve("https://raw.githubusercontent.com/{repository}/main/paged_lesson.py", "paged_lesson.py")

# Not found? Put paged_lesson.py, which came with this notebook, into the same folder (Colab: the folder icon). / 找不到？请把随作业发下的 paged_lesson.py 放进同一个文件夹（Colab：左侧的文件夹图标）。
from paged_lesson import examples, follow, grader, guess, invariants, life, play, serve, show, stretch, waste, when_ready

grader.begin(globals(), LANGUAGE)

# %% [markdown] tags=["lang-en"]
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

# %% [markdown] tags=["lang-zh"]
# ## Step 1：为什么要分页
#
# 早期的服务按**静态批次**工作：几个请求一起开始，等最长的回答写完，整批才算结束。别的请求早就写完了，显存却跟着一起空等，排队的人也得等。后来的服务让每个请求随到随走，这就要求内存也能随用随还。
#
# 可是没人知道一个回答会有多长。如果要求每个请求的缓存连成一整段，就只能一开始便留出 `max_len` 个槽位（slot，一个槽位放一个 token），其中大半永远用不上。如果给看起来短的请求少留一些，长短不一的段来来去去，中间就会留下空洞：加起来明明够用，却哪一个都装不下后来的大请求。
#
# 操作系统管理程序内存时也遇到过这个难题，答案是虚拟内存：程序看到的地址是连着的，真正在哪里由一张表说了算。PagedAttention 把同样的办法用在 KV cache 上。
#
# | 思路 | 内存怎么给 | 代价或好处 |
# |---|---|---|
# | 整段预留 | 一次给出相连的 `max_len` 个槽位 | 后半段闲置；长短不一时，段与段之间留下空洞 |
# | 虚拟内存 | 程序用逻辑位置，查表得到物理位置 | 两者从此可以分开安排 |
# | 定长块 | 以一块为单位，比如 16 个 token | 任何一块都能填进任何一个空洞 |
# | 分页 | 缺一块给一块，在池里哪儿都行 | 不必相邻，回收后马上能再用 |
# | 块表 | 第 `i` 项写着第 `i` 个逻辑块放在哪一块 | 读的时候仍是一个 token 接一个 token |
#
# **先猜。** 五个请求分别有 37、512、130、1900、64 个 token，`max_len` 是 2048。整段预留时，内存利用率是多少？改用 16 个 token 一块呢？把 `...` 换成两个百分数，再运行下面的单元格。（猜测只留在你的 notebook 里，不计分。）

# %%
guess("step 1", contiguous_percent=..., paged_percent=...)

# %%
waste(lengths=[37, 512, 130, 1900, 64], max_len=2048, block_size=16)

# %% [markdown] tags=["lang-en"]
# Change the lengths, `max_len` and `block_size` and run it again. What does `block_size=1` buy you, and what does
# `block_size=256` cost? (A very small block wastes nothing, but makes tables long and every look-up busier.)

# %% [markdown] tags=["lang-zh"]
# 改一改长度、`max_len` 和 `block_size` 再运行。`block_size=1` 换来什么？`block_size=256` 又付出什么？（块很小就不浪费，但块表会很长，查表也更频繁。）

# %% [markdown] tags=["lang-en"]
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

# %% [markdown] tags=["lang-zh"]
# ## Step 2：一个请求的一生
#
# 请求先拿着 prompt 做一次 **prefill**，再一个 token 接一个 token 地 **decode**，最后 **release**（释放）。它的块随后归下一个请求使用。
#
# | 事件 | 输入 | 变化 | 容易出错的地方 |
# |---|---|---|---|
# | Prefill | prompt 的长度 | 若干块从空闲列表移进块表 | 空闲块够不够？ |
# | Decode | 一个新 token | 多一块，但只在最后一块装满时 | 没有空闲块时，状态是否保持不变？ |
# | Release | 已结束的请求 | 块回到池里，块表清空 | 释放了两次 |
# | Reuse | 新来的请求 | 拿到别人用过的块 | 这些块可能彼此不挨着 |
#
# 下面就是这样的一生：池（pool，所有块都在里面）有五块，每块四个槽位，共五个时刻，请一步一步看。字母表示该请求用掉的槽位，`·` 表示占着但还空着的槽位（尾部浪费），虚线框是空闲；刚刚变过的槽位带下划线。`A[1]` 的意思是“A 的块表第 1 项”。（这些状态是手工写的，以后由你的代码产生。）

# %%
life()

# %% [markdown] tags=["lang-en"]
# **Explain.** A decoded three tokens and got one block. At which of the three did it come, and why then? Which moment
# shows that C's blocks need not be neighbours? (Explanations are not graded. Write them into the cell below each
# question; after the deadline the course can hand out model answers.)

# %% [markdown] tags=["lang-en", "yours"]
# *Your answer:*

# %% [markdown] tags=["lang-en", "answer"]
# **A model answer.** A's eight slots in blocks 0 and 1 held six tokens, so the first two new ones found
# room, and the **third** (token 8) met full blocks and got block 3. The last moment shows it for C: its table is
# `[2, 4]`, with A's block 3 in between. What makes them one is the table, not their place.

# %% [markdown] tags=["lang-zh"]
# **解释。** A decode 了三个 token，只多得到一块。这块是在第几个 token 时给的？为什么是那时？哪个时刻说明 C 的块不必相邻？（解释题不计分，答案写在题目下面的单元格里；截止之后，课程组可以发放参考答案。）

# %% [markdown] tags=["lang-zh", "yours"]
# *你的回答：*

# %% [markdown] tags=["lang-zh", "answer"]
# **参考答案。** A 的块 0 和块 1 共八个槽位，原来放着六个 token，前两个新 token 还有位置；**第三个**（token 8）来的时候块已经满了，于是拿到块 3。最后一个时刻能看出 C 的块不必相邻：它的块表是 `[2, 4]`，中间隔着 A 的块 3。把它们连起来的是块表，不是位置。

# %% [markdown] tags=["lang-en"]
# ## Step 3: four invariants
#
# Token `t` of a request lies in logical block `t // block_size`, at place `t % block_size` inside it. The table turns
# the logical block into a physical one. So with `block_size = 4` and table `[0, 1, 3]`, token 8 is the first row of
# physical block 3. (Tokens count from 0.) Follow it, then try other tokens, of A and of C:

# %% [markdown] tags=["lang-zh"]
# ## Step 3：四条不变量
#
# 一个请求的第 `t` 个 token 在逻辑块 `t // block_size` 里，块内位置是 `t % block_size`。块表再把逻辑块换成物理块。比如 `block_size = 4`、块表为 `[0, 1, 3]`，那么 token 8 就是物理块 3 的第一行。（token 从 0 数起。）跟着它走一遍，再换 A 和 C 的别的 token 试试：

# %%
follow("A", token=8)

# %% [markdown] tags=["lang-en"]
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

# %% [markdown] tags=["lang-zh"]
# 下面这些**不变量**，在每次调用前后都成立：
#
# | 数据 | 用途 | 必须满足 |
# |---|---|---|
# | `physical_kv_cache` | 池，形状 `[num_blocks, block_size, head_dim]` | 下标 `b` 就是块 `b`，没有别的含义 |
# | `block_table` | 各个逻辑块的去处 | 只写存在的块，同一块不写两遍 |
# | `free_blocks` | 没人持有的块 | 一块要么有主，要么空闲；不能都是，也不能都不是 |
# | `seq_len` | 这个请求有几个 token | 块表里的块刚好够用，没有多出来的 |
#
# 这里的池给每个 token 的每个特征只存一个数；真实引擎要存每一层的 key 和 value，排布也按 kernel 的需要专门设计。不过账还是这么记。
#
# `invariants(manager, requests)` 检查上面这张表，用文字说明哪里坏了；`show(manager, requests)` 画出当前状态。随时都可以调用。图中 `!` 表示一块有两个主人，`?` 表示丢失的块，没有槽位的 token 画成红色。

# %% [markdown] tags=["lang-en"]
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

# %% [markdown] tags=["lang-zh"]
# ## Step 4：代码
#
# 两个类已经给出，TODO 以外的部分都在里面：参数检查、占用报告、释放。
#
# | 函数 | 你来写 | 必须做到 | 检查看什么 |
# |---|---|---|---|
# | `estimate_kv_cache_bytes` | TODO 1：每 token、每块、总共多少字节 | 算上 K 和 V、层数、KV 头数、每个数的字节数 | 三个数字 |
# | `allocate_for_prefill` | TODO 2：要几块，要哪几块 | OOM 或第二次 prefill 时什么都不变 | 块数、OOM |
# | `allocate_for_decode` | TODO 3：新长度；要不要新块？ | 到边界才取块；OOM 时什么都不变 | 增长、OOM、释放之后的增长 |
# | `get_physical_cache` | TODO 4：把块收集起来 | 跟着块表走，不看块号大小；切掉尾部 | 各行及其顺序 |
#
# 以后如果重新运行下一个单元格，请把后面的 TODO 单元格也重新运行一遍：它们是往这个类里添方法的。


# %%
class Request:
    """One sequence: its length in tokens and its blocks in logical order. / 一个序列：长度，以及按逻辑顺序排列的块。"""

    def __init__(self, request_id: int, prompt_len: int) -> None:
        if request_id < 0 or prompt_len <= 0:
            raise ValueError("need request_id >= 0 and prompt_len > 0 / request_id 不能为负，prompt_len 要大于零")
        self.request_id = request_id
        self.seq_len = prompt_len
        self.block_table: list[int] = []


class KVCacheManager:
    """A pool of equal blocks, and the list of those that nobody holds. / 一池同样大小的块，以及无主块的列表。"""

    # The TODO cells add these three methods. / 这三个方法由 TODO 单元格添上。
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
            raise ValueError("every size must be positive / 各项大小都要大于零")
        self.num_blocks = num_blocks
        self.block_size = block_size
        self.head_dim = head_dim
        self.physical_kv_cache = torch.zeros(num_blocks, block_size, head_dim, dtype=dtype, device=device)
        self.free_blocks = list(range(num_blocks))

    def allocation_report(self, req: Request) -> dict[str, float]:
        """Return how many tokens the request has room for, and how many it uses. / 返回请求的容量和实际用量。"""
        allocated_tokens = len(req.block_table) * self.block_size
        return {
            "logical_tokens": req.seq_len,
            "allocated_tokens": allocated_tokens,
            "unused_tail_tokens": allocated_tokens - req.seq_len,
            "utilization": req.seq_len / allocated_tokens if allocated_tokens else 0.0,
        }

    def release_request(self, req: Request) -> None:
        """Return all blocks of a request to the pool, or refuse and change nothing. / 归还全部块；若拒绝，则什么都不变。"""
        blocks = req.block_table
        if not blocks:
            raise ValueError("the request holds no blocks; released twice? / 请求没有块；是不是释放了两次？")
        if len(set(blocks)) != len(blocks):
            raise ValueError("a block stands twice in the block table / 块表里有重复的块")
        if any(not 0 <= block < self.num_blocks for block in blocks):
            raise ValueError("the block table names a block outside the pool / 块表里有池外的块")
        if not set(blocks).isdisjoint(self.free_blocks):
            raise ValueError("a block of the table is free already / 块表里有早已空闲的块")
        self.free_blocks.extend(blocks)
        self.free_blocks.sort()
        req.block_table.clear()


def add_to_class(cls: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make the function below a method of the class. / 把下面的函数变成这个类的方法。"""

    def attach(function: Callable[..., Any]) -> Callable[..., Any]:
        setattr(cls, function.__name__, function)
        return function

    return attach


# %% [markdown] tags=["lang-en"]
# See what broken states look like. Here block 1 has two owners, block 3 is lost, and B has a token too many:

# %% [markdown] tags=["lang-zh"]
# 看看坏掉的状态长什么样。这里块 1 有两个主人，块 3 丢失了，B 还多出一个 token：

# %%
manager = KVCacheManager(num_blocks=5, block_size=4, head_dim=1)
first, second = Request(0, prompt_len=6), Request(1, prompt_len=5)
first.block_table, second.block_table, manager.free_blocks = [0, 1], [1], [2, 4]
show(manager, [first, second])
invariants(manager, [first, second])

# %% [markdown] tags=["lang-en"]
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

# %% [markdown] tags=["lang-zh"]
# ### TODO 1：容量账本
#
# 一个 token 占多少内存？它在每一层、为每个 KV 头留下一份 key 和一份 value，每份有 `head_dim` 个数，每个数占 `dtype_bytes` 字节。（采用分组查询注意力的模型，KV 头比 query 头少；存下来的只有 KV 头。）
#
# **先猜。** 某模型有 2 层、3 个 KV 头，头维度为 5，用 16 位存储。一个 token 多少字节？4 个 token 的一块呢？把两个数填进有 `guess` 的单元格；等你的代码通过检查，由它来回答。
#
# | 约定 | 内容 |
# |---|---|
# | 调用前 | 参数都是正整数；否则给定代码会以 `ValueError` 拒绝 |
# | 调用后 | 返回字典：三个字节数（再大也是精确整数），以及 `layout_shape`，即**一块**的形状 |
# | 拒绝 | 没有其他情况 |
#
# 单元格里有三行注释。把每个 `???` 换成表达式，去掉 `#`，再删除 `raise` 那一行。账本算的是张量在理论上占多少；真正运行的引擎还要为别的东西花内存。

# %%
guess("q1", bytes_per_token=..., bytes_per_block_of_4=...)


# %%
def estimate_kv_cache_bytes(
    num_blocks: int, block_size: int, num_layers: int, num_kv_heads: int, head_dim: int, dtype_bytes: int = 2
) -> dict[str, Any]:
    """Return the bytes that a token, a block and the whole pool take. / 返回每 token、每块、整个池所占的字节数。"""
    if min(num_blocks, block_size, num_layers, num_kv_heads, head_dim, dtype_bytes) <= 0:
        raise ValueError("every size must be positive / 各项大小都要大于零")
    # BEGIN SOLUTION NO PROMPT
    kv_bytes_per_token = 2 * num_layers * num_kv_heads * head_dim * dtype_bytes
    kv_bytes_per_block = block_size * kv_bytes_per_token
    total_cache_bytes = num_blocks * kv_bytes_per_block
    # END SOLUTION
    """ # BEGIN PROMPT
    # TODO 1: fill these in, then delete the raise line. / TODO 1: 填好这几行，再删掉 raise 那一行。
    # kv_bytes_per_token = ???
    # kv_bytes_per_block = ???
    # total_cache_bytes = ???
    raise NotImplementedError("TODO 1")
    """  # END PROMPT
    return {
        "kv_bytes_per_token": kv_bytes_per_token,
        "kv_bytes_per_block": kv_bytes_per_block,
        "total_cache_bytes": total_cache_bytes,
        "layout_shape": [num_layers, 2, num_kv_heads, block_size, head_dim],
    }


# %%
grader.check("q1")

# %% [markdown] tags=["lang-en"]
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

# %% [markdown] tags=["lang-zh"]
# <details><summary>提示 1：一个问题</summary>
# 如果模型只有一层、一个 KV 头、头维度为一，一个 token 会留下几个数？
# </details>
# <details><summary>提示 2：陷阱</summary>
# 要存的张量是两份，不是一份。后两个量都建立在前一个量之上。
# </details>
# <details><summary>提示 3：步骤</summary>
# 把张量份数、层数、头数、每个头的数字个数、每个数的字节数乘在一起。一块里每个 token 都有这么多，池里每一块又都有这么多。不用除法，也不用浮点数。
# </details>

# %% [markdown] tags=["lang-en"]
# **Use it.** Two models, with the sizes published in their `config.json`: Llama 3.1 8B (32 layers, 8 KV heads, head
# dimension 128) and Qwen2.5 7B (28 layers, 4 KV heads, head dimension 128), both in 16 bits. How many tokens fit into
# 16 GiB set aside for the cache, in blocks of 16? Guess the ratio of the two before you run it.

# %% [markdown] tags=["lang-zh"]
# **用起来。** 两个模型，尺寸取自各自公开的 `config.json`：Llama 3.1 8B（32 层，8 个 KV 头，头维度 128）和 Qwen2.5 7B（28 层，4 个 KV 头，头维度 128），都用 16 位。若给缓存留 16 GiB、每块 16 个 token，各能放下多少 token？运行之前先猜两者的比值。


# %%
@when_ready
def tokens_that_fit() -> None:
    memory, block_size = 16 * 2**30, 16
    for model, num_layers, num_kv_heads, head_dim in [("Llama 3.1 8B", 32, 8, 128), ("Qwen2.5 7B", 28, 4, 128)]:
        ledger = estimate_kv_cache_bytes(1, block_size, num_layers, num_kv_heads, head_dim)
        blocks = memory // ledger["kv_bytes_per_block"]
        tokens = blocks * block_size
        per_token = ledger["kv_bytes_per_token"]
        print(f"{model:13} {per_token:8,} bytes a token, {tokens:8,} tokens / {model:13} 每个 token {per_token:8,} 字节，放得下 {tokens:8,} 个")


# %% [markdown] tags=["lang-en"]
# **Explain** in two sentences: why does the cost of a token depend on KV heads and not on query heads, and what does
# that do to the number of people a GPU can serve?

# %% [markdown] tags=["lang-en", "yours"]
# *Your answer:*

# %% [markdown] tags=["lang-en", "answer"]
# **A model answer.** Only keys and values are kept; a query is used once, for its own token, and then forgotten. With grouped-query
# attention several query heads read the same KV head, so a quarter of the KV heads means a quarter of the bytes per
# token and four times as many tokens, hence people, in the same memory. (With the factor for K and V forgotten, all
# three numbers are wrong by two, since each builds on the one before.)

# %% [markdown] tags=["lang-en"]
# **Break it.** Forget the factor for K and V on purpose and run the check. Which of the three numbers are wrong?
# Repair it.

# %% [markdown] tags=["lang-zh"]
# **解释**（两句话）：一个 token 占多少内存，为什么取决于 KV 头而不是 query 头？这对一块 GPU 能服务多少人有什么影响？

# %% [markdown] tags=["lang-zh", "yours"]
# *你的回答：*

# %% [markdown] tags=["lang-zh", "answer"]
# **参考答案。** 存下来的只有 key 和 value；query 只为自己那个 token 用一次，用完就丢。分组查询注意力让好几个 query 头共用一个 KV 头：KV 头减到四分之一，每个 token 的字节数也减到四分之一，同样的显存能放四倍的 token，也就能服务更多的人。（漏掉 K 和 V 的那个因子，三个数全都差两倍，因为后一个建立在前一个之上。）

# %% [markdown] tags=["lang-zh"]
# **弄坏它。** 故意漏掉 K 和 V 的那个因子，再运行检查。三个数里哪几个错了？然后改回来。

# %% [markdown] tags=["lang-en"]
# ### Examples before code
#
# TODO 2 and 3 are short, and most mistakes in them are mistakes about **what** should happen. So write that down first:
# small stories with the outcome you expect. They are tried on several right allocators (is your story true?) and on
# eleven wrong ones, each with one typical mistake (how many does it catch?). The first two catch two. Add stories
# until you catch them all; none of them needs more than four steps. (Not graded,
# unless your course says so.)

# %% [markdown] tags=["lang-zh"]
# ### 先写例子，再写代码
#
# TODO 2 和 3 都很短，错多半错在没想清楚**应该发生什么**。所以先把它写下来：几段小故事，每一步写上你认为的结果。它们会在几个正确的分配器上试（故事对不对？），再在十一个错误的分配器上试，每个都有一处典型的错误（能抓住几个？）。开头这两段抓住了两个。请继续添，直到全部抓住；每段都用不着超过四步。（课程没有另作说明的话，不计分。）

# %%
examples(
    # (blocks, size, [(step, (tokens, blocks) afterwards, or "OOM" or "ValueError"), ...])
    (4, 3, [("A prefill 7", (7, 3)), ("B prefill 4", "OOM")]),
    (4, 3, [("A prefill 2", (2, 1)), ("A decode", (3, 1))]),
)

# %% [markdown] tags=["lang-en"]
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

# %% [markdown] tags=["lang-zh"]
# ### TODO 2：prefill，要么全给，要么不给
#
# 新请求带着 `seq_len` 个 prompt token 到来，块表是空的。它要多少块就得到多少块，一块不多。如果池里拿不出这么多，就一块也不给：抛出 `RuntimeError("OOM")`，所有人的状态都和原来一样。
#
# **先猜。** 池里有 5 块，每块 4 个槽位。1、4、5、8 个 token 的 prompt 各占几块？三个长 5 个 token 的请求先后到来，第三个会怎样（写 `"OOM"`，或者写几块）？
#
# | 约定 | 内容 |
# |---|---|
# | 调用前 | 块表为空；否则 `ValueError`（已给出） |
# | 调用后 | 块进了块表，空闲列表里不再有它们；`seq_len` 不变，因为 prompt 的 token 本来就算在里面 |
# | 拒绝 | 空闲块不够：抛出 `RuntimeError`，文字里含有 `OOM`；空闲列表（连顺序）和块表都不变 |
#
# `needed_blocks` 是整数。`allocated_blocks` 是一个列表，从 `self.free_blocks` 里选出那么多个块号；选哪些、什么顺序，由你决定。这里**只选不取**：后面给定的几行会先看够不够，再把它们移出空闲列表、写进块表。不够时你的列表短一些也没关系，反正会作废。刚好放得下的 prompt 必须成功。

# %%
guess("q2", blocks_for_1_4_5_8_tokens=[..., ..., ..., ...], third_request=...)


# %%
@add_to_class(KVCacheManager)
def allocate_for_prefill(self: KVCacheManager, req: Request) -> None:
    """Give a new request the blocks of its prompt, or raise OOM and change nothing. / 为新请求分块；OOM 时什么都不变。"""
    if req.block_table:
        raise ValueError("the request has blocks already; prefill runs once / 请求已经有块；prefill 只做一次")
    # BEGIN SOLUTION NO PROMPT
    needed_blocks = (req.seq_len + self.block_size - 1) // self.block_size
    allocated_blocks = self.free_blocks[:needed_blocks]
    # END SOLUTION
    """ # BEGIN PROMPT
    # TODO 2: fill these in, then delete the raise line. / TODO 2: 填好这几行，再删掉 raise 那一行。
    # needed_blocks = ???
    # allocated_blocks = ???
    raise NotImplementedError("TODO 2")
    """  # END PROMPT
    if len(self.free_blocks) < needed_blocks:
        raise RuntimeError("OOM")
    for block in allocated_blocks:
        self.free_blocks.remove(block)
    req.block_table.extend(allocated_blocks)


# %% [markdown] tags=["lang-en"]
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

# %% [markdown] tags=["lang-zh"]
# `play` 用你自己的代码演一段故事：先写块数，再写每块大小，然后一步一条。请求的名字是一个大写字母。
#
# | 步骤 | 意思 |
# |---|---|
# | `"A prefill 6"` | 新请求 A，prompt 有 6 个 token；只写 `"A prefill"` 就是让它再 prefill 一次 |
# | `"A decode"`、`"A decode 3"` | 再添一个 token；连着添三个 |
# | `"A release"`、`"A read"` | 归还所有块；按顺序读出 token |
# | `"A find 5"` | 用当前状态画出 Step 3 那样的图，跟着 token 5 走 |
# | `"A hold 4 2"` | 手工把 A 的 4 个 token 放进块 2；这样 TODO 2 还没写，也能先试 TODO 3 |

# %%
play(5, 4, "A prefill 5", "B prefill 5", "C prefill 5", "D prefill 4")

# %%
grader.check("q2")

# %% [markdown] tags=["lang-en"]
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

# %% [markdown] tags=["lang-zh"]
# <details><summary>提示 1：一个问题</summary>
# 每盒装 4 个鸡蛋，5 个鸡蛋要几盒？8 个呢？直接用 `//` 会分别得到什么？
# </details>
# <details><summary>提示 2：边界</summary>
# 看看比 `block_size` 的倍数少一、恰好相等、多一这三种长度，只有一种没有尾部浪费。`block_size` 为 1 时则永远没有浪费。
# </details>
# <details><summary>提示 3：步骤</summary>
# 做除法并向上取整，全程用整数。再从空闲列表里挑出这么多项，但不要改动列表本身，复制其中一段即可。不要自己去删，取走和写入都由给定的几行完成。
# </details>

# %% [markdown] tags=["lang-en"]
# **Use it.** The five requests of Step 1, given room by your code, and what `allocation_report` says about each. Where
# is the waste now, and can it ever be more than `block_size - 1` slots a request?

# %% [markdown] tags=["lang-zh"]
# **用起来。** Step 1 的五个请求，由你的代码来分块，再看 `allocation_report` 对每个请求怎么说。现在浪费在哪里？一个请求的浪费会超过 `block_size - 1` 个槽位吗？


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
        print(f"{used:5} tokens in {held:5} slots, {tail:3} unused: {share:.1%} / {used:5} 个 token，占 {held:5} 个槽位，闲置 {tail:3} 个：利用率 {share:.1%}")


# %% [markdown] tags=["lang-en"]
# **Explain** in two sentences: why must nothing be taken before it is known that there is enough? Think of a server
# that retries the request later.

# %% [markdown] tags=["lang-en", "yours"]
# *Your answer:*

# %% [markdown] tags=["lang-en", "answer"]
# **A model answer.** A server tries a refused request again and again. If each try kept a few blocks, they would belong to a request that
# never starts and so never ends: the pool runs dry although nobody uses it. Refusing without a trace also lets the
# server offer the same free blocks to a smaller request right away. (The smallest break is `req.seq_len //
# self.block_size + 1`: right except for whole blocks.)

# %% [markdown] tags=["lang-en"]
# **Break it.** Change as little as you can so that only prompts of exactly `k * block_size` tokens go wrong. What
# does the check show you? Repair it.

# %% [markdown] tags=["lang-zh"]
# **解释**（两句话）：为什么在确认够用之前，什么都不能先拿走？如果服务器稍后还要重试这个请求，会怎样？

# %% [markdown] tags=["lang-zh", "yours"]
# *你的回答：*

# %% [markdown] tags=["lang-zh", "answer"]
# **参考答案。** 服务器会一遍又一遍地重试被拒绝的请求。如果每次尝试都留下几块，这些块就归了一个从未开始、因此也永远不会结束的请求：没有人在用，池却干了。拒绝得不留痕迹，服务器才能马上把这些空闲块给一个小一点的请求。（最小的破坏是 `req.seq_len // self.block_size + 1`：只有恰好装满整块时才错。）

# %% [markdown] tags=["lang-zh"]
# **弄坏它。** 尽量少改，让出错的只有长度恰好是 `k * block_size` 的 prompt。检查给你看了什么？然后改回来。

# %% [markdown] tags=["lang-en"]
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

# %% [markdown] tags=["lang-zh"]
# ### TODO 3：decode，再添一个 token
#
# 模型刚产生一个 token，它的 key 和 value 需要一个槽位。多数时候最后一块还有空位；有时没有，请求就要一个新块，接在块表的**末尾**。
#
# **`seq_len` 是什么时候看的？** 调用开始时，`seq_len` **还没有**算上新 token，它是已经存好的 token 数；调用结束时才算上。所以要问的是**追加之前**的状态：手里的块满了吗？这样问，对任何 `block_size` 都有正确的答案，包括 1：那时**每次** decode 都要一块。（常见的写法“新长度对块大小取余等于 1”就不行：`block_size` 为 1 时它永远不成立。）
#
# **先猜。** 每块 4 个槽位，prompt 有 4 个 token，占一块。接下来的五次 decode 中，哪几次块表会变长？如果每块只有 1 个槽位呢？写成 `[2, 4]` 这样的列表。
#
# | 约定 | 内容 |
# |---|---|
# | 调用前 | 请求持有块；否则 `ValueError`（已给出） |
# | 调用后 | `seq_len` 加一；块表不变，或在末尾多出一块 |
# | 拒绝 | 需要新块却没有空闲块：抛出含 `OOM` 的 `RuntimeError`；`seq_len`、块表、空闲列表都不变；等别人释放之后，同样的调用就能成功 |
#
# `new_seq_len` 是整数，`is_new_block_needed` 是布尔值。取块和改长度由后面给定的几行完成。

# %%
guess("q3", decodes_that_take_a_block=[...], same_in_blocks_of_1=[...])


# %%
@add_to_class(KVCacheManager)
def allocate_for_decode(self: KVCacheManager, req: Request) -> None:
    """Make room for one more token, or raise OOM and change nothing. / 为一个新 token 备好位置；OOM 时什么都不变。"""
    if not req.block_table:
        raise ValueError("the request holds no blocks; prefill comes first / 请求没有块；应该先 prefill")
    # BEGIN SOLUTION NO PROMPT
    new_seq_len = req.seq_len + 1
    is_new_block_needed = req.seq_len == len(req.block_table) * self.block_size
    # END SOLUTION
    """ # BEGIN PROMPT
    # TODO 3: fill these in, then delete the raise line. / TODO 3: 填好这几行，再删掉 raise 那一行。
    # new_seq_len = ???
    # is_new_block_needed = ???
    raise NotImplementedError("TODO 3")
    """  # END PROMPT
    if is_new_block_needed:
        if not self.free_blocks:
            raise RuntimeError("OOM")
        req.block_table.append(self.free_blocks.pop(0))
    req.seq_len = new_seq_len


# %%
play(3, 4, "A hold 4 2", "A decode", "A find 4", "B hold 4 1", "B decode")

# %%
grader.check("q3")

# %% [markdown] tags=["lang-en"]
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

# %% [markdown] tags=["lang-zh"]
# <details><summary>提示 1：一个问题</summary>
# 请求现在手里的块一共能放多少个 token？和它现在有的 token 数比一比。
# </details>
# <details><summary>提示 2：边界</summary>
# 试试 `block_size` 为 1 的情况，以及 prompt 恰好填满最后一块之后的那一步。一次比较就够时，不必从头计算新长度要几块。
# </details>
# <details><summary>提示 3：步骤</summary>
# 新长度是旧长度加一。用持有的块数乘以块的大小；旧长度达到这个乘积时，就需要新块。
# </details>

# %% [markdown] tags=["lang-en"]
# **Explain** in two sentences: what would go wrong if `seq_len` were raised before the block is secured?

# %% [markdown] tags=["lang-en", "yours"]
# *Your answer:*

# %% [markdown] tags=["lang-en", "answer"]
# **A model answer.** After an OOM the request would claim a token that has no slot. The next decode would compare the wrong length with the
# blocks held, and reading would run past the last block or cut in the wrong place; the retry counts the token a second
# time. (`new_seq_len % 16 == 2` leaves the first 16 alone and takes the block one token late.)

# %% [markdown] tags=["lang-en"]
# **Break it.** With blocks of 16, change your code as little as possible so that the first 16 tokens are fine and
# only the 17th fails. Use `play(4, 16, "A hold 15 0", "A decode", "A decode")` to see it. Repair it.

# %% [markdown] tags=["lang-zh"]
# **解释**（两句话）：如果还没拿到块就先把 `seq_len` 加一，会出什么问题？

# %% [markdown] tags=["lang-zh", "yours"]
# *你的回答：*

# %% [markdown] tags=["lang-zh", "answer"]
# **参考答案。** OOM 之后，请求会声称自己有一个没有槽位的 token。下一次 decode 就会拿错误的长度去比，读的时候不是越过最后一块，就是切错地方；重试时，同一个 token 还会再算一遍。（`new_seq_len % 16 == 2` 不影响前 16 个 token，却晚一个 token 才取块。）

# %% [markdown] tags=["lang-zh"]
# **弄坏它。** 每块 16 个槽位时，尽量少改代码，让前 16 个 token 都正常、只有第 17 个出错。用 `play(4, 16, "A hold 15 0", "A decode", "A decode")` 看看。然后改回来。

# %% [markdown] tags=["lang-en"]
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

# %% [markdown] tags=["lang-zh"]
# ### TODO 4：按顺序读回来
#
# 计算注意力时，一个请求的 token 要按顺序排好，可它们散落在池的各块里。跟着块表走就行。
#
# **先猜。** 每块 3 个槽位，块表 `[4, 1, 2]`，`seq_len` 为 7。把池中的行从 0 开始编号（块 0 是第 0 到 2 行）。哪些行会被读出，什么顺序？写成一个列表。最后一块中哪些行不读？
#
# | 约定 | 内容 |
# |---|---|
# | 调用前 | 块表不空、只含池里的块、放得下 `seq_len` 个 token；否则 `ValueError`（已给出） |
# | 调用后 | 返回形状为 `[seq_len, head_dim]` 的张量，dtype 和设备与池相同，值取调用那一刻池中的内容；什么都没有改变 |
# | 拒绝 | 没有其他情况 |
#
# `blocks` 是按块表顺序排列的各块，`cat_blocks` 是一个形状为 `[持有块数 * block_size, head_dim]` 的张量。给定的最后一行会把它切到 `seq_len`。不要理会块号的大小次序，也不要写死设备或 dtype：池是什么就是什么。

# %%
guess("q4", rows=[...])


# %%
@add_to_class(KVCacheManager)
def get_physical_cache(self: KVCacheManager, req: Request) -> torch.Tensor:
    """Return the request's tokens in logical order, shape [seq_len, head_dim]. / 按逻辑顺序返回请求的全部 token。"""
    if not req.block_table:
        raise ValueError("the request holds no blocks / 请求没有块")
    if any(not 0 <= block < self.num_blocks for block in req.block_table):
        raise ValueError("the block table names a block outside the pool / 块表里有池外的块")
    if len(req.block_table) * self.block_size < req.seq_len:
        raise ValueError("the block table is too short for seq_len / 块表放不下 seq_len 个 token")
    # BEGIN SOLUTION NO PROMPT
    blocks = [self.physical_kv_cache[block] for block in req.block_table]
    cat_blocks = torch.cat(blocks, dim=0)
    # END SOLUTION
    """ # BEGIN PROMPT
    # TODO 4: fill these in, then delete the raise line. / TODO 4: 填好这几行，再删掉 raise 那一行。
    # blocks = ???
    # cat_blocks = ???
    raise NotImplementedError("TODO 4")
    """  # END PROMPT
    return cat_blocks[: req.seq_len]


# %% [markdown] tags=["lang-en"]
# `read` numbers the rows of the pool and returns the numbers your code read; `find` shows where token 5 lies:

# %% [markdown] tags=["lang-zh"]
# `read` 先给池的每一行编号，再告诉你代码读到了哪些号；`find` 画出 token 5 在哪里：

# %%
play(5, 3, "A hold 7 4 1 2", "A find 5", "A read")

# %%
grader.check("q4")

# %% [markdown] tags=["lang-en"]
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

# %% [markdown] tags=["lang-zh"]
# <details><summary>提示 1：一个问题</summary>
# `self.physical_kv_cache[3]` 得到什么？它的形状是什么？
# </details>
# <details><summary>提示 2：边界</summary>
# 形状为 `[block_size, head_dim]` 的各段要接得更长，不是更宽，也不是更厚。可能只有一块。末尾没用到的行里可能有任何东西，包括前一个请求留下的。
# </details>
# <details><summary>提示 3：步骤</summary>
# 按块表自己的顺序走一遍，从池里取出每一项对应的块。沿 token 那一维（第一维）把它们接起来。切尾巴的事交给给定的那一行。
# </details>

# %% [markdown] tags=["lang-en"]
# **Explain** in two sentences: a real kernel does not copy the blocks together first. What does it use the table for
# instead?

# %% [markdown] tags=["lang-en", "yours"]
# *Your answer:*

# %% [markdown] tags=["lang-en", "answer"]
# **A model answer.** It uses the table as Step 3 does: for each token it needs, logical block, entry of the table, physical block, row. The
# keys and values stay where they are and are read from there, once. (Reading in the order of block numbers goes
# unnoticed for every table that happens to be sorted, which is what a young pool hands out.)

# %% [markdown] tags=["lang-en"]
# **Break it.** Make your code read the blocks in the order of their numbers. For which tables does nobody notice?
# Repair it.

# %% [markdown] tags=["lang-zh"]
# **解释**（两句话）：真正的 kernel 并不会先把块拷到一起。它拿块表来做什么？

# %% [markdown] tags=["lang-zh", "yours"]
# *你的回答：*

# %% [markdown] tags=["lang-zh", "answer"]
# **参考答案。** 就像 Step 3 那样用：需要哪个 token，就由逻辑块查块表，得到物理块，再找到那一行。key 和 value 留在原处，只在那里读一次。（块表碰巧从小到大时，按块号读谁也看不出来；刚启用的池发出的恰好就是这样的块表。）

# %% [markdown] tags=["lang-zh"]
# **弄坏它。** 让代码按块号从小到大读。遇到什么样的块表，这个错误看不出来？然后改回来。

# %% [markdown] tags=["lang-en"]
# ### The loop closed: attention
#
# Does it matter to the model that its cache lies in pieces? Here are keys and values of 21 tokens, once in a row and
# once scattered over two pools. Attention over what your TODO 4 reads back has to equal attention over the row, to the
# last bit.
#
# A kernel saves even the copy. It looks each token's row up in the table when it needs it, as in Step 3, and keeps a
# running maximum and sum instead of all scores. That changes the order of the additions, so its result agrees to a few
# units in the last place, no better.

# %% [markdown] tags=["lang-zh"]
# ### 最后一环：注意力
#
# 缓存被切成一块一块，对模型有影响吗？下面是 21 个 token 的 key 和 value，一份连成一排，一份散在两个池里。用 TODO 4 读回来的内容算注意力，应当和用连成一排的那份算出来的一样，一个比特都不差。
#
# kernel 连这次拷贝也省了。用到哪个 token，就像 Step 3 那样现查块表，找到它那一行；它也不存下所有分数，只随时记着当前的最大值与总和。加法的次序因此变了，所以结果只在末位上略有出入。


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

    print(f"equal to the last bit: {torch.equal(paged, dense)} / 一个比特都不差：{torch.equal(paged, dense)}")
    print(f"walking the table instead: off by at most {off:.0e} / 改为顺着块表走：最多差 {off:.0e}")


# %% [markdown] tags=["lang-en"]
# ## All together
#
# Play a life of your own, with the steps listed under TODO 2. Then run all checks; `q5` mixes everything and waits
# until the four TODOs are there.

# %% [markdown] tags=["lang-zh"]
# ## 合在一起
#
# 用 TODO 2 里列出的步骤，先演一段你自己编的“一生”，再运行全部检查。`q5` 把所有操作混在一起，要等四个 TODO 都完成才开始。

# %%
play(5, 4, "A prefill 6", "B prefill 4", "A decode", "A decode", "A decode", "B release", "C prefill 7", "C read")

# %%
grader.check_all()

# %% [markdown] tags=["lang-en"]
# ## What it is worth, measured by you
#
# A small server runs on your allocator: 2,048 slots of memory, requests of up to 256 tokens, many short and few long.
# At each tick it admits whom it can (TODO 2), gives every running request one more token (TODO 3), and releases who is
# done. If a decode meets a full pool, the newest request is preempted: it gives its blocks back and has to be computed
# again later. Only the size of a block differs. A block of 256 is the old way, one reservation in a row.
#
# **Predict.** How many requests run at once with blocks of 256? And with blocks of 16: twice as many, four times, more?

# %% [markdown] tags=["lang-zh"]
# ## 到底值不值：你自己来量
#
# 一个小小的服务跑在你的分配器上：内存有 2,048 个槽位，请求最长 256 个 token，短的多，长的少。每一拍，它先接纳放得下的请求（TODO 2），再给每个运行中的请求添一个 token（TODO 3），最后释放已经结束的。如果 decode 时池满了，就抢占最新的请求：它交回所有块，以后得重算。各次运行只有块大小不同；一块 256 个就是老办法，整段预留。
#
# **先猜。** 一块 256 个时，平均同时有几个请求在运行？换成一块 16 个呢：两倍，四倍，还是更多？


# %%
@when_ready
def worth_it() -> None:
    serve(block_sizes=(1, 4, 16, 64, 256))


# %% [markdown] tags=["lang-en"]
# **Explain.** Blocks of 1 use every slot they hold. Look at the longest table: what would a kernel pay for that? And
# why are there no preemptions at 256?

# %% [markdown] tags=["lang-en", "yours"]
# *Your answer:*

# %% [markdown] tags=["lang-en", "answer"]
# **A model answer.** A table entry for every token: a kernel would look up an address per token and read memory in the smallest pieces,
# where a block of 16 is one look-up and one long read. At 256 each reservation is as long as a request can ever become,
# so a decode never needs a block and nobody is in the way; the price is that only eight requests fit.

# %% [markdown] tags=["lang-zh"]
# **解释。** 每块只有 1 个槽位时，占用的槽位全都用上了。看看最长的块表：kernel 会为此付出什么？另外，为什么一块 256 个时从不抢占？

# %% [markdown] tags=["lang-zh", "yours"]
# *你的回答：*

# %% [markdown] tags=["lang-zh", "answer"]
# **参考答案。** 每个 token 都占块表一项：kernel 要为每个 token 查一次地址，每次只读一小点；一块 16 个时，查一次就能连着读一长段。一块 256 个时，预留的长度就是请求可能达到的最大长度，decode 从不需要新块，也就不用抢占谁；代价是只放得下八个请求。

# %% [markdown] tags=["lang-en", "gpu"]
# ## Is it ready for a GPU?
#
# Part of the grade is measured on a GPU: the same calls, with the pool on the device and in other dtypes. You need no
# GPU to prepare. A pool on PyTorch's `meta` device has shapes and no numbers, so code that copies to the CPU or
# builds a tensor of its own somewhere else fails or answers wrongly here already.

# %% [markdown] tags=["lang-zh", "gpu"]
# ## 能上 GPU 吗？
#
# 有一部分分数在 GPU 上测：调用不变，但池放在设备上，dtype 也会换。准备工作不需要 GPU。放在 PyTorch 的 `meta` 设备上的池只有形状、没有数值；如果代码把数据拷到 CPU，或者自己在别处新建张量，在这里就会报错或得到错误的结果。

# %% tags=["gpu"]
grader.ready()

# %% [markdown] tags=["lang-en"]
# ## Hand it in
#
# Save the notebook (Ctrl+S), run the next cell and submit the zip it writes. It looks into the zip and tells you when
# a TODO is open, a check fails (still broken on purpose?) or the saved file is older than what you ran. On Colab use
# *File > Download > .ipynb* and submit that.
#
# Grading runs your functions, not your outputs: prints, pictures and the cells you added are ignored. The CPU part
# counts {points cpu} points (q1 {points q1}, q2 {points q2}, q3 {points q3}, q4 {points q4}, q5 {points q5}){gpu},
# the GPU part {points gpu}{/gpu}. Each TODO is graded apart, so an open one costs only its own points and the cases
# of q5 that use it. The hidden cases test the contracts above, with other sizes and other orders of events.

# %% [markdown] tags=["lang-zh"]
# ## 提交
#
# 保存 notebook（Ctrl+S），运行下一个单元格，提交它写出的 zip。它会打开 zip 看一眼：若有 TODO 没做完、检查没通过（故意弄坏之后忘了改回来？），或保存的文件比你运行的旧，就会告诉你。在 Colab 上请用 *文件 > 下载 > .ipynb*，提交那个文件。
#
# 评分运行的是你的函数，不看输出：打印、图片、自己添加的单元格都不影响分数。CPU 部分 {points cpu} 分（q1 {points q1}、q2 {points q2}、q3 {points q3}、q4 {points q4}、q5 {points q5}）{gpu}，GPU 部分 {points gpu} 分{/gpu}。各个 TODO 分开评分，空着一个，只失去它自己的分数，以及 q5 里用到它的用例。隐藏用例检验的正是上面的约定，只是换了大小和事件的次序。

# %%
grader.export()

# %% [markdown] tags=["lang-en"]
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

# %% [markdown] tags=["lang-zh"]
# ## 选做（不计分）
#
# 每个引擎都会在你的分配器上再加两样东西。这里不计分，检查却一样严格。
#
# **选做一：抢占。** `make_room` 从最新的请求开始，逐个释放运行中的请求，直到空出 `needed` 块；把它们从列表 `running` 里去掉并返回，好让服务器以后重算。全释放了也不够，就 `OOM`，什么都不变。
#
# **选做二：共享前缀。** `fork` 造出一个接着别人往下写的请求，比如同一个 prompt 要两个回答。装满的块不会再变，父子**共用**；`users[block]` 记着有几个请求在用。最后那个没装满的块要复制一份，因为双方都会往里写。`release_request` 只归还没有人再用的块。


# %%
def make_room(manager: KVCacheManager, running: list[Request], needed: int) -> list[Request]:
    """Release the newest running requests until enough blocks are free; return them. / 释放最新的请求，直到空闲块够用；返回它们。"""
    # BEGIN SOLUTION NO PROMPT
    victims, room = [], len(manager.free_blocks)
    while room < needed and len(victims) < len(running):
        victims.append(running[-1 - len(victims)])
        room += len(victims[-1].block_table)
    if room < needed:
        raise RuntimeError("OOM: the whole pool is too small")
    for victim in victims:
        manager.release_request(victim)
        running.remove(victim)
    # END SOLUTION
    """ # BEGIN PROMPT
    raise NotImplementedError("Stretch 1")
    """  # END PROMPT
    return victims


# %%
class SharingManager(KVCacheManager):
    """A pool whose blocks may have several users. / 一个块可以有好几个使用者的池。"""

    def __init__(self, num_blocks: int, block_size: int, head_dim: int) -> None:
        super().__init__(num_blocks, block_size, head_dim)
        self.users = [0] * num_blocks

    def allocate_for_prefill(self, req: Request) -> None:
        super().allocate_for_prefill(req)
        for block in req.block_table:
            self.users[block] += 1

    def fork(self, parent: Request, request_id: int) -> Request:
        """Return a request that continues the parent's tokens, or raise OOM and change nothing. / 返回接着父请求往下写的请求；OOM 时什么都不变。"""
        # BEGIN SOLUTION NO PROMPT
        full = parent.seq_len // self.block_size
        started = parent.block_table[full:]
        if len(self.free_blocks) < len(started):
            raise RuntimeError("OOM: no block for the copy")
        child = Request(request_id, parent.seq_len)
        child.block_table = parent.block_table[:full]
        for block in started:
            own = self.free_blocks.pop()
            self.physical_kv_cache[own] = self.physical_kv_cache[block]
            child.block_table.append(own)
        for held in child.block_table:
            self.users[held] += 1
        # END SOLUTION
        """ # BEGIN PROMPT
        raise NotImplementedError("Stretch 2")
        """  # END PROMPT
        return child

    def release_request(self, req: Request) -> None:
        """Give back the blocks that nobody uses any more. / 归还没有人再用的块。"""
        # BEGIN SOLUTION NO PROMPT
        for held in req.block_table:
            self.users[held] -= 1
        self.free_blocks.extend(block for block in req.block_table if self.users[block] == 0)
        # END SOLUTION
        """ # BEGIN PROMPT
        raise NotImplementedError("Stretch 2")
        """  # END PROMPT
        req.block_table = []


# %%
stretch()

# %% [markdown] tags=["lang-en"]
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

# %% [markdown] tags=["lang-en", "yours"]
# *Your answer:*

# %% [markdown] tags=["lang-en", "answer"]
# **A model answer.** vLLM 42571: a block is held or free, never both, and no table has one twice. TensorRT-LLM 12834: held and free blocks
# together are all there are; a counter is a second copy of that truth and went its own way. vLLM 37076: index `b` is
# block `b` and nothing else, as far as the report shows. For nano-vllm both conditions fail here: `seq_len` does not
# count the new token yet, and blocks of 1 exist. In blocks of 4 the test would be true at lengths 1, 5, 9: one token
# after the append that needed the block.

# %% [markdown] tags=["lang-zh"]
# ## 2026 年的三个 bug（阅读）
#
# Step 3 的不变量并不是课堂上才讲究的规矩。下面这些引擎出自专业团队，有测试，有上百万人在用，可就在今年，每个都破坏了一条。请逐个说出破坏的是**哪条不变量**，再演一段最接近的故事。
#
# | 在哪里 | 发生了什么 | 表现出来是什么 |
# |---|---|---|
# | vLLM，issue 42571 | 用滑动窗口时，同一块在一个请求的清单里出现两次；释放这个请求，它就被当作空闲算了两次 | 空闲块比实际的还多，后来在离原因很远的地方崩溃 |
# | TensorRT-LLM，pull request 12834 | 一块还没从空闲列表里取下，就先在 GPU 和 CPU 内存之间搬了家，于是改错了另一边的计数 | 空闲块数超过总块数；使用中的块数变成负数 |
# | vLLM，issue 37076，尚未关闭 | 随机测试让许多共享前缀的请求挤满池；有的请求似乎多看到一个 token，有的读到全是零的块 | 同一个 prompt 得到不同的回答，却从不崩溃 |
#
# 在这个 notebook 里，给定的 `release_request` 会在改动任何东西**之前**，用 `ValueError` 拒绝第一种情况。试一试：手工把一块在块表里写两遍，释放，再看 `invariants`。第三种最麻烦：没有人比对结果，就没有人发觉；`q4` 和它的隐藏用例比对的正是这个。
#
# **同一行代码，那里对，这里错。** nano-vllm 是一个短小、很多人读过的引擎，它在 `len(seq) % block_size == 1` 时要一个新块，正是 TODO 3 提醒过的写法。在*那里*它是对的：长度已经算上新 token，而块大小必须是 256 的倍数，绝不会是 1。这两条里，哪一条在这里不成立？如果 `seq_len` 还没算上新 token，一块 4 个时会怎样？

# %% [markdown] tags=["lang-zh", "yours"]
# *你的回答：*

# %% [markdown] tags=["lang-zh", "answer"]
# **参考答案。** vLLM 42571：一块要么有主，要么空闲，不能都是；块表里也不能有重复。TensorRT-LLM 12834：有主的块加上空闲块正好是全部；计数器是这个事实的另一份副本，却自己走偏了。vLLM 37076：就报告所见，是“下标 `b` 就是块 `b`，没有别的含义”。至于 nano-vllm，两个条件在这里都不成立：`seq_len` 还没有算上新 token，而且块可以只有 1 个槽位。一块 4 个时，那个判断会在长度 1、5、9 时成立：比真正需要新块的那次追加晚了一个 token。

# %% [markdown] tags=["lang-en"]
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

# %% [markdown] tags=["lang-zh"]
# ## 从这里到真正的 GPU（阅读）
#
# 你在这里得到的任何结果，都不能说明 PagedAttention 有多快。你证明的是：块分得对，逻辑位置找得到物理位置，尾部浪费了多少，以及 OOM 不留痕迹。速度要看真实的 kernel 和真实的负载，只有在真正运行的服务上才看得到。
#
# 这样的测量应该怎么读：启动一个支持 PagedAttention 的服务，**固定四个量**（模型、请求长度、块大小、并发请求数），再记录另外四个。
#
# | 记录 | 说明什么 | 不好时先看 |
# |---|---|---|
# | KV 容量（块数或 token 数） | 最多能有多少请求同时在跑；和你的账本对一对 | 留给缓存的内存、dtype、KV 头数 |
# | 失败或被抢占的请求 | 池有没有用完，也就是真正的 OOM | 并发数、长度上限 |
# | TTFT，首个 token 的等待时间 | 排队加 prefill | 长 prompt、池已满 |
# | TPOT，每个输出 token 的时间 | decode 的节奏 | 批大小、kernel、显存带宽 |
#
# 举个读数的例子：账本说池里有 1,000 块，每块 16 个，即 16,000 个 token。20 个并发请求各 600 个 token（每个 38 块，共 760 块），都放得下。换成 40 个就要 1,520 块：大约只有 26 个能同时跑，其余的排队等着，它们的 TTFT 猛涨。如果为了腾地方抢占了正在运行的请求，这些请求以后要重算，TPOT 也会变差。四个固定的量一次只改一个，否则数据说明不了任何问题。（vLLM 会给自己留一块，所以可用块数比总数少一。）
#
# **一次这样的记录。** 2026-12-01 由 `autograder serve-check` 写下：vLLM 0.32.0（CPU 版）和 guidellm 0.8.1，机器是两个 AMD EPYC 核；很小的模型，权重随机（2 层，2 个 KV 头，每个 32，float16），每块 32 个，一共只给 163,840 字节。TODO 1 算出每块 16,384 字节，所以是 10 块；引擎数出 10 块，给请求用 9 块。每一级有 16 个请求，各带 64 个 token 来，再要 64 个，一共四块：
#
# | 并发 | 完成 | 失败 | 被抢占 | TTFT ms | TPOT ms |
# |---|---|---|---|---|---|
# | 1 | 16 | 0 | 0 | 289.4 | 70.15 |
# | 4 | 16 | 0 | 14 | 2884.9 | 65.83 |
#
# 一次一个请求，放得下。四个到最后要 16 块，而只有 9 块：有人被送回队列 14 次，首个 token 要等十倍的时间。（那两个核当时还在忙别的事，所以这些时间不说明 vLLM 的快慢；块数和抢占则正是账本所预言的。）
#
# **接着读。** Kwon 等，*Efficient Memory Management for Large Language Model Serving with PagedAttention*，SOSP 2023（arXiv 2309.06180）。在 vLLM 的源码里，prefill 和 decode 合成了一个函数：`vllm/v1/core/kv_cache_manager.py` 里的 `allocate_slots`，接下来有多少 token，就从 `block_pool.py` 那里领多少块。你的账本对应启动时的一步：测出还剩多少显存可以划成块。推理时并不会把缓存读回来：kernel 直接顺着块表走，前面已经说过。还有两个问题可以继续想：池满了，该收回谁的块？两个 prompt 开头相同，能不能共用块（前缀缓存）？

# %% [markdown] tags=["lang-en", "answer"]
# ## After the deadline: from our four functions to vLLM's
#
# | Here | Why it is right | In vLLM |
# |---|---|---|
# | TODO 1, the ledger | one factor for each dimension of the tensor, two tensors; integers, so nothing is rounded | the cache specification of a layer gives `page_size_bytes`; dividing the measured free memory by it gives the number of blocks |
# | TODO 2, prefill | rounding up counts the part of a block as a block; choosing before taking makes the refusal leave no trace | `allocate_slots` asks how many blocks are missing, compares with `get_num_free_blocks`, returns `None` when there are too few, and only then takes them |
# | TODO 3, decode | the boundary is asked before the append, so that every size of block works | the same `allocate_slots`, with one new token; when it returns `None` the scheduler preempts a running request |
# | TODO 4, reading | the table's order is the tokens' order; the given line cuts the tail | no such function: `slot_mapping` says where new tokens are written, the kernel gets the block tables and reads through them |
# | `release_request` | everything is checked before anything changes | `free` gives blocks back from the last to the first, so that the start of a prompt, which others may share, stays longest |
#
# What vLLM adds to this is sharing: each block counts how many requests use it, and full blocks are found again by a
# hash of their tokens. The invariant becomes "free, or used by exactly as many requests as its counter says".

# %% [markdown] tags=["lang-zh", "answer"]
# ## 截止之后：从我们的四个函数到 vLLM
#
# | 这里 | 为什么对 | 在 vLLM 里 |
# |---|---|---|
# | TODO 1，账本 | 张量的每一维一个因子，张量有两份；全是整数，没有舍入 | 每一层的缓存规格给出 `page_size_bytes`；量出剩余显存，除以它就是块数 |
# | TODO 2，prefill | 向上取整，不满一块也算一块；先选后取，所以拒绝时不留痕迹 | `allocate_slots` 先算还差几块，和 `get_num_free_blocks` 比，不够就返回 `None`，够了才取 |
# | TODO 3，decode | 在追加之前看满没满，所以块多大都对 | 还是 `allocate_slots`，只是新 token 只有一个；返回 `None` 时，调度器抢占一个正在运行的请求 |
# | TODO 4，读回 | 块表的次序就是 token 的次序；给定的那一行切掉尾部 | 没有这个函数：`slot_mapping` 说明新 token 写到哪里，kernel 拿到块表，顺着它读 |
# | `release_request` | 全部检查完，才开始改动 | `free` 从最后一块还到第一块，这样 prompt 的开头留得最久，别的请求也许还能共用 |
#
# vLLM 在此之上加了共享：每一块记着有几个请求在用它，装满的块可以凭 token 的哈希值再次找到。不变量于是变成“要么空闲，要么使用它的请求数恰好等于计数”。
