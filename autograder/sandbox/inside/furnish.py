"""The ``__main__`` of a notebook: display, input and sleep that hold nothing up, and torch without its compiler."""

import builtins
import sys
import threading
import time
from types import ModuleType
from typing import Any

import torch

from autograder.sandbox.inside import event_loop
from autograder.sandbox.inside.inert import INERT

_NAP_S = 0.002
_sleep = time.sleep
_set_deterministic = torch._C._set_deterministic_algorithms


def furnish() -> ModuleType:
    """Return a fresh ``__main__`` for a notebook, registered, with the stand-ins in place."""
    module = ModuleType("__main__")
    module.__dict__.update(__builtins__=builtins, display=INERT, exit=INERT, quit=INERT, In=[], Out={})
    builtins.input = lambda *_: ""
    time.sleep = _nap
    event_loop.install()
    torch.compile = _not_compiled
    torch.use_deterministic_algorithms = _deterministic
    sys.modules["__main__"] = module
    return module


def _nap(_: Any) -> None:
    """Stand in for ``time.sleep``: what takes its time is no hang, and a thread that waits beside it does not work."""
    if threading.current_thread() is not threading.main_thread():
        _sleep(_NAP_S)


def _not_compiled(model: Any = None, **_: Any) -> Any:
    """Stand in for ``torch.compile``, which needs a C compiler, and whose result computes the same."""
    return model if model is not None else _not_compiled


def _deterministic(mode: bool, *, warn_only: bool = False) -> None:
    """Do what ``torch.use_deterministic_algorithms`` does, without importing the compiler to tell it, too: 2 s."""
    _set_deterministic(mode, warn_only=warn_only)
