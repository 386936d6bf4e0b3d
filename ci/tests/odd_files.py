"""Odd files around one right solution: the samples in ``solutions/submissions/odd``.

``python ci/tests/odd_files.py`` writes the samples again.
"""

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ODD = Path(__file__).resolve().parents[2] / "solutions" / "submissions" / "odd"

RIGHT = (
    '''\
import torch


def estimate_kv_cache_bytes(num_blocks, block_size, num_layers, num_kv_heads, head_dim, dtype_bytes=2):
    """每个 token、每个块和整个池子的字节数。"""
    dimensions = (num_blocks, block_size, num_layers, num_kv_heads, head_dim, dtype_bytes)
    if min(dimensions) <= 0:
        raise ValueError(f"dimensions must be positive: {dimensions}")
    token = 2 * num_layers * num_kv_heads * head_dim * dtype_bytes
    return {
        "kv_bytes_per_token": token,
        "kv_bytes_per_block": token * block_size,
        "total_cache_bytes": token * block_size * num_blocks,
        "layout_shape": [num_layers, 2, num_kv_heads, block_size, head_dim],
    }
''',
    """\
class Request:
    def __init__(self, request_id, prompt_len):
        if request_id < 0 or prompt_len <= 0:
            raise ValueError("bad request")
        self.request_id, self.seq_len, self.block_table = request_id, prompt_len, []
""",
    """\
class KVCacheManager:
    def __init__(self, num_blocks, block_size, head_dim, *, dtype=torch.float32, device="cpu"):
        if min(num_blocks, block_size, head_dim) <= 0:
            raise ValueError("sizes must be positive")
        self.num_blocks, self.block_size, self.head_dim = num_blocks, block_size, head_dim
        self.physical_kv_cache = torch.zeros(num_blocks, block_size, head_dim, dtype=dtype, device=device)
        self.free_blocks = list(range(num_blocks))

    def allocate_for_prefill(self, req):
        if req.block_table:
            raise ValueError("already prefilled")
        req.block_table.extend(self._take(-(-req.seq_len // self.block_size)))

    def allocate_for_decode(self, req):
        if not req.block_table:
            raise ValueError("prefill first")
        if req.seq_len == len(req.block_table) * self.block_size:
            req.block_table.extend(self._take(1))
        req.seq_len += 1

    def _take(self, count):
        if count > len(self.free_blocks):
            raise RuntimeError(f"OOM: {count} wanted, {len(self.free_blocks)} free")
        taken, self.free_blocks[:count] = self.free_blocks[:count], []
        return taken

    def allocation_report(self, req):
        room = len(req.block_table) * self.block_size
        return {
            "logical_tokens": req.seq_len,
            "allocated_tokens": room,
            "unused_tail_tokens": room - req.seq_len,
            "utilization": req.seq_len / room if room else 0.0,
        }

    def release_request(self, req):
        blocks = set(req.block_table)
        if not blocks or len(blocks) < len(req.block_table):
            raise ValueError("nothing to release, or a block twice")
        if not blocks <= set(range(self.num_blocks)) - set(self.free_blocks):
            raise ValueError("a block is foreign or free")
        self.free_blocks = sorted([*self.free_blocks, *blocks])
        req.block_table.clear()

    def get_physical_cache(self, req):
        if not req.block_table or not all(0 <= block < self.num_blocks for block in req.block_table):
            raise ValueError("no table, or a block outside the pool")
        if len(req.block_table) * self.block_size < req.seq_len:
            raise ValueError("table too short")
        return torch.cat([self.physical_kv_cache[block] for block in req.block_table])[: req.seq_len]
""",
)
OPEN = (
    RIGHT[0],
    RIGHT[1],
    RIGHT[2].replace("        if count >", "        raise NotImplementedError\n        if count >"),
)
OLDER = (RIGHT[0], RIGHT[1], RIGHT[2].replace("count > len", "count >= len"))


