"""Large files, made on demand around one right solution."""

import json
import random
import zipfile
from collections.abc import Mapping

from odd_files import RIGHT, code_cell, notebook, zipped


def big_outputs(megabytes: int) -> bytes:
    """A notebook whose outputs weigh that much: one picture and many printed lines."""
    picture = {"output_type": "display_data", "metadata": {}, "data": {"image/png": "A" * (megabytes * 500_000)}}
    line = 'loss [0.1, {"a": 2}] \\ "quoted" 损失\n'
    printed = {"output_type": "stream", "name": "stdout", "text": [line] * (megabytes * 500_000 // 64)}
    cells = [
        code_cell(cell, id=f"c{number}", outputs=[picture, printed][number % 2 :][:1])
        for number, cell in enumerate(RIGHT)
    ]
    return json.dumps(notebook() | {"cells": cells}, ensure_ascii=False).encode()


def bomb(megabytes: int, name: str = "paged_attention.ipynb") -> bytes:
    """A zip whose one member unpacks to that much."""
    return zipped({name: b"[" * (megabytes * 1_000_000)})


def crowded(count: int, members: Mapping[str, bytes]) -> bytes:
    """A zip with the members among ``count`` small others."""
    others = {f"data/{number:05}.csv": b"1,2\n" for number in range(count)}
    return zipped({**others, **members}, method=zipfile.ZIP_STORED)


def noise(seed: int, size: int) -> bytes:
    """Bytes without any meaning."""
    return random.Random(seed).randbytes(size)
