"""Whether the autograder.zip that lies there may be used."""

import hashlib
import json
import subprocess
import tempfile
import venv
import zipfile
import zlib
from pathlib import Path

from autograder.grading.otter.plugin import MANIFEST
from autograder.release import ReleaseError
from autograder.release.lock import locked
from autograder.release.zip import ZIP, refuse_other_otter, sources_hash

AGAIN = "build it again with `autograder release --zip`."


def check(root: Path) -> None:
    """Raise :class:`ReleaseError` unless the zip was built from these sources, for the locked Otter, and installs."""
    try:
        with zipfile.ZipFile(root / ZIP) as archive:
            files = {name: archive.read(name) for name in archive.namelist()}
        manifest = json.loads(files[MANIFEST])
    except FileNotFoundError as error:
        raise ReleaseError(f"{ZIP} does not exist; build it with `autograder release --zip`.") from error
    except (OSError, KeyError, ValueError, zipfile.BadZipFile, zlib.error) as error:
        raise ReleaseError(f"{ZIP} is damaged; {AGAIN}") from error
    if manifest["sources"] != sources_hash(root):
        raise ReleaseError(f"{ZIP} was built from other sources than these; {AGAIN}")
    refuse_other_otter(locked(root))
    seen = {name: hashlib.sha256(content).hexdigest() for name, content in files.items() if name != MANIFEST}
    if seen != manifest["files"]:
        raise ReleaseError(f"{ZIP} was changed after it was built; {AGAIN}")
    _refuse_broken_wheel(manifest["wheel"], files[manifest["wheel"]])


def _refuse_broken_wheel(name: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (wheel := Path(folder) / name).write_bytes(content)
        venv.create(Path(folder) / "venv", with_pip=True)
        python = Path(folder) / "venv" / "bin" / "python"
        pip = [str(python), "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
        done = subprocess.run([*pip, str(wheel)], capture_output=True, check=False)
    if done.returncode:
        raise ReleaseError(f"The wheel in {ZIP} does not install; {AGAIN}")
