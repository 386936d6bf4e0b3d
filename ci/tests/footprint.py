"""What a run of the tests could leave behind on a machine, looked at before and after it."""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

ROOT = Path(__file__).resolve().parents[2]
PLACES = ("/", "/tmp", "/var/tmp", "/dev/shm", "/run", "/etc", "/etc/passwd", "/etc/group", "/dev/null", "/proc/self")
SKIPPED = {".git", ".venv", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", "node_modules"}


@dataclass(frozen=True)
class Footprint:
    """Modes and owners of places that everybody shares and of the checkout, mounts, accounts, stray processes."""

    modes: dict[str, tuple[int, int, int]]
    accounts: bytes
    mounts: frozenset[str]
    strays: frozenset[int]

    @classmethod
    def now(cls) -> Self:
        """Look at the machine."""
        modes = {str(path): _mode(path) for path in {*_shared(), *_checkout(ROOT)} if os.path.lexists(path)}
        accounts = b"".join(Path(p).read_bytes() for p in ("/etc/passwd", "/etc/group") if os.path.exists(p))
        return cls(modes, accounts, frozenset(_mounts()), frozenset(_strays()))

    def changes_until(self, later: "Footprint") -> list[str]:
        """Return one line for each thing that is not as it was; what others did meanwhile is none of it."""
        both = self.modes.keys() & later.modes.keys()
        changes = [
            f"{path} had mode {self.modes[path][0]:o} and owners {self.modes[path][1:]}, now {later.modes[path][0]:o} "
            f"and {later.modes[path][1:]}"
            for path in sorted(both)
            if self.modes[path] != later.modes[path]
        ]
        changes += ["the accounts of this machine changed"] * (self.accounts != later.accounts)
        changes += [f"{place} is still mounted" for place in sorted(later.mounts - self.mounts)]
        changes += [f"process {pid} of the tests lives on" for pid in sorted(later.strays - self.strays)]
        return changes


def _mode(path: Path) -> tuple[int, int, int]:
    status = os.lstat(path)
    return stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid


def _shared() -> Iterator[Path]:
    for place in (*PLACES, os.environ.get("TMPDIR", "/tmp"), str(Path.home())):
        yield Path(place)
        yield from Path(place).parents
    yield from ROOT.parents


def _checkout(folder: Path) -> Iterator[Path]:
    for entry in os.scandir(folder):
        if entry.name not in SKIPPED and not entry.is_symlink():
            yield Path(entry.path)
            if entry.is_dir():
                yield from _checkout(Path(entry.path))


def _mounts() -> Iterator[str]:
    """Yield the tests' mounts: on a shared machine others come and go."""
    with open("/proc/self/mountinfo", encoding="utf-8") as file:
        places = [line.split()[4] for line in file]
    yield from (place for place in places if "pytest" in place or str(ROOT) in place)


def _strays() -> Iterator[int]:
    """Yield the processes of this checkout that nobody waits for any more."""
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                command = Path(entry.path, "cmdline").read_bytes()
                state, parent = Path(entry.path, "stat").read_text(errors="replace").rpartition(") ")[2].split()[:2]
            except OSError:
                continue
            if os.fsencode(ROOT) in command and parent == "1" and state != "Z":
                yield int(entry.name)
