"""A stand-in GPU for machines without one: real values, a device of its own, and a GPU's refusals in a GPU's words.

It is torch's Python backend for the device key that is kept free for extensions. A tensor here wraps one on the host;
what would have to cross over to the host does so by the same operations as on CUDA, where ``events`` can see them.
"""

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torch.utils import _pytree as pytree
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "fakegpu"
ALLOCATION_BYTES = 512  # what CUDA's allocator rounds up to
_MAY_MIX = frozenset(
    {"aten::copy_", "aten::_to_copy", "aten::index", "aten::index_put_", "aten::index_put", "aten::_index_put_impl_"}
)
_NO_NUMPY = (
    f"can't convert {NAME}:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
)
_cpu = torch.device("cpu")


class Memory:
    """Counts the bytes that the stand-in has handed out."""

    taken = 0

    @classmethod
    def take(cls, raw: torch.Tensor) -> None:
        """Count a new allocation."""
        cls.taken += -(-raw.numel() * raw.element_size() // ALLOCATION_BYTES) * ALLOCATION_BYTES


class FakeTensorOnDevice(torch.Tensor):  # type: ignore[misc]
    """A tensor on the stand-in; ``raw`` holds its values, on the host or, for pools without values, on meta."""

    raw: torch.Tensor
    __torch_function__: ClassVar[Any] = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, raw: torch.Tensor) -> "FakeTensorOnDevice":
        tensor: FakeTensorOnDevice = torch.Tensor._make_wrapper_subclass(
            cls, raw.shape, strides=raw.stride(), storage_offset=raw.storage_offset(), dtype=raw.dtype, device=NAME
        )
        tensor.raw = raw
        return tensor

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        tensors = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        name = function._schema.name
        if name not in _MAY_MIX and any(not isinstance(t, cls) and t.dim() > 0 for t in tensors):
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found at least two devices, {NAME}:0 and cpu!"
            )
        target = torch.device(kwargs.pop("device", None) or NAME)
        on_meta = any(t.raw.is_meta for t in tensors if isinstance(t, cls)) and target != _cpu

        def unwrap(value: Any) -> Any:
            raw = value.raw if isinstance(value, cls) else value
            return raw.to("meta") if on_meta and isinstance(raw, torch.Tensor) else raw

        if name == "aten::_to_copy" and target == _cpu:
            kwargs["device"] = _cpu
        result = function(*pytree.tree_map(unwrap, args), **pytree.tree_map(unwrap, kwargs))
        if function._schema.is_mutable:
            return args[0]
        return result if target == _cpu else pytree.tree_map(_wrapper(tensors), result)

    def tolist(self) -> Any:
        """Copy to the host, as CUDA does."""
        return self.cpu().tolist()

    def numpy(self, *_: Any, **__: Any) -> Any:
        """Refuse as CUDA does."""
        raise TypeError(_NO_NUMPY)

    __array__ = numpy

    def __repr__(self, *_: Any, **__: Any) -> str:
        return repr(self.cpu())


def _wrapper(inputs: list[torch.Tensor]) -> Callable[[Any], Any]:
    """Return what puts results on the device; those that share no memory with ``inputs`` count as allocated."""
    known = {t.raw.untyped_storage()._cdata for t in inputs if isinstance(t, FakeTensorOnDevice)}

    def wrap(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if value.untyped_storage()._cdata not in known:
            Memory.take(value)
        return FakeTensorOnDevice(value)

    return wrap


def _empty(size: Any, dtype: Any = None, *_: Any, **__: Any) -> torch.Tensor:
    return _allocated(torch.empty(size, dtype=dtype, device=_cpu))


def _empty_strided(size: Any, stride: Any, dtype: Any = None, *_: Any, **__: Any) -> torch.Tensor:
    return _allocated(torch.empty_strided(size, stride, dtype=dtype, device=_cpu))


def _allocated(raw: torch.Tensor) -> torch.Tensor:
    Memory.take(raw)
    return FakeTensorOnDevice(raw)


def _raw(tensor: Any) -> torch.Tensor:
    return tensor.raw if isinstance(tensor, FakeTensorOnDevice) else tensor


def _copy_from(source: Any, target: Any, non_blocking: bool = False) -> Any:
    _raw(target).copy_(_raw(source))
    return target


def install(on_hidden_read: Callable[[], None]) -> "torch.library.Library":
    """Make the device known to torch; ``on_hidden_read`` is told of values read out where no dispatch mode looks."""

    def scalar(tensor: Any) -> Any:
        on_hidden_read()
        return _raw(tensor).item()

    _setup_privateuseone_for_python_backend(NAME)
    library = torch.library.Library("aten", "IMPL")
    for name, kernel in (
        ("empty.memory_format", _empty),
        ("empty_strided", _empty_strided),
        ("_copy_from", _copy_from),
        ("_local_scalar_dense", scalar),
    ):
        library.impl(name, kernel, "PrivateUse1")
    return library
