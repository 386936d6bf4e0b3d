"""A stand-in GPU for machines without one: real values, a device of its own, and a GPU's refusals in a GPU's words.

It is torch's Python backend for the device key that is kept free for extensions. A tensor here wraps one on the host.
Every operation on one passes through ``__torch_dispatch__`` below, in whatever thread and under whatever mode, and is
noted there; the values themselves are reached by two functions alone, which no name leads to.
"""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, ClassVar

import torch
from torch.utils import _pytree as pytree
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

from autograder.sandbox.inside.device import Device
from autograder.sandbox.inside.events import Note, event_of, new_log
from autograder.sandbox.inside.wrapped import SHAPE, map_arguments, storage_bytes, written_by

NAME = "fakegpu"
ALLOCATION_BYTES = 512  # what CUDA's allocator rounds up to
_MAY_MIX = frozenset(
    {"aten::copy_", "aten::_to_copy", "aten::index", "aten::index_put_", "aten::index_put", "aten::_index_put_impl_"}
)
_NOT_EVEN_A_NUMBER = frozenset(
    f"aten::{name}"
    for name in (
        "index_select", "gather", "scatter", "scatter_", "index_copy", "index_copy_", "index_add", "index_add_", "take",
        "embedding", "cat", "mm", "bmm",
    )
)  # fmt: skip
"""Elsewhere a number on the host, a tensor without dimensions, may stand beside tensors on the device."""
_NO_NUMPY = (
    f"can't convert {NAME}:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first."
)
_MIXED = f"Expected all tensors to be on the same device, but found at least two devices, {NAME}:0 and cpu!"
_cpu, _here = torch.device("cpu"), f"{NAME}:0"


def open_stand_in() -> Device:
    """Make the device known to torch and return it; once in a process."""
    note, take = new_log()
    taken, wrap, raw_of = _install(note)
    before = 0

    def start() -> None:
        nonlocal before
        take()
        before = taken()

    def vast_pool(shape: tuple[int, ...], dtype: torch.dtype) -> tuple[torch.Tensor, bool]:
        return wrap(torch.empty(shape, dtype=dtype, device="meta")), False

    return Device(
        name=NAME,
        start=start,
        watch=nullcontext,  # what there is to see is seen by every tensor
        note=note,
        events=take,
        taken=lambda: taken() - before,
        settle=lambda: None,
        to_host=raw_of,
        vast_pool=vast_pool,
        fault=lambda error: None,
        rates=lambda read, rows: {},
    )


