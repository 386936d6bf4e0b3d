"""Checks of the two stretch exercises: ungraded, and as strict about leaving no trace."""

from collections.abc import Callable

from autograder.lesson.check import Outcome
from autograder.lesson.play import new_manager, said
from autograder.lesson.speech import emit, notebook, say
from autograder.lesson.story import Raised, as_outcome, is_open_todo


class Wrong(Exception):
    """What a stretch exercise got wrong, in one sentence."""


def stretch() -> None:
    """Check both stretch exercises and say how each went."""
    for name, check in (("Stretch 1", _preempting), ("Stretch 2", _sharing)):
        emit(_outcome(name, check))


def _outcome(name: str, check: Callable[[], None]) -> Outcome:
    try:
        check()
    except Wrong as wrong:
        return Outcome(name, "failed", str(wrong))
    except KeyError as missing:
        return Outcome(
            name, "not attempted", say(f"run the cell of {missing} first.", f"请先运行 {missing} 的单元格。")
        )
    except Exception as error:
        if is_open_todo(error):
            return Outcome(name, "not attempted", say(f"waiting for {error}.", f"要等 {error} 完成。"))
        return Outcome(name, "failed", said(as_outcome(error)))
    return Outcome(name, "passed", say("all cases hold.", "全部用例通过。"))


def _expect(right: bool, en: str, zh: str) -> None:
    if not right:
        raise Wrong(say(en, zh))


def _refused(call: Callable[[], object]) -> bool:
    """Whether the call ends in an OOM."""
    try:
        call()
    except Exception as error:
        if is_open_todo(error):
            raise
        outcome = as_outcome(error)
        return isinstance(outcome, Raised) and outcome.kind == "OOM"
    return False


def _preempting() -> None:
    make_room, request = notebook.names["make_room"], notebook.names["Request"]
    manager = new_manager(6, 2, 1)
    running = [request(number, prompt) for number, prompt in enumerate((3, 4, 2))]
    for req in running:
        manager.allocate_for_prefill(req)
    oldest, middle, newest = running
    _expect(make_room(manager, running, 1) == [] and len(running) == 3,
            "One block was free already, and yet somebody was released.", "本来就空着一块，却还是释放了别人。")  # fmt: skip
    _expect(_refused(lambda: make_room(manager, running, 7)) and running == [oldest, middle, newest]
            and len(manager.free_blocks) == 1,
            "7 blocks can never be free in a pool of 6: OOM, and nobody released.",
            "池里只有 6 块，永远腾不出 7 块：应当 OOM，而且谁也不释放。")  # fmt: skip
    victims = make_room(manager, running, 3)
    _expect(victims == [newest, middle], "For 3 free blocks the two newest have to go, the newest first.",
            "要腾出 3 块，应当释放最新的两个请求，先释放最新的。")  # fmt: skip
    _expect(running == [oldest], "Who was released is not running any more.", "被释放的请求不应再算作运行中。")
    _expect(not newest.block_table and len(manager.free_blocks) == 4, "Their blocks have to be free again.",
            "它们的块应当回到空闲列表。")  # fmt: skip
    _expect(
        newest.seq_len == 2, "The length stays: this much has to be computed again.", "长度不变：要重算的就是这么多。"
    )


def _sharing() -> None:
    manager, request = notebook.names["SharingManager"](4, 4, 1), notebook.names["Request"]
    parent = request(0, 6)
    manager.allocate_for_prefill(parent)
    pool = manager.physical_kv_cache
    for place, block in enumerate(parent.block_table):
        pool[block] = 10 + place
    child = manager.fork(parent, 1)
    full, tail = parent.block_table
    _expect(child.seq_len == 6, "The child has its parent's 6 tokens.", "子请求应有和父请求一样的 6 个 token。")
    _expect(len(child.block_table) == 2, "6 tokens in blocks of 4 are two blocks: one shared, one the child's own.",
            "每块 4 个，6 个 token 是两块：一块共用，一块自己的。")  # fmt: skip
    _expect(child.block_table[0] == full, "The full block is shared, not copied.", "装满的块应当共用，不用复制。")
    _expect(child.block_table[1] not in parent.block_table, "The started block has to be the child's own: both go on "
            "writing there.", "没装满的块要各有一份：双方都还要往里写。")  # fmt: skip
    _expect(bool((pool[child.block_table[1]] == pool[tail]).all()), "The started block's tokens have to be copied.",
            "没装满的块里的 token 要复制过去。")  # fmt: skip
    _expect(len(manager.free_blocks) == 1, "Three blocks are in use by the two.", "两个请求一共用了三块。")
    manager.fork(parent, 2)
    free = list(manager.free_blocks)
    _expect(_refused(lambda: manager.fork(parent, 3)) and list(manager.free_blocks) == free
            and manager.users[full] == 3,
            "With no block free a fork is an OOM, and nothing changes, no count either.",
            "没有空闲块时 fork 应当 OOM，什么都不变，计数也不变。")  # fmt: skip
    manager.release_request(parent)
    _expect(full not in manager.free_blocks, "The shared block was freed while two still use it.",
            "还有两个请求在用，共用的块就被释放了。")  # fmt: skip
    _expect(tail in manager.free_blocks, "The parent's own block has to be free.", "父请求自己的块应当空出来。")
    manager.release_request(child)
    _expect(len(manager.free_blocks) == len(set(manager.free_blocks)) == 2, "Two blocks are free now, none twice.",
            "这时应有两块空闲，不能重复。")  # fmt: skip