def code_cell(source: str, **more: Any) -> dict[str, Any]:
    """One code cell as Jupyter saves it."""
    empty = {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": []}
    return empty | {"source": source.splitlines(keepends=True)} | more


def notebook(cells: Sequence[str] = RIGHT, **more: Any) -> dict[str, Any]:
    """A notebook of today's format."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    numbered = [code_cell(cell, id=f"cell-{number}") for number, cell in enumerate(cells)]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": numbered} | more


def text(notebook: Mapping[str, Any], ascii_only: bool = False) -> str:
    """The notebook's JSON as Jupyter indents it."""
    return json.dumps(notebook, indent=1, ensure_ascii=ascii_only) + "\n"


def ipynb(cells: Sequence[str] = RIGHT, **more: Any) -> bytes:
    """A notebook's file."""
    return text(notebook(cells, **more)).encode()


def zipped(members: Mapping[str, bytes], links: Sequence[str] = (), method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip with a fixed date, in which the members named in ``links`` are symbolic links."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            info.external_attr = (0o120777 if name in links else 0o100644) << 16
            archive.writestr(info, content)
    return buffer.getvalue()


def encrypted(archive: bytes) -> bytes:
    """The archive with every member marked as protected by a password."""
    marked = bytearray(archive)
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        position = marked.find(signature)
        while position >= 0:
            marked[position + offset] |= 1
            position = marked.find(signature, position + 4)
    return bytes(marked)


def percent(cells: Sequence[str] = RIGHT) -> str:
    """The py:percent form of a notebook, with a text cell and a commented magic."""
    head = "# ---\n# jupyter:\n#   jupytext:\n#     formats: ipynb,py:percent\n# ---\n\n# %% [markdown]\n# # 作业\n"
    return head + "".join(f"\n# %%\n{cell}" for cell in ("# %time", *cells))


def markdown(cells: Sequence[str] = RIGHT) -> str:
    """The Markdown form of a notebook, with a shell block between."""
    return "# 作业\n\n```bash\nrm -rf /nowhere\n```\n\n" + "".join(f"```python\n{cell}```\n\n" for cell in cells)


def worksheets(cells: Sequence[str] = RIGHT) -> dict[str, Any]:
    """A notebook of format 3."""
    old = [
        {"cell_type": "code", "language": "python", "input": cell, "outputs": [], "collapsed": False} for cell in cells
    ]
    heading = {"cell_type": "heading", "level": 1, "source": "Homework"}
    return {"nbformat": 3, "nbformat_minor": 0, "metadata": {"name": ""}, "worksheets": [{"cells": [heading, *old]}]}


def conflict() -> str:
    """A notebook with an unresolved merge in its JSON."""
    whole = text(notebook())
    line = ' "nbformat_minor": 5,\n'
    return whole.replace(line, f"<<<<<<< HEAD\n{line}=======\n{line.replace('5', '4')}>>>>>>> origin/main\n")


def samples() -> dict[str, bytes]:
    """Every checked-in sample: path below ``odd`` and content."""
    ids = notebook()["cells"]
    bare = {"cells": [{"cell_type": "code", "source": cell["source"]} for cell in ids]}
    surrogate = text(notebook((*RIGHT, 'smile = "@"  # half an emoji')), ascii_only=True).replace("@", "\\ud83d")
    magics = "!pip -q install torch\n%matplotlib inline\nfrom google.colab import drive\ndrive.mount('/content')\n"
    asking = "%%time\nname = input('your name? ')\nfiles = !ls\n"
    julia = {"kernelspec": {"name": "julia-1.10", "display_name": "Julia", "language": "julia"}}
    marks = "<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> origin/main\n"
    latin = "# r\u00e9sum\u00e9 de l'\u00e9l\u00e8ve\n" + "\n".join(RIGHT).replace(
        "每个 token、每个块和整个池子的字节数。", "m\u00e9moire"
    )
    return {
        "bom.ipynb": b"\xef\xbb\xbf" + ipynb(),
        "utf16.ipynb": text(notebook()).encode("utf-16"),
        "gbk.ipynb": text(notebook()).encode("gbk"),
        "latin1.py": latin.encode("latin-1"),
        "lone-surrogate.ipynb": surrogate.encode(),
        "nbformat3.ipynb": text(worksheets()).encode(),
        "no-metadata-no-ids.ipynb": text(bare).encode(),
        "foreign-kernel.ipynb": ipynb(metadata=julia),
        "colab-magics-and-input.ipynb": ipynb((magics, asking, *RIGHT)),
        "conflict-in-a-cell.ipynb": ipynb((*RIGHT, marks)),
        "million-digits.ipynb": text(notebook(metadata={"n": "@"})).replace('"@"', "9" * 20_000).encode(),
        "duplicate-keys-and-nan.ipynb": b'{"cells": 1, "metadata": NaN,' + ipynb()[1:],
        "percent.py": percent().encode(),
        "windows-lines.md": markdown().replace("\n", "\r\n").encode(),
        "saved-by-a-browser.ipynb.txt": ipynb(),
        "名字 with 'quotes' and 🎓.ipynb": ipynb(),
        "browser-copies/paged_attention.ipynb": ipynb(OLDER),
        "browser-copies/paged_attention (1).ipynb": ipynb(),
        "starter-beside-the-work/paged_attention.ipynb": ipynb(OPEN),
        "starter-beside-the-work/mine/answer.ipynb": ipynb(),
        "starter-beside-the-work/mine/notes.md": b"# nothing here\n",
        "mac.zip": zipped(
            {
                "__MACOSX/work/._paged_attention.ipynb": b"\0\5\x16\7",
                "work/.DS_Store": b"\0",
                "work/.ipynb_checkpoints/paged_attention-checkpoint.ipynb": ipynb(OLDER),
                "work/report.pdf": b"%PDF-1.4",
                "work/deep/er/paged_attention.ipynb": ipynb(),
                "../../escape.sh": b"true",
            }
        ),
        "truncated.ipynb": ipynb()[:2000],
        "empty.ipynb": b"",
        "web-page.ipynb": b"<!DOCTYPE html>\n<title>paged_attention.ipynb</title>\n",
        "no-code.ipynb": text(notebook(()) | {"cells": [{"cell_type": "markdown", "source": "# done"}]}).encode(),
        "conflict.ipynb": conflict().encode(),
        "deep.ipynb": b'{"cells": ' + b"[" * 5000 + b"]" * 5000 + b"}",
        "report.pdf": b"%PDF-1.4\n",
        "two-answers/first.ipynb": ipynb(OLDER),
        "two-answers/second.ipynb": ipynb(),
        "traversal.zip": zipped({"../paged_attention.ipynb": ipynb()}),
        "link.zip": zipped({"paged_attention.ipynb": b"/etc/passwd"}, links=("paged_attention.ipynb",)),
        "password.zip": encrypted(zipped({"paged_attention.ipynb": ipynb()})),
        "not-a-zip.zip": b"Rar!\x1a\x07\x00",
    }


if __name__ == "__main__":
    for name, content in samples().items():
        path = ODD / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
