"""Whether TODO 4 would work on a GPU, found out without one."""

import torch

from autograder.lesson.check import Outcome
from autograder.lesson.play import new_manager
from autograder.lesson.speech import notebook, say
from autograder.lesson.story import StoryError, guilty_line, is_open_todo


def readiness() -> Outcome:
    """Read from a pool on PyTorch's ``meta`` device: it has shapes and no numbers, so a copy or a dtype shows."""
    try:
        manager = new_manager(4, 2, 3, dtype=torch.bfloat16, device="meta")
        req = notebook.names["Request"](0, 3)
        req.block_table = [3, 1]
        cache = manager.get_physical_cache(req)
    except (StoryError, AttributeError) as error:
        return Outcome("GPU", "not attempted", say(f"cannot be tried yet: {error}", f"还不能试：{error}"))
    except Exception as error:
        if is_open_todo(error):
            return Outcome("GPU", "waiting", say(f"waiting for {error}.", f"要等 {error} 完成。"))
        return Outcome("GPU", "failed", _why(error))
    found = {
        "device": (getattr(cache, "device", None), manager.physical_kv_cache.device),
        "dtype": (getattr(cache, "dtype", None), torch.bfloat16),
        "shape": (tuple(getattr(cache, "shape", ())), (3, 3)),
    }
    wrong = [
        say(f"{name} is {got}, should be {wanted}", f"{name} 是 {got}，应为 {wanted}")
        for name, (got, wanted) in found.items()
        if got != wanted
    ]
    if wrong:
        words = say("not ready: ", "还不行：") + say("; ", "；").join(wrong)
        advice = say(". Device and dtype are those of the pool.", "。设备和 dtype 都要跟着池走。")
        return Outcome("GPU", "failed", words + (advice if found["shape"][0] == (3, 3) else say(".", "。")))
    return Outcome("GPU", "passed", say("Ready for a GPU.", "可以上 GPU。"))


def _why(error: Exception) -> str:
    line = guilty_line(error)
    if "meta" in str(error) or isinstance(error, NotImplementedError):
        told = say(
            "not ready: numbers were copied off the device (`.cpu()`, `.tolist()`, `.item()`) or a tensor was made "
            "somewhere else.",
            "还不行：数据被拷出了设备（`.cpu()`、`.tolist()`、`.item()`），或者在别处新建了张量。",
        )
    else:
        told = say(f"not ready: {type(error).__name__}: {error}", f"还不行：{type(error).__name__}：{error}")
    return f"{told}\n{say('In ', '出错在')}{line}" if line else told
