"""Whether TODO 4 would work on a GPU, found out without one."""

from typing import Any

import torch

from autograder.lesson.check import Outcome
from autograder.lesson.device_watch import DeviceWatch, PrintWatch, device_fault, kind_of_refusal
from autograder.lesson.play import new_manager
from autograder.lesson.speech import notebook, say
from autograder.lesson.story import StoryError, guilty_line, is_open_todo


def readiness() -> Outcome:
    """Read from a pool on PyTorch's ``meta`` device, and say what the graded report would say of a GPU."""
    try:
        manager = new_manager(4, 2, 3, dtype=torch.bfloat16, device="meta")
        req = notebook.names["Request"](0, 3)
        req.block_table = [3, 1]
    except (StoryError, TypeError) as error:
        return Outcome("GPU", "not attempted", say(f"cannot be tried yet: {error}", f"还不能试：{error}"))
    if not hasattr(manager, "get_physical_cache"):
        return Outcome("GPU", "waiting", say("waiting for TODO 4.", "要等 TODO 4 完成。"))
    try:
        with DeviceWatch(), PrintWatch():
            cache = manager.get_physical_cache(req)
    except Exception as error:
        if is_open_todo(error):
            return Outcome("GPU", "waiting", say(f"waiting for {error}.", f"要等 {error} 完成。"))
        return _not_ready(kind_of_refusal(error), guilty_line(error), error)
    if not isinstance(cache, torch.Tensor):
        got = type(cache).__name__
        return Outcome("GPU", "failed", say(f"not ready: the read returns {got}, no tensor.",
                                            f"还不行：读出的是 {got}，不是张量。"))  # fmt: skip
    if cache.device != manager.physical_kv_cache.device:
        return _not_ready("elsewhere")
    if cache.dtype != torch.bfloat16:
        return _not_ready("dtype")
    if list(cache.shape) != [3, 3]:
        return Outcome("GPU", "failed", say(f"not ready: the shape is {list(cache.shape)}, should be [3, 3].",
                                            f"还不行：形状是 {list(cache.shape)}，应为 [3, 3]。"))  # fmt: skip
    return Outcome("GPU", "passed", say("Ready for a GPU.", "可以上 GPU。"))


def _not_ready(kind: str, line: str = "", error: Any = None) -> Outcome:
    sentence, advice = device_fault(kind) if kind else (f"{type(error).__name__}: {error}", "")
    told = [say("not ready: ", "还不行：") + sentence]
    told += [say("In ", "出错在") + line] if line else []
    return Outcome("GPU", "failed", "\n".join([*told, *([advice] if advice else [])]))
