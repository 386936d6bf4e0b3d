"""What a read on a GPU must not do, noticed on PyTorch's ``meta`` device in the words of the graded report."""

from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.lesson.speech import say

_WAITS = ("_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero", "_unique", "_unique2")
_INDEXING = ("index", "index_put", "index_put_", "_index_put_impl_")
_MASKS = (torch.bool, torch.uint8)


class LeavesDeviceError(Exception):
    """An operation that costs points on a GPU; ``kind`` is the one that the report names."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class DeviceWatch(TorchDispatchMode):  # type: ignore[misc]
    """While active, stop at the first operation that would not stay on the pool's device."""

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kind = kind_of_event(function._schema.name.removeprefix("aten::"), args, kwargs or {})
        if kind:
            raise LeavesDeviceError(kind)
        return function(*args, **(kwargs or {}))


class PrintWatch(TorchFunctionMode):  # type: ignore[misc]
    """While active, stop where a tensor is printed: a GPU copies it to the host for that, ``meta`` does not."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(function, "__name__", "") in ("__repr__", "__format__") and _on_meta(args[0]):
            raise LeavesDeviceError("copy")
        return function(*args, **(kwargs or {}))


def kind_of_event(name: str, args: Any, kwargs: dict[str, Any]) -> str:
    """Return which fault an operation of torch would be on a GPU, "" for none."""
    tensors = [value for value in _flat(args) if isinstance(value, torch.Tensor)]
    if name == "_to_copy":
        leaves = _on_meta(tensors[0]) and torch.device(kwargs.get("device") or "meta").type == "cpu"
        return "copy" if leaves else ""
    if name == "copy_":
        return "elsewhere" if _on_meta(tensors[1]) and not _on_meta(tensors[0]) else ""
    if not any(map(_on_meta, tensors)):
        return ""
    indices = tensors[1:] if name in _INDEXING and _on_meta(tensors[0]) else []
    hosted = [tensor for tensor in tensors if not _on_meta(tensor) and tensor.dim() > 0]
    if hosted:
        return "index" if indices else "mixed"
    waits = name in _WAITS or any(index.dtype in _MASKS for index in indices)
    return "sync" if waits else ""


def _on_meta(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.device.type == "meta"


def _flat(value: Any) -> list[Any]:
    return [part for item in value for part in _flat(item)] if isinstance(value, (list, tuple)) else [value]


def kind_of_refusal(error: Exception) -> str:
    """Return which fault it is that torch reports by refusing it, "" for another kind of error."""
    if isinstance(error, LeavesDeviceError):
        return error.kind
    if "to numpy" in str(error):
        return "copy"
    if "Tensor.item() cannot be called on meta" in str(error):
        return "sync"
    return "mixed" if "same device" in str(error) or "is not on the expected device" in str(error) else ""


def device_fault(kind: str) -> tuple[str, str]:
    """Return the sentence and the advice of the graded report for a fault."""
    return {
        "copy": (
            say("Data was copied from the device to the host.", "有数据从设备拷回了主机。"),
            say("Look for .cpu(), .numpy(), .tolist(), .item(), print() of a tensor, and tensors used in an if.",
                "找找 .cpu()、.numpy()、.tolist()、.item()、打印张量，以及用在 if 里的张量。"),
        ),
        "sync": (
            say("The call made the host wait for the device.", "这次调用让主机停下来等设备。"),
            say("Everything that looks at a tensor's value waits: .item(), bool(tensor), print().",
                "凡是要看张量数值的操作都会等待：.item()、bool(张量)、print()。"),
        ),
        "elsewhere": (
            say("The result does not lie on the pool's device.", "结果不在池所在的设备上。"),
            say("Look for tensors made without device=, and for .cpu().",
                "找找新建时没有写 device= 的张量，还有 .cpu()。"),
        ),
        "index": (
            say("A tensor on the device was indexed with a tensor on the host, which makes the device wait for a "
                "hidden copy.", "用主机上的张量去索引设备上的张量，会暗中拷贝一次，让设备等待。"),
            say("Create the index with device=self.physical_kv_cache.device, or use the block table itself.",
                "新建下标张量时写上 device=self.physical_kv_cache.device，或者直接用块表做下标。"),
        ),
        "mixed": (
            say("Tensors on different devices met in one operation.", "不同设备上的张量出现在同一个运算里。"),
            say("Give a new tensor the pool's device, or index with plain Python integers.",
                "新建张量时使用池的 device，或者用普通的 Python 整数做下标。"),
        ),
        "dtype": (
            say("The result does not have the pool's dtype.", "结果的 dtype 与池不同。"),
            say("Look for .float(), .half() and for new tensors that are made without dtype=.",
                "找找 .float()、.half()，以及新建时没有写 dtype= 的张量。"),
        ),
    }[kind]  # fmt: skip
