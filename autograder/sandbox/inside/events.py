"""What a call does to a device, seen by torch's dispatcher: copies to the host, waiting, tensors out of place."""

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

_Tensor = torch.Tensor
_WAITS = frozenset(
    f"aten::{name}"
    for name in (
        "_local_scalar_dense", "nonzero", "masked_select", "equal", "is_nonzero", "_unique", "_unique2", "unique_dim",
    )
)  # fmt: skip
_INDEXING = frozenset({"aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_"})
_MAX_EVENTS = 16


class DeviceEvents(TorchDispatchMode):  # type: ignore[misc]
    """While active, notes in ``seen`` what happens between the host and ``device``: one word per event, in order.

    ``copy``: data went to the host. ``sync``: the host waited for a value. ``elsewhere``: data was written into a
    tensor on the host. ``index``: a device tensor was indexed by a host tensor. ``mixed``: torch refused to mix.
    ``wait``: CUDA itself reports that the host waited, which indices on their way to the device cause as well.
    """

    def __init__(self, device: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self._device = device

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.note(self._event(function._schema.name, args, kwargs or {}))
        return function(*args, **(kwargs or {}))

    def note(self, event: str) -> None:
        """Add an event; an empty one and those past the first few are dropped."""
        if event and len(self.seen) < _MAX_EVENTS:
            self.seen.append(event)

    def note_error(self, error: BaseException) -> None:
        """Add the event that torch reports by refusing it."""
        try:
            text = str(error)
        except BaseException:
            return
        if "to numpy" in text or ".numpy()" in text:
            self.note("copy")
        elif "same device" in text:
            self.note("mixed")

    def _event(self, name: str, args: Any, kwargs: Any) -> str:
        if name == "aten::_to_copy" and self._is_here(args[0]):
            device = kwargs.get("device")
            return "copy" if device is not None and torch.device(device).type == "cpu" else ""
        if name == "aten::copy_" and self._is_here(args[1]) and args[0].device.type == "cpu":
            return "elsewhere"
        if name in _WAITS and args and self._is_here(args[0]):
            return "sync"
        if name in _INDEXING and self._is_here(args[0]):
            return "index" if any(self._is_list_on_host(index) for index in args[1]) else ""
        return ""

    def _is_here(self, value: Any) -> bool:
        return isinstance(value, _Tensor) and value.device.type == self._device

    def _is_list_on_host(self, index: Any) -> bool:
        return isinstance(index, _Tensor) and index.device.type == "cpu" and index.dim() > 0
