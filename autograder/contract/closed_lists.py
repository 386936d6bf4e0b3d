"""The only words that a finding may repeat from a submission: whatever is on no list here has one general word.

A child knows what it was asked. A text of its own in a report would be a way out for the hidden cases.
"""

import builtins

from autograder.contract.operations import DTYPE_BYTES, METHODS

CONTRACT_NAMES = frozenset({"estimate_kv_cache_bytes", "Request", "KVCacheManager", *METHODS.values()})

OWN = "own"

EXCEPTIONS = frozenset(
    name for name, kind in vars(builtins).items() if isinstance(kind, type) and issubclass(kind, BaseException)
)

KINDS = frozenset(
    "None int float bool complex str bytes list tuple sequence set dict ellipsis tensor Tensor ndarray range generator "
    "function method type module missing".split()
)

DTYPES = frozenset(
    {*DTYPE_BYTES, "bool", "uint8", "int8", "int16", "int32", "int64", "complex64", "complex128"}
)  # fmt: skip


def known(word: object, words: frozenset[str]) -> str:
    """Return a word as it is where it is on the list, and the general word where it is not."""
    return word if isinstance(word, str) and word in words else OWN
