"""The modules handed in beside a notebook as one file: what their texts become in OUT and in bundles, and back."""

import json
from collections.abc import Mapping
from hashlib import sha256

HELPERS = "helpers.json"


def helpers_file(helpers: Mapping[str, str]) -> bytes:
    """Return the texts by path as JSON, the same bytes for the same texts; empty where there are none."""
    return json.dumps(dict(helpers), sort_keys=True, indent=1).encode() + b"\n" if helpers else b""


def helpers_sha256(helpers: Mapping[str, str]) -> str:
    """Return the SHA-256 of :func:`helpers_file`, empty where there are none."""
    return sha256(helpers_file(helpers)).hexdigest() if helpers else ""


def read_helpers(content: bytes) -> dict[str, str]:
    """Return what :func:`helpers_file` was made of; raise ValueError for what it cannot have written."""
    try:
        texts = json.loads(content) if content else {}
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(texts, dict) or not all(type(text) is str for text in texts.values()):
        raise ValueError("not texts by path")
    return texts