def _install(
    note: Note,
) -> tuple[Callable[[], int], Callable[[torch.Tensor], torch.Tensor], Callable[[torch.Tensor], torch.Tensor]]:
    """Return the count of bytes handed out, what puts a tensor on the device, and what gives its values."""
    taken, inference_mode = 0, torch._C._InferenceMode

    class FakeTensorOnDevice(torch.Tensor):  # type: ignore[misc]
        """A tensor on the stand-in."""

        __slots__ = ("_hidden",)
        __torch_function__: ClassVar[Any] = torch._C._disabled_torch_function_impl

        @classmethod
        def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            shape = SHAPE.get(function._schema.name)
            if shape:
                return shape(raw_of(args[0]), *args[1:])
            with inference_mode(False):  # the caller's inference mode concerns the tensors on the device
                return run(function, args, dict(kwargs or {}))

        def tolist(self) -> Any:
            """Copy to the host, as CUDA does."""
            return self.cpu().tolist()

        def numpy(self, *_: Any, **__: Any) -> Any:
            """Refuse as CUDA does."""
            raise TypeError(_NO_NUMPY)

        __array__ = numpy

        def __repr__(self, *_: Any, **__: Any) -> str:
            return repr(self.cpu())

        def __deepcopy__(self, memo: Any) -> Any:
            return memo.setdefault(id(self), self.detach().clone().requires_grad_(self.requires_grad))

        def __copy__(self) -> Any:
            return self.detach()

        def __reduce_ex__(self, protocol: Any) -> Any:
            return torch.Tensor.to, (self.cpu(), NAME)

        @property
        def data(self) -> Any:
            return self.detach()

        @data.setter
        def data(self, other: Any) -> None:
            give(self, raw_of(other))

    give, values_of = FakeTensorOnDevice._hidden.__set__, FakeTensorOnDevice._hidden.__get__
    del FakeTensorOnDevice._hidden

    def is_here(value: Any) -> bool:
        return isinstance(value, FakeTensorOnDevice)

    def raw_of(value: Any) -> Any:
        return values_of(value) if is_here(value) else value

    def wrap(raw: torch.Tensor) -> torch.Tensor:
        tensor: torch.Tensor = torch.Tensor._make_wrapper_subclass(
            FakeTensorOnDevice,
            raw.shape,
            strides=raw.stride(),
            storage_offset=raw.storage_offset(),
            dtype=raw.dtype,
            device=_here,
            dispatch_sizes_strides_policy="sizes",
        )
        give(tensor, raw)
        return tensor

    def count(size: int) -> None:
        nonlocal taken
        taken += -(-size // ALLOCATION_BYTES) * ALLOCATION_BYTES

    def allocated(raw: torch.Tensor) -> torch.Tensor:
        count(raw.numel() * raw.element_size())
        return wrap(raw)

    def run(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        schema = function._schema
        name = schema.name
        tensors: list[Any] = []

        def collect(value: Any) -> None:
            if isinstance(value, torch.Tensor):
                tensors.append(value)

        map_arguments(collect, (args, list(kwargs.values())))
        strangers = [t for t in tensors if not is_here(t)]
        if name not in _MAY_MIX and any(t.dim() > 0 or name in _NOT_EVEN_A_NUMBER for t in strangers):
            raise RuntimeError(_MIXED)
        note(event_of(name, args, kwargs, NAME))
        target = torch.device(kwargs.pop("device", None) or NAME)
        to_host = target == _cpu and name == "aten::_to_copy"
        on_meta = not to_host and any(values_of(t).is_meta for t in tensors if is_here(t))

        written = [t for t in written_by(schema, args, kwargs) if is_here(t)] if schema.is_mutable else []
        sizes = [storage_bytes(values_of(t)) for t in written]

        def unwrap(value: Any) -> Any:
            raw = raw_of(value)
            if on_meta and isinstance(raw, torch.Tensor) and not raw.is_meta:
                raw = raw.to("meta")
                if any(value is t for t in written):  # what is made of no values has none, an ``out`` as well
                    give(value, raw)
            return raw

        if to_host:
            kwargs["device"] = _cpu
        result = function(
            *map_arguments(unwrap, args), **{key: map_arguments(unwrap, value) for key, value in kwargs.items()}
        )
        if to_host:
            return result
        if written:
            for t, size in zip(written, sizes, strict=True):  # an ``out`` that was too small has grown
                if storage_bytes(values_of(t)) > size:
                    count(storage_bytes(values_of(t)))
            return written[0] if len(written) == 1 else tuple(written)
        known = {values_of(t).untyped_storage()._cdata for t in tensors if is_here(t)}

        def put_here(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            return (wrap if value.untyped_storage()._cdata in known else allocated)(value)

        return put_here(result) if isinstance(result, torch.Tensor) else pytree.tree_map(put_here, result)

    def scalar(tensor: Any) -> Any:
        note("sync")
        return raw_of(tensor).item()

    def copy_from(source: Any, target: Any, non_blocking: bool = False) -> Any:
        raw_of(target).copy_(raw_of(source))
        return target

    def empty(size: Any, dtype: Any = None, *_: Any, **__: Any) -> torch.Tensor:
        return allocated(torch.empty(size, dtype=dtype, device=_cpu))

    def empty_strided(size: Any, stride: Any, dtype: Any = None, *_: Any, **__: Any) -> torch.Tensor:
        return allocated(torch.empty_strided(size, stride, dtype=dtype, device=_cpu))

    def pinned(tensor: Any, device: Any = None) -> Any:
        return tensor.clone()

    _setup_privateuseone_for_python_backend(NAME)
    library = torch.library.Library("aten", "IMPL")
    for name, kernel, key in (
        ("empty.memory_format", empty, "PrivateUse1"),
        ("empty_strided", empty_strided, "PrivateUse1"),
        ("_copy_from", copy_from, "PrivateUse1"),
        ("_local_scalar_dense", scalar, "PrivateUse1"),
        ("pin_memory", pinned, "CPU"),
    ):
        library.impl(name, kernel, key)
    from_dlpack = torch.from_dlpack
    torch.from_dlpack = lambda x, *a, **k: x.view(x.shape) if is_here(x) else from_dlpack(x, *a, **k)
    return (lambda kept=library: taken), wrap, raw_of  # the library lasts as long as it is held
