"""Writing files so that a reader never meets half of one."""

import contextlib
import errno
import os
import threading
from pathlib import Path


def write_atomic(path: Path, content: bytes) -> None:
    """Write ``content`` to ``path`` by renaming a finished temporary file beside it.

    Nothing is synced to disk: what is written here derives from the journal and can be written again.
    A file that holds the same already is left alone.
    """
    with contextlib.suppress(OSError):
        if not path.is_symlink() and path.stat().st_size == len(content) and path.read_bytes() == content:
            return
    temporary = path.with_name(f".{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def student_folder(out: Path, student: str, *below: str) -> Path:
    """Make and return ``out/students/<student>`` or a folder in it; raise OSError where a link leads elsewhere."""
    folder = out
    for name in ("students", student, *below):
        folder /= name
        if folder.is_symlink():
            raise OSError(errno.ELOOP, "a link stands where a folder of results belongs", str(folder))
        folder.mkdir(parents=True, exist_ok=True)
    return folder
