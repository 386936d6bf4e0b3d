"""Carries out the operations of one case on the submission, on objects made for that case, and observes."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import torch

from autograder.contract.operations import DTYPE_BYTES, METHODS
from autograder.sandbox.inside import arrange
from autograder.sandbox.inside.change_tracker import ChangeTracker, plain, tensor
from autograder.sandbox.inside.encode import Encoder
from autograder.sandbox.inside.exception_data import Endings, exception_data, missing

# Taken before student code runs.
_type, _str, _iter, _next = type, str, iter, next
_getattr = getattr
_signature = inspect.signature
_set_default_dtype, _get_default_dtype = torch.set_default_dtype, torch.get_default_dtype
_Tensor, _DTYPES = torch.Tensor, {name: getattr(torch, name) for name in DTYPE_BYTES}
_METHODS = dict(METHODS)
_MANAGER = (
    plain(("num_blocks", "num_blocks"), ("block_size", "block_size")),
    plain(("free", "free_blocks")),
    tensor("pool", "physical_kv_cache"),
)
_REQUEST = (plain(("seq_len", "seq_len"), ("table", "block_table")),)
_ATTRIBUTES = ("request_id", "seq_len", "num_blocks", "block_size", "head_dim")
_ABSENT = object()


class _Missing(Exception):
    """A name of the contract, or an object that an earlier operation should have made, is not there."""

    def __init__(self, name: str | None, error: str) -> None:
        self.description = missing(name, error)


class Executor:
    """The names a submission defines, and the managers and requests made from them in one case."""

    def __init__(self, names: dict[str, Any], payloads: Iterable[bytes]) -> None:
        self.encoder = Encoder()
        self._names = names
        self._payloads = _iter(payloads)
        self._managers: dict[str, Any] = {}
        self._dtypes: dict[str, torch.dtype] = {}
        self._requests: dict[str, Any] = {}
        self._manager_views: dict[str, ChangeTracker] = {}
        self._request_views: dict[str, ChangeTracker] = {}
        self._gone: tuple[str, ...] = ()

    def observe(self, operation: list[Any]) -> dict[str, Any]:
        """Carry out one operation and return its observation, whatever happens in it."""
        name, *args = operation
        try:
            if name == "quiet":
                observation: dict[str, Any] = self._quiet(*args)
            else:
                value = self._call(_METHODS[name], *args) if name in _METHODS else self._step(name)(self, *args)
                observation = {"returned": self._encode(value)}
        except _Missing as absent:
            observation = {"raised": absent.description}
        except BaseException as error:
            observation = {"raised": exception_data(error)}
        observation["state"] = self._changes()
        return observation

    def _quiet(self, calls: list[list[Any]]) -> dict[str, Any]:
        """Carry out calls one after another and return how each ended: 0, or the number of what it raised."""
        endings, ends = Endings(), []
        for call in calls:
            try:
                method = _METHODS.get(call[0])
                if method is None:
                    self._step(call[0])(self, *call[1:])
                else:
                    self._call(method, call[1], call[2])
                end = 0
            except _Missing as absent:
                end = endings.number_of_missing(absent.description)
            except BaseException as error:
                end = endings.number(error)
            ends.append(end)
        return {"ends": ends, "raised": endings.described}

    def _changes(self) -> dict[str, dict[str, Any]] | None:
        """Return what differs from the last look, by manager and request, None for those that are gone."""
        encode = self._encode
        managers = {m: fields for m, view in self._manager_views.items() if (fields := view.look(encode))}
        requests: dict[str, Any] = {
            r: fields for r, view in self._request_views.items() if (fields := view.look(encode))
        }
        if self._gone:
            requests.update(dict.fromkeys(label for label in self._gone if label not in self._request_views))
            self._gone = ()
        return {"managers": managers, "requests": requests} if managers or requests else None

    def _step(self, name: str) -> Callable[..., Any]:
        return _STEPS[name]

    def _encode(self, value: Any) -> Any:
        return self.encoder.encode(value)

    def _call(self, method: str, m: str, r: str) -> Any:
        manager, request = self._managers.get(m, _ABSENT), self._requests.get(r, _ABSENT)
        if manager is _ABSENT or request is _ABSENT:
            raise _Missing(None, "Missing")
        bound: Any = _getattr(manager, method, _ABSENT)
        if bound is _ABSENT and _getattr(_type(manager), method, _ABSENT) is _ABSENT:
            raise _Missing(method, "AttributeError")
        return bound(request) if bound is not _ABSENT else _getattr(manager, method)(request)

    def _ledger(self, *args: Any) -> Any:
        by_keyword = args[-1] if _type(args[-1]) is dict else {}
        return self._name("estimate_kv_cache_bytes")(*(a for a in args if a is not by_keyword), **by_keyword)

    def _new(self, m: str, num_blocks: int, block_size: int, head_dim: int, dtype: str, device: str) -> None:
        if self._managers.pop(m, None) is not None:
            del self._manager_views[m]
            self._gone = (*self._requests,)
            self._requests.clear()
            self._request_views.clear()
        make, wanted = self._name("KVCacheManager"), _DTYPES[dtype]
        accepted = _parameters(make)
        options = {name: value for name, value in (("dtype", wanted), ("device", device)) if name in accepted}
        default = _get_default_dtype()
        switch = "dtype" not in options and wanted is not default
        if switch:
            _set_default_dtype(wanted)
        try:
            manager = make(num_blocks, block_size, head_dim, **options)
        finally:
            if switch:
                _set_default_dtype(default)
        arrange.move(manager, wanted, device)
        self._managers[m], self._dtypes[m] = manager, wanted
        self._manager_views[m] = ChangeTracker(manager, _MANAGER)

    def _new_request(self, r: str, request_id: int, prompt_len: int) -> None:
        self._requests.pop(r, None)
        self._request_views.pop(r, None)
        request = self._requests[r] = self._name("Request")(request_id, prompt_len)
        self._request_views[r] = ChangeTracker(request, _REQUEST)

    def _fill(self, m: str) -> None:
        payload = _next(self._payloads)
        arrange.fill(self._object(self._managers, m), payload, self._dtypes[m])

    def _poison(self, m: str, r: str) -> None:
        arrange.poison(self._object(self._managers, m), self._object(self._requests, r))

    def _place(self, r: str, ids: list[int], seq_len: int) -> None:
        arrange.place(self._object(self._requests, r), ids, seq_len)

    def _seize(self, m: str, r: str, ids: list[int]) -> None:
        arrange.seize(self._object(self._managers, m), self._object(self._requests, r), ids)

    def _vacate(self, m: str, r: str) -> None:
        arrange.vacate(self._object(self._managers, m), self._object(self._requests, r))

    def _attributes(self, label: str) -> dict[str, Any]:
        """Return those of the numbers in the table of names that a manager or request has."""
        owner = self._object({**self._managers, **self._requests}, label)
        found = ((name, _getattr(owner, name, _ABSENT)) for name in _ATTRIBUTES)
        return {name: value for name, value in found if value is not _ABSENT}

    def _name(self, name: str) -> Any:
        value = self._names.get(name, _ABSENT)
        if value is _ABSENT:
            raise _Missing(name, "NameError")
        return value

    def _object(self, objects: dict[str, Any], label: str) -> Any:
        value = objects.get(label, _ABSENT)
        if value is _ABSENT:
            raise _Missing(None, "Missing")
        return value


_STEPS: dict[str, Callable[..., Any]] = {
    "new": Executor._new,
    "request": Executor._new_request,
    "fill": Executor._fill,
    "poison": Executor._poison,
    "place": Executor._place,
    "seize": Executor._seize,
    "vacate": Executor._vacate,
    "ledger": Executor._ledger,
    "attributes": Executor._attributes,
}


@functools.lru_cache(maxsize=1)
def _parameters(make: Any) -> frozenset[str]:
    try:
        return frozenset(_signature(make).parameters)
    except (TypeError, ValueError):
        return frozenset()
